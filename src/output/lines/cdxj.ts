/**
 * Writes the index of an archive as CDXJ: a line per answer with its key, time and place.
 *
 * Lines are made from the archive and not from the crawl's store, because their digests are of the
 * bytes as sent, and because they include revisits. They are in the archive's order; `sortedLines` puts
 * them in the order that replay tools need.
 */

import type { Archive } from "../warc/archives.ts";
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

/**
 * The key by which archives sort URLs: the host from its top-level domain down, so that a domain and its
 * subdomains are adjacent. `https://www.Example.org:8080/A?b=2&a=1` becomes
 * `org,example:8080)/a?a=1&b=2`. A URL with another scheme than http(s) is its own key.
 *
 * The "Sort-friendly URI Reordering Transform" has variants and no standard. This is the variant of
 * warcio and wabac, whose replay searches pages by it: without scheme, user, fragment and leading
 * `www.`, in lower case, with the parts of the query sorted.
 */
export function surtKey(url: string): string {
  const bare = url.toLowerCase().replace(/^(https?:\/\/)www\d*\./, "$1");
  if (!/^https?:/.test(bare) || !URL.canParse(bare)) return url;
  const { hostname, port, pathname, search } = new URL(bare);
  const host = hostname.split(".").toReversed().join(",");
  const query = search === "" ? "" : `?${search.slice(1).split("&").sort().join("&")}`;
  return `${host}${port === "" ? "" : `:${port}`})${pathname}${query}`;
}
