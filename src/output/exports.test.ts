import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { below, randomFrom } from "../base/random.ts";
import type { PageRecord } from "../page/page.ts";
import { archivesOf, concatenateArchives, copyArchives } from "./warc/archives.ts";
import { cdxjLines } from "./lines/cdxj.ts";
import { archivedText, pageLine } from "./lines/jsonl.ts";
import { writeLines } from "./lines.ts";
import { edgeLines } from "./lines/links.ts";
import type { Capture, Output } from "./output.ts";
import { sortedLines } from "./lines/sorted-lines.ts";
import { readRecords } from "./warc/warc-read.ts";
import { openWarc } from "./warc/warc.ts";

const AT_MS = Date.UTC(2026, 4, 6, 7, 8, 9);
const PAGE: PageRecord = {
  id: 1,
  status: 200,
  fetchedAtMs: AT_MS,
  durationMs: 5,
  wireBytes: 400,
  bodyBytes: 300,
  contentType: "text/html",
  charset: "utf-8",
  title: "Weirs & mills",
  language: "en",
  digest: new Uint8Array(32).fill(171),
  nearHigh: 0,
  nearLow: 0,
  etag: "",
  lastModified: "",
  likeness: undefined,
  remarks: ["nofollow"],
  links: new Uint8Array(16),
  archived: { file: "weir-00001.warc.gz", offset: 9, length: 8 },
};

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-export-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function captureOf(url: string, changes: Partial<Capture> = {}): Capture {
  return {
    url,
    atMs: AT_MS,
    address: "192.0.2.7",
    requestHead: "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n",
    status: 200,
    statusText: "OK",
    httpVersion: "1.1",
    headers: [["content-type", "text/html; charset=utf-8"]],
    body: Buffer.from("<title>t</title><p>one</p><script>no</script><p>two &amp; three</p>"),
    truncated: undefined,
    repeats: undefined,
    ...changes,
  };
}

function small(folder: string): Output {
  return openWarc(folder, {}, { fileBytesMax: 4_000, level: 1, info: {} });
}

test("a page is one line of JSON without terminal control characters", () => {
  const page: PageRecord = {
    ...PAGE,
    title: "a\u001b[31m\u009b\u202e\u2028\nb \ud800",
    likeness: { kind: "near", ofId: 7 },
  };
  const line = pageLine({
    url: "http://example.org/",
    depth: 2,
    page,
    likeUrl: "http://example.org/other",
    text: undefined,
  });
  assert.match(line, /^[\u0020-\u007e]*$/);
  assert.deepEqual(JSON.parse(line), {
    url: "http://example.org/",
    status: 200,
    fetchedAt: "2026-05-06T07:08:09.000Z",
    contentType: "text/html",
    charset: "utf-8",
    title: page.title,
    language: "en",
    bytes: 300,
    digest: `sha256:${"ab".repeat(32)}`,
    depth: 2,
    links: 2,
    remarks: ["nofollow"],
    likeness: { kind: "near", url: "http://example.org/other" },
    archived: { file: "weir-00001.warc.gz", offset: 9, length: 8 },
  });
});

test("the text of a page is read from the archive, in any content coding and charset", async (t) => {
  const folder = folderFor(t);
  const output = openWarc(folder, {}, { fileBytesMax: 2 ** 30, level: 1, info: {} });
  const html = "<title>t</title><p>caf\u00e9</p><script>no</script><p>two &amp; three</p>";
  const latin = Buffer.from(html, "latin1");
  const sent = (headers: Capture["headers"], body: Uint8Array): Promise<string | undefined> =>
    output
      .write(captureOf("http://example.org/", { headers, body }))
      .then((place) => archivedText(folder, place));
  const type = ["content-type", "text/html; charset=iso-8859-1"] as const;
  const expected = "caf\u00e9\ntwo & three";
  assert.equal(await sent([type], latin), expected);
  assert.equal(await sent([type, ["content-encoding", "gzip"]], gzipSync(latin)), expected);
  const twice = brotliCompressSync(gzipSync(latin));
  assert.equal(await sent([type, ["content-encoding", "gzip, br"]], twice), expected);
  assert.equal(await sent([type, ["content-encoding", "gzip"]], latin), undefined);
  assert.equal(await sent([["content-type", "image/png"]], latin), undefined);
  assert.equal(await sent([["content-type", "text/plain"]], Buffer.from("a < b")), "a < b");
  await output.close();
});

test("the link graph has the URLs of both ends, and omits unknown URLs", () => {
  const links = new Uint8Array(24);
  const view = new DataView(links.buffer);
  view.setUint32(0, 4_000_000_000);
  view.setUint32(4, 1);
  view.setUint32(12, 2);
  view.setUint32(20, 3);
  const known = new Map([
    ["4000000000:1", "http://example.org/a"],
    ["0:3", "http://example.org/b\tc"],
  ]);
  const pages = [{ url: "http://example.org/", links }];
  const urlOf = (high: number, low: number): { url: string; rank: number } | undefined => {
    const url = known.get(`${high}:${low}`);
    return url === undefined ? undefined : { url, rank: 0.25 };
  };
  const lines = [...edgeLines(pages, urlOf)];
  assert.deepEqual(lines, [
    "http://example.org/\thttp://example.org/a",
    "http://example.org/\thttp://example.org/b%09c",
  ]);
  const [ranked] = edgeLines([{ url: "http://example.org/", links, rank: 1 / 3 }], urlOf);
  assert.equal(ranked, "http://example.org/\thttp://example.org/a\t0.333333\t0.250000");
});

test("lines are sorted by their bytes, and a reader may stop in the middle", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const random = randomFrom(seed);
    const lines = Array.from(
      { length: below(random, 5_000) },
      () => `${below(random, 900)} ${"x".repeat(below(random, 90))}`,
    );
    assert.deepEqual([...sortedLines(lines)], lines.toSorted(), `seed ${seed}`);
  }
  assert.deepEqual([...sortedLines(["\u{1f600}", "\uff5e", "b", "b", ""])].slice(1), [
    "b",
    "b",
    "\uff5e",
    "\u{1f600}",
  ]);
  const stopped = sortedLines(["b", "a", "c"]);
  assert.equal(stopped.next().value, "a");
  stopped.return(undefined);
  assert.equal(stopped.next().done, true);
});

test("the index equals warcio's, sorted, for every kind of record", async (t) => {
  const folder = folderFor(t);
  const output = small(folder);
  const of = { url: "http://example.org/", atMs: AT_MS };
  const exact = { ...of, likeness: { kind: "exact", ofId: 1 } } as const;
  const unchanged = { ...of, likeness: { kind: "not_modified", ofId: 1 } } as const;
  for (let page = 0; page < 20; page++) {
    const url = `http://${page % 3 === 0 ? "www." : ""}example.org/${page}?b=${page}&a`;
    await output.write(captureOf(url, { atMs: AT_MS + page * 1000 }));
  }
  await output.write(captureOf("http://other.example/", { repeats: exact }));
  await output.write(captureOf("http://other.example/x", { status: 304, repeats: unchanged }));
  await output.write(captureOf("http://other.example/y", { headers: [], status: 404 }));
  await output.close();
  const archives = archivesOf(folder, output.marks());
  assert.ok(archives.length > 2);
  const ownIndex = [...sortedLines(cdxjLines(archives))];
  const program = fileURLToPath(new URL("../../node_modules/.bin/warcio", import.meta.url));
  const paths = archives.map(({ path }) => path);
  const warcioIndex = execFileSync(process.execPath, [program, "cdx-index", ...paths], {
    encoding: "utf8",
  });
  assert.deepEqual(ownIndex, warcioIndex.trim().split("\n").sort());
  assert.equal(ownIndex.length, 23);
});

test("archives are copied completely into one file or a folder, without overwriting", async (t) => {
  const folder = folderFor(t);
  const output = small(join(folder, "warc"));
  for (let page = 0; page < 12; page++) await output.write(captureOf(`http://example.org/${page}`));
  const marks = output.marks();
  await output.write(captureOf("http://example.org/not-committed"));
  await output.close();
  const archives = archivesOf(join(folder, "warc"), marks);

  const one = join(folder, "all.warc.gz");
  const to = createWriteStream(one);
  await concatenateArchives(archives, to);
  await new Promise((resolve) => to.end(resolve));
  const types = [...readRecords(one)].map(({ fields }) => fields.get("warc-type"));
  assert.equal(types.filter((type) => type === "response").length, 12);
  assert.equal(types.filter((type) => type === "warcinfo").length, archives.length);

  const copy = join(folder, "copy");
  mkdirSync(copy);
  await copyArchives(archives, copy);
  for (const { name, path, bytes } of archives)
    assert.deepEqual(readFileSync(join(copy, name)), readFileSync(path).subarray(0, bytes));
  writeFileSync(join(copy, archives[0]?.name ?? ""), "mine");
  await assert.rejects(copyArchives(archives, copy), { code: "FOLDER_FOREIGN" });
  assert.equal(readFileSync(join(copy, archives[0]?.name ?? ""), "utf8"), "mine");
});

test("lines are written at the pace of a slow reader, and an early close is not an error", async () => {
  let waiting = 0;
  let most = 0;
  let received = 0;
  const slow = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      setImmediate(done);
    },
  });
  function* counted(): Generator<string> {
    for (let line = 0; line < 50_000; line++) {
      waiting += 11;
      most = Math.max(most, waiting - received);
      yield "0123456789";
    }
  }
  await writeLines(counted(), slow);
  assert.equal(received, 550_000);
  assert.ok(most < 300_000, `${most} bytes were generated in advance`);

  const gone = new Writable({
    write(_chunk, _encoding, done) {
      done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    },
  });
  await writeLines(["a", "b"], gone);
});
