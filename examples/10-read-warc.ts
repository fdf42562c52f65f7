/**
 * Reads an archive back: every page in it, with its address, type and size.
 *
 *   node examples/10-read-warc.ts weir-data/example.org/archive/*.warc.gz
 *
 * Any program that reads WARC 1.1 can do this. Weir's reader checks each record's checksum, and holds one
 * record at a time. A record of type `revisit` says that the same content came before, and where.
 */

import { httpMessage, readRecords } from "../src/index.ts";

const counts = new Map<string, number>();
for (const file of process.argv.slice(2)) {
  for (const record of readRecords(file)) {
    const type = record.fields.get("warc-type") ?? "";
    counts.set(type, (counts.get(type) ?? 0) + 1);
    if (type !== "response") continue;
    const { firstLine, headers, body } = httpMessage(record);
    const contentType = headers.find(([name]) => name === "content-type")?.[1];
    console.log(record.fields.get("warc-target-uri"), firstLine, contentType, body.length);
  }
}
console.log(Object.fromEntries(counts));
