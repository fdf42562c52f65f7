/**
 * WARC files, compressed and not. Promises: reading ends with records or a `DamagedRecord`; with `onDamage` it ends
 * without one, and finds at least the records that the strict reader found before the first damage; places are in order
 * and inside the file.
 */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import {
  DamagedRecord,
  httpMessage,
  type PlacedRecord,
  readRecord,
  readRecords,
} from "../../src/output/warc/warc-read.ts";
import type { Target } from "./target.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-fuzz-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const file = "fuzz.warc";
const path = join(folder, file);

function check(input: Uint8Array): string {
  writeFileSync(path, input);
  const strict: PlacedRecord[] = [];
  let why = "";
  try {
    for (const record of readRecords(path)) strict.push(record);
  } catch (error) {
    if (!(error instanceof DamagedRecord)) throw error;
    why = error.why;
  }
  let damaged = 0;
  const salvaged = [...readRecords(path, { onDamage: () => (damaged += 1) })];
  assert.ok(salvaged.length >= strict.length, "salvage loses records");
  assert.equal(damaged > 0, why !== "", "only one of both readers sees damage");
  let at = 0;
  for (const { offset, length, fields, block } of salvaged) {
    assert.ok(offset >= at && length > 0 && offset + length <= input.length, "places are in order");
    at = offset;
    httpMessage({ fields, block });
  }
  const [first] = strict;
  if (first !== undefined && input[first.offset] === 0x1f) {
    const again = readRecord(folder, { file, offset: first.offset, length: first.length });
    assert.deepEqual(again.fields, first.fields, "read by its place, it differs");
  }
  return `${strict.length} ${salvaged.length} ${why.slice(0, 30)}`;
}

function record(type: string, block: string, fields = ""): string {
  return `WARC/1.1\r\nWARC-Type: ${type}\r\nWARC-Target-URI: <http://h.example/>\r\n${fields}Content-Length: ${block.length}\r\n\r\n${block}\r\n\r\n`;
}

const INFO = record("warcinfo", "software: x\r\n");
const RESPONSE = record(
  "response",
  "HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody",
  "WARC-Date: 2026-01-01T00:00:00Z\r\n",
);
const named = gzipSync(RESPONSE);
named[3] = 8;

export const WARC: Target = {
  name: "warc",
  samples: [
    Buffer.from(INFO + RESPONSE),
    Buffer.concat([
      gzipSync(INFO),
      gzipSync(RESPONSE),
      gzipSync(record("request", "GET / HTTP/1.1\r\n\r\n")),
    ]),
    gzipSync(INFO + RESPONSE),
    Buffer.concat([named.subarray(0, 10), Buffer.from("name\0"), named.subarray(10)]),
  ],
  words: [
    "WARC/1.0\r\n",
    "WARC/1.1\r\n",
    "WARC/",
    "Content-Length: ",
    "\r\n\r\n",
    "\r\n",
    "\n",
    ":",
    " ",
    "WARC-Type: response\r\n",
    "0",
    "99999999999999",
    "-1",
    "1e3",
    "HTTP/1.1 200 OK\r\n",
    "WARC-Target-URI: ",
    INFO,
    RESPONSE,
    Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]),
    Buffer.from([0x1f, 0x8b, 8, 0x1e, 0, 0, 0, 0, 0, 3, 0xff, 0xff]),
    gzipSync(INFO),
    gzipSync(RESPONSE),
    gzipSync(Buffer.alloc(100_000)),
    gzipSync(""),
  ],
  inputBytesMax: 64 * 1024,
  inputsPerTest: 1_500,
  check,
};
