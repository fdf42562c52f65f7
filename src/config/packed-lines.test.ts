import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { CrawlError } from "../base/errors.ts";
import { packedLines } from "./packed-lines.ts";

async function linesIn(bytes: Uint8Array): Promise<string[]> {
  using folder = mkdtempDisposableSync(join(tmpdir(), "weir-"));
  const file = join(folder.path, "some.jsonl");
  writeFileSync(file, bytes);
  const lines: string[] = [];
  for await (const line of packedLines(file)) lines.push(line.toString("utf8"));
  return lines;
}

const TEXT = Buffer.from("one\ntwo\u2028three\n\nlast");
const LINES = ["one", "two\u2028three", "", "last"];

test("lines are the same whether a file is packed or not", async () => {
  assert.deepEqual(await linesIn(TEXT), LINES);
  assert.deepEqual(await linesIn(gzipSync(TEXT)), LINES);
  assert.deepEqual(await linesIn(zstdCompressSync(TEXT)), LINES);
  assert.deepEqual(await linesIn(Buffer.alloc(0)), []);
});

const xz = spawnSync("xz", ["-c"], { input: TEXT });

test(
  "xz is unpacked where there is such a program",
  { skip: xz.status !== 0 && "needs xz" },
  async () => {
    assert.deepEqual(await linesIn(xz.stdout), LINES);
    await assert.rejects(linesIn(xz.stdout.subarray(0, -10)), CrawlError);
  },
);

test("long lines and many come whole", async () => {
  const lines = Array.from({ length: 300 }, (_, index) => String(index).repeat((index % 7) * 5000));
  assert.deepEqual(await linesIn(gzipSync(lines.join("\n"))), lines);
});

test("a file that is cut off or absent is an error that names it", async () => {
  const packed = gzipSync(Buffer.alloc(100_000, "line\n"));
  await assert.rejects(linesIn(packed.subarray(0, -20)), /Cannot read .*some\.jsonl/);
  await assert.rejects(async () => {
    for await (const line of packedLines("/nowhere/at-all.jsonl")) assert.ok(line);
  }, /Cannot read .nowhere.at-all.jsonl: ENOENT/);
});
