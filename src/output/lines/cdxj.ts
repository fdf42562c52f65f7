/**
 * Writes the index of an archive as CDXJ: a line per answer with its key, time and place.
 *
 * Lines are made from the archive and not from the crawl's store, because their digests are of the
 * bytes as sent, and because they include revisits. They are in the archive's order; `sortedLines` puts
 * them in the order that replay tools need.
 */

import type { Archive } from "../warc/archives.ts";
import { surtKey } from "./surt.ts";
import {
  httpMessage,
  type PlacedRecord,
  type ReadOptions,
  readRecords,
} from "../warc/warc-read.ts";

/** Damaged records are left out, or thrown without `onDamage`. */
export function* cdxjLines(
  archives: Iterable<Archive>,
  onDamage?: ReadOptions["onDamage"],
): Generator<string> {
  for (const { path, name, bytes } of archives) {
    for (const record of readRecords(path, { end: bytes, onDamage })) {
      const type = record.fields.get("warc-type");
      if (type === "response" || type === "revisit") yield cdxjLine(record, name);
    }
  }
}

function cdxjLine(record: PlacedRecord, filename: string): string {
  const { fields } = record;
  const { firstLine, headers } = httpMessage(record);
  const url = fields.get("warc-target-uri") ?? "";
  const timestamp = (fields.get("warc-date") ?? "").replace(/[-:T]/g, "").slice(0, 14);
  const isRevisit = fields.get("warc-type") === "revisit";
  const type = headers.find(([name]) => name === "content-type")?.[1];
  const entry = {
    url,
    mime: isRevisit ? "warc/revisit" : type?.split(";", 1)[0]?.trim(),
    status: firstLine.split(" ")[1],
    digest: fields.get("warc-payload-digest")?.split(":")[1],
    length: String(record.length),
    offset: String(record.offset),
    filename,
  };
  return `${surtKey(url)} ${timestamp} ${JSON.stringify(entry)}`;
}
