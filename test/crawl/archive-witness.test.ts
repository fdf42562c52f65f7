import assert from "node:assert/strict";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { groundTruth, type TruePage } from "../../src/lab/ground-truth.ts";
import { bodyOf } from "../../src/lab/world.ts";
import { makeWorld } from "../../src/lab/world/plan.ts";
import type { Capture } from "../../src/output/output.ts";
import type { Marks } from "../../src/output/warc/warc-files.ts";
import { openWarc } from "../../src/output/warc/warc.ts";
import { temporaryFolder } from "../cli/program.ts";
import { checkArchiveFiles, checkUpTo } from "./archive-witness.ts";

const WORLD = makeWorld({ seed: 1, siteCount: 1, pagesMin: 20, pagesMax: 20 });
const TRUTHS = [...groundTruth(WORLD)].filter(({ fate }) => fate === "stored");
const CAPTURES = TRUTHS.map(captureOf);

test("an archive of every true page, each once, has nothing against it", async () => {
  assert.deepEqual(await rulesFor(CAPTURES), []);
});

test("planted: a page left out, doubled, changed or invented is seen by both readers", async () => {
  const [first, ...rest] = CAPTURES as [Capture, ...Capture[]];
  assert.deepEqual(await rulesFor(rest), ["not-archived", "not-archived"]);
  assert.deepEqual(await rulesFor([...CAPTURES, first]), ["archived-twice", "archived-twice"]);
  const changed = { ...first, body: Buffer.from("something else") };
  assert.deepEqual(await rulesFor([changed, ...rest]), ["archived-wrong", "archived-wrong"]);
  const stranger = { ...first, url: `${first.url}nowhere` };
  assert.deepEqual(await rulesFor([...CAPTURES, stranger]), [
    "archived-stranger",
    "archived-stranger",
  ]);
});

test("planted: a flipped byte and a mark inside a record are seen", async () => {
  using folder = temporaryFolder();
  const [[name, end] = ["", 0]] = Object.entries(await write(folder.path, CAPTURES));
  const path = join(folder.path, "archive", name);
  assert.deepEqual(checkUpTo(path, end), []);
  assert.equal(checkUpTo(path, end - 10).length, 1);
  const file = openSync(path, "r+");
  writeSync(file, Buffer.from([0xff]), 0, 1, end - 40);
  closeSync(file);
  assert.equal(checkUpTo(path, end).length, 1);
  const found = await checkArchiveFiles(folder.path, { [name]: end }, WORLD);
  assert.ok(found.some(({ rule }) => rule === "unreadable"));
});

async function rulesFor(captures: readonly Capture[]): Promise<string[]> {
  using folder = temporaryFolder();
  const marks = await write(folder.path, captures);
  const found = await checkArchiveFiles(folder.path, marks, WORLD);
  return found.map(({ rule }) => rule);
}

async function write(folder: string, captures: readonly Capture[]): Promise<Marks> {
  const settings = { fileBytesMax: 2 ** 30, level: 1, info: {} };
  const output = openWarc(join(folder, "archive"), {}, settings);
  await Promise.all(captures.map((capture) => output.write(capture)));
  await output.close();
  return output.marks();
}

function captureOf({ url, site, page }: TruePage): Capture {
  return {
    url,
    atMs: Date.UTC(2026, 0, 1),
    address: site.address,
    requestHead: `GET ${page.path} HTTP/1.1\r\nHost: site0.test\r\n\r\n`,
    status: 200,
    statusText: "OK",
    httpVersion: "1.1",
    headers: [["content-type", "text/html"]],
    body: bodyOf(WORLD, site, page),
    truncated: undefined,
    repeats: undefined,
  };
}
