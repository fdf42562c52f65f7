import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  createReadStream,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { WARCParser } from "warcio";
import { CrawlError } from "../../base/errors.ts";
import { below, pick, type Random, randomFrom } from "../../base/random.ts";
import type { Capture } from "../output.ts";
import { DamagedRecord, httpMessage, readRecord, readRecords } from "./warc-read.ts";
import { openWarc, WriterLost } from "./warc.ts";

const SETTINGS = { fileBytesMax: 2 ** 30, level: 1, info: { software: "weir/test" } };
const AT_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

function captureOf(changes: Partial<Capture> = {}): Capture {
  return {
    url: "http://example.org/a?b=c",
    atMs: AT_MS,
    address: "192.0.2.7",
    requestHead: "GET /a?b=c HTTP/1.1\r\nHost: example.org\r\n\r\n",
    status: 200,
    statusText: "OK",
    httpVersion: "1.1",
    headers: [
      ["content-type", "text/html"],
      ["content-length", "11"],
    ],
    body: Buffer.from("<p>hello<p>"),
    truncated: undefined,
    repeats: undefined,
    ...changes,
  };
}

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-warc-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface Seen {
  readonly type: string;
  readonly url: string;
  readonly fields: ReadonlyMap<string, string>;
  readonly statusLine: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly payload: Buffer;
}

/** Reads a file with warcio, and verifies every digest in it. */
async function readWithWarcio(path: string): Promise<Seen[]> {
  const seen: Seen[] = [];
  const bare = new WARCParser(createReadStream(path), { parseHttp: false });
  for await (const record of bare) {
    const block = Buffer.from(await record.readFully(false));
    const digest = record.warcBlockDigest;
    const isHashed = record.warcType === "request" || record.warcType === "revisit";
    assert.equal(digest ?? undefined, isHashed ? sha256(block) : undefined, "block digest");
    assert.equal(block.length, record.warcContentLength);
  }
  for await (const record of new WARCParser(createReadStream(path))) {
    const payload = Buffer.from(await record.readFully(false));
    if (record.warcType === "response")
      assert.equal(record.warcPayloadDigest, sha256(payload), "payload digest");
    seen.push({
      type: record.warcType ?? "",
      url: record.warcTargetURI ?? "",
      fields: new Map(record.warcHeaders.headers),
      statusLine: record.httpHeaders?.statusline ?? "",
      headers: new Map(record.httpHeaders?.headers ?? []),
      payload,
    });
  }
  return seen;
}

function sha256(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

test("a page is a request and a response that refer to each other, after the file's warcinfo", async (t) => {
  const folder = folderFor(t);
  const output = openWarc(folder, {}, SETTINGS);
  const place = await output.write(captureOf());
  assert.deepEqual(output.marks(), { "weir-00001.warc.gz": place.offset + place.length });
  await output.close();

  const [info, request, response, ...rest] = await readWithWarcio(join(folder, place.file));
  assert.deepEqual(
    [info?.type, request?.type, response?.type],
    ["warcinfo", "request", "response"],
  );
  assert.equal(rest.length, 0);
  assert.equal(info?.fields.get("warc-filename"), "weir-00001.warc.gz");
  assert.equal(info?.payload.toString(), "software: weir/test\r\n");
  assert.equal(request?.fields.get("warc-concurrent-to"), response?.fields.get("warc-record-id"));
  assert.equal(response?.fields.get("warc-date"), "2026-01-02T03:04:05.678Z");
  assert.equal(response?.fields.get("warc-ip-address"), "192.0.2.7");
  assert.equal(response?.fields.get("warc-truncated"), undefined);
  assert.equal(response?.url, "http://example.org/a?b=c");
  assert.equal(response?.payload.toString(), "<p>hello<p>");

  const message = httpMessage(readRecord(folder, place));
  assert.equal(message.firstLine, "HTTP/1.1 200 OK");
  assert.equal(Buffer.from(message.body).toString(), "<p>hello<p>");
});

test("exact duplicates and unchanged pages are revisits, near duplicates are stored", async (t) => {
  const folder = folderFor(t);
  const output = openWarc(folder, {}, SETTINGS);
  const of = { url: "http://example.org/first", atMs: AT_MS - 1000 };
  const like = (kind: "exact" | "near" | "not_modified"): Capture["repeats"] => ({
    ...of,
    likeness: { kind, ofId: 1 },
  });
  await output.write(captureOf({ repeats: like("exact") }));
  await output.write(
    captureOf({
      status: 304,
      statusText: "Not Modified",
      body: Buffer.alloc(0),
      repeats: like("not_modified"),
    }),
  );
  await output.write(captureOf({ repeats: like("near") }));
  const coded = gzipSync("<p>hello<p>");
  const headers = [["content-encoding", "gzip"]] as const;
  await output.write(captureOf({ body: coded, headers, repeats: like("exact") }));
  await output.close();

  const seen = await readWithWarcio(join(folder, "weir-00001.warc.gz"));
  const [exact, unchanged, near, gzipped] = seen.filter(({ type }) =>
    /response|revisit/.test(type),
  );
  const profile = "http://netpreserve.org/warc/1.1/revisit/";
  assert.equal(exact?.fields.get("warc-profile"), `${profile}identical-payload-digest`);
  assert.equal(exact?.fields.get("warc-payload-digest"), sha256(Buffer.from("<p>hello<p>")));
  assert.equal(exact?.fields.get("warc-refers-to-target-uri"), of.url);
  assert.equal(exact?.fields.get("warc-refers-to-date"), "2026-01-02T03:04:04.678Z");
  assert.equal(exact?.statusLine, "HTTP/1.1 200 OK");
  assert.equal(exact?.payload.length, 0);
  assert.equal(unchanged?.type, "revisit");
  assert.equal(unchanged?.fields.get("warc-profile"), `${profile}server-not-modified`);
  assert.equal(unchanged?.statusLine, "HTTP/1.1 304 Not Modified");
  assert.equal(near?.type, "response");
  assert.equal(gzipped?.type, "response", "two gzip streams of one page may have different bytes");
  assert.deepEqual(gzipped?.payload, coded);
});

test("stored heads match the stored body, and mark changed headers", async (t) => {
  const folder = folderFor(t);
  const output = openWarc(folder, {}, SETTINGS);
  const headers = [
    ["transfer-encoding", "chunked"],
    ["content-length", "99"],
    ["content-encoding", "gzip"],
    ["set-cookie", "a=1"],
    ["set-cookie", "b=2"],
  ] as const;
  const body = gzipSync("page");
  await output.write(captureOf({ headers, body, httpVersion: "2", truncated: "time" }));
  await output.close();
  const response = (await readWithWarcio(join(folder, "weir-00001.warc.gz")))[2];
  assert.equal(response?.statusLine, "HTTP/1.1 200 OK");
  assert.equal(response?.fields.get("warc-protocol"), "h2");
  assert.equal(response?.fields.get("warc-truncated"), "time");
  assert.equal(response?.headers.get("transfer-encoding"), undefined);
  assert.equal(response?.headers.get("x-archive-orig-transfer-encoding"), "chunked");
  assert.equal(response?.headers.get("x-archive-orig-content-length"), "99");
  assert.equal(response?.headers.get("content-length"), String(body.length));
  assert.equal(response?.headers.get("set-cookie"), "b=2");
  assert.deepEqual(response?.payload, body);
});

test("hostile names and values cannot forge a line, a header or a record", async (t) => {
  const folder = folderFor(t);
  const output = openWarc(folder, {}, SETTINGS);
  const evil = "x\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\n\r\n";
  const place = await output.write(
    captureOf({
      url: `http://example.org/${evil}é`,
      address: evil,
      statusText: evil,
      headers: [
        ["x-evil", evil],
        ["x-nul", "a\0b"],
        ["x-escape", "\u001b[31mred"],
        ["x-latin", "caf\u00e9"],
        ["x:colon\r\ny", "1"],
        ["", "nameless"],
      ],
    }),
  );
  await output.write(captureOf({ headers: [["x-wide", "\u4e2d\u6587"]] }));
  await output.close();
  const seen = await readWithWarcio(join(folder, place.file));
  assert.deepEqual(
    seen.map(({ type }) => type),
    ["warcinfo", "request", "response", "request", "response"],
  );
  assert.equal(seen[2]?.fields.get("warc-ip-address"), undefined);
  assert.match(seen[2]?.url ?? "", /^[!-~]+$/);

  const { headers, body } = httpMessage(readRecord(folder, place));
  assert.deepEqual(
    headers.map(([name]) => name),
    ["x-evil", "x-nul", "x-escape", "x-latin", "x_colon__y", "_"],
  );
  assert.equal(headers[1]?.[1], "a b");
  assert.equal(
    headers[2]?.[1],
    "\u001b[31mred",
    "bytes are stored unchanged; they are made visible only for display",
  );
  assert.equal(headers[3]?.[1], "caf\u00e9");
  assert.equal(Buffer.from(body).toString(), "<p>hello<p>");
});

test("secrets of a request are in no record", async (t) => {
  const folder = folderFor(t);
  const output = openWarc(folder, {}, { ...SETTINGS, level: 0 });
  const requestHead =
    "GET / HTTP/1.1\r\nHost: example.org\r\nAuthorization: Basic canary1\r\ncookie: canary2\r\n" +
    "PROXY-AUTHORIZATION: canary3\r\nAccept: text/html\r\n\r\n";
  await output.write(captureOf({ requestHead }));
  await output.close();
  const bytes = readFileSync(join(folder, "weir-00001.warc.gz"), "latin1");
  assert.doesNotMatch(bytes, /canary/);
  assert.match(bytes, /Accept: text\/html/);
});

test("files are rotated by size, and each starts with its own warcinfo", async (t) => {
  const folder = folderFor(t);
  const fileBytesMax = 20_000;
  const output = openWarc(folder, {}, { ...SETTINGS, fileBytesMax });
  const random = randomFrom(5);
  const bodies = Array.from({ length: 60 }, () => noise(random, below(random, 9_000)));
  const writes = bodies.map((body) => output.write(captureOf({ body })));
  writes.push(output.write(captureOf({ body: noise(random, 50_000) })));
  const places = await Promise.all(writes);
  await output.close();
  const files = readdirSync(folder).sort();
  assert.ok(files.length > 10);
  assert.deepEqual(Object.keys(output.marks()).sort(), files);
  for (const file of files) {
    const seen = await readWithWarcio(join(folder, file));
    assert.equal(seen[0]?.type, "warcinfo");
    assert.equal(seen[0]?.fields.get("warc-filename"), file);
    const { size } = statSync(join(folder, file));
    assert.equal(output.marks()[file], size);
    assert.ok(size <= fileBytesMax || seen.length === 3, `${file} has ${size} bytes`);
  }
  for (const [index, body] of bodies.entries())
    assert.deepEqual(bodyAt(folder, places[index]), Buffer.from(body));
});

test("any captures are read back from their places, and the index agrees with warcio's", async (t) => {
  for (let seed = 1; seed <= 4; seed++) {
    const random = randomFrom(seed);
    const folder = folderFor(t);
    const level = pick(random, [0, 1, 1, 3]);
    const output = openWarc(folder, {}, { ...SETTINGS, fileBytesMax: 400_000, level });
    const captures = Array.from({ length: 80 }, () => randomCapture(random));
    const places = await Promise.all(captures.map((capture) => output.write(capture)));
    await output.close();
    for (const [index, place] of places.entries())
      assert.deepEqual(bodyAt(folder, place), captures[index]?.body, `seed ${seed}, ${index}`);
    for (const file of readdirSync(folder)) {
      const path = join(folder, file);
      const ownIndex = [...readRecords(path)].map(({ offset, fields }) => [
        offset,
        fields.get("warc-type"),
      ]);
      const lines = warcio("index", path).trim().split("\n");
      const warcioIndex = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      assert.deepEqual(
        ownIndex,
        warcioIndex.map((line) => [line["offset"], line["warc-type"]]),
        `seed ${seed}`,
      );
      await readWithWarcio(path);
    }
  }
});

test("a body larger than a parcel and the captures next to it are written", async (t) => {
  const folder = folderFor(t);
  const output = openWarc(folder, {}, SETTINGS);
  const large = noise(randomFrom(1), 3_000_000);
  const [small, place] = await Promise.all([
    output.write(captureOf()),
    output.write(
      captureOf({ body: large, bodyDigest: createHash("sha256").update(large).digest() }),
    ),
    output.write(captureOf()),
  ]);
  await output.close();
  assert.deepEqual(bodyAt(folder, place), Buffer.from(large));
  assert.equal(bodyAt(folder, small).toString(), "<p>hello<p>");
  await readWithWarcio(join(folder, place.file));
});

test("opening with marks removes uncommitted records, and continues in a new file", async (t) => {
  const folder = folderFor(t);
  const first = openWarc(folder, {}, { ...SETTINGS, fileBytesMax: 3_000 });
  await first.write(incompressible(1));
  const marks = first.marks();
  for (let seed = 2; seed < 9; seed++) await first.write(incompressible(seed));
  await first.close();
  assert.ok(readdirSync(folder).length > 2);
  writeFileSync(join(folder, "notes.txt"), "foreign");

  const second = openWarc(folder, marks, SETTINGS);
  assert.deepEqual(second.marks(), marks);
  const place = await second.write(incompressible(20));
  await second.close();
  assert.equal(place.file, "weir-00002.warc.gz");
  assert.deepEqual(readdirSync(folder).sort(), [
    "notes.txt",
    "weir-00001.warc.gz",
    "weir-00002.warc.gz",
  ]);
  assert.equal((await readWithWarcio(join(folder, "weir-00001.warc.gz"))).length, 3);
});

test("a file shorter than its mark is reported, and no file is changed", async (t) => {
  const folder = folderFor(t);
  const output = openWarc(folder, {}, SETTINGS);
  await output.write(captureOf());
  await output.close();
  const path = join(folder, "weir-00001.warc.gz");
  truncateSync(path, 500);
  writeFileSync(join(folder, "weir-00002.warc.gz"), "unknown");
  assert.throws(
    () => openWarc(folder, output.marks(), SETTINGS),
    (error) =>
      error instanceof CrawlError && error.code === "STORE_CORRUPT" && error.message.includes(path),
  );
  assert.equal(statSync(path).size, 500);
  assert.ok(existsSync(join(folder, "weir-00002.warc.gz")));
});

test("a file truncated at any byte yields its complete records, and a flipped bit is detected", async (t) => {
  const folder = folderFor(t);
  const output = openWarc(folder, {}, SETTINGS);
  for (let index = 0; index < 4; index++) await output.write(captureOf());
  await output.close();
  const path = join(folder, "weir-00001.warc.gz");
  const whole = readFileSync(path);
  const records = [...readRecords(path)];
  const ends = records.map(({ offset, length }) => offset + length);
  const random = randomFrom(3);
  for (let change = 0; change < 60; change++) {
    const cut = below(random, whole.length);
    writeFileSync(path, whole.subarray(0, cut));
    assert.equal(countWhole(path), ends.filter((end) => end <= cut).length, `cut at ${cut}`);

    const flipped = Buffer.from(whole);
    const at = below(random, whole.length);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << below(random, 8));
    writeFileSync(path, flipped);
    const before = ends.filter((end) => end <= at).length;
    // Some bits of a gzip member have no meaning, and then all records are read unchanged.
    const found = countWhole(path);
    if (found === ends.length) assert.deepEqual([...readRecords(path)], records, `bit in ${at}`);
    else assert.equal(found, before, `bit flipped at ${at}`);
  }
});

test("a full disk fails single writes, keeps complete records, and accepts writes when there is space", async (t) => {
  const folder = folderFor(t);
  const disk = join(folder, "small");
  if (!mounted(disk)) return t.skip("needs the right to mount a small disk");
  try {
    await fillAndFree(disk);
  } finally {
    execFileSync("umount", [disk]);
  }
});

async function fillAndFree(disk: string): Promise<void> {
  const filler = join(disk, "filler");
  writeFileSync(filler, Buffer.alloc(300_000));
  const output = openWarc(join(disk, "warc"), {}, SETTINGS);
  const random = randomFrom(2);
  const results = await Promise.allSettled(
    Array.from({ length: 60 }, () => output.write(captureOf({ body: noise(random, 20_000) }))),
  );
  const written = results.filter(({ status }) => status === "fulfilled").length;
  assert.ok(written > 0 && written < 60, `${written} of 60`);
  for (const result of results)
    if (result.status === "rejected") assert.equal((result.reason as CrawlError).code, "DISK_FULL");
  assert.equal(await answersIn(join(disk, "warc")), written);

  rmSync(filler);
  await output.write(captureOf({ body: noise(random, 20_000) }));
  await output.close();
  assert.equal(await answersIn(join(disk, "warc")), written + 1);
}

test("a dying writer thread fails its captures, and a new thread writes the next page", async (t) => {
  const folder = folderFor(t);
  const output = openWarc(folder, {}, SETTINGS);
  const before = await output.write(captureOf());
  const broken = { ...captureOf(), headers: undefined } as unknown as Capture;
  await assert.rejects(output.write(broken), WriterLost);
  const after = await output.write(captureOf());
  await output.close();
  assert.equal(before.file, "weir-00001.warc.gz");
  assert.equal(after.file, "weir-00002.warc.gz");
  assert.equal(await answersIn(folder), 2);
});

test("an archive deleted during writing is detected at the next sync", async (t) => {
  const folder = folderFor(t);
  const output = openWarc(join(folder, "warc"), {}, SETTINGS);
  await output.write(captureOf());
  await output.sync();
  rmSync(join(folder, "warc"), { recursive: true });
  await assert.rejects(output.sync(), { code: "FOLDER_UNWRITABLE" });
  await assert.rejects(output.close(), { code: "FOLDER_UNWRITABLE" });
});

test("after a kill at any time, the archive reopens with exactly the committed pages", async (t) => {
  for (let seed = 1; seed <= 3; seed++) {
    const folder = folderFor(t);
    const random = randomFrom(seed);
    const child = fileURLToPath(new URL("./warc.child.ts", import.meta.url));
    let marks: Record<string, number> = {};
    let committed = 0;
    for (let life = 0; life < 3; life++) {
      const writer = spawn(process.execPath, [child, folder, JSON.stringify(marks)]);
      let reported = "";
      const killAfter = 2 + below(random, 30);
      for await (const chunk of writer.stdout) {
        reported += String(chunk);
        if (reported.split("\n").length > killAfter) writer.kill("SIGKILL");
      }
      if (writer.exitCode === null && writer.signalCode === null) await once(writer, "exit");
      assert.equal(
        writer.signalCode,
        "SIGKILL",
        `seed ${seed}: the child writes until it is killed`,
      );
      const lines = reported.slice(0, reported.lastIndexOf("\n")).split("\n");
      const last = JSON.parse(lines.at(-1) ?? "") as {
        marks: Record<string, number>;
        pages: number;
      };
      marks = last.marks;
      committed += last.pages;
      for (const file of Object.keys(marks)) countWhole(join(folder, file));
      await openWarc(folder, marks, SETTINGS).close();
      assert.equal(await answersIn(folder), committed, `seed ${seed}, life ${life}`);
    }
  }
});

function countWhole(path: string): number {
  let count = 0;
  try {
    for (const record of readRecords(path)) if (record.block.length >= 0) count++;
  } catch (error) {
    assert.ok(error instanceof DamagedRecord, String(error));
    assert.equal(error.file, path);
  }
  return count;
}

/** Number of responses in all files of a folder, counted with warcio. */
async function answersIn(folder: string): Promise<number> {
  let count = 0;
  for (const file of readdirSync(folder))
    count += (await readWithWarcio(join(folder, file))).filter(
      ({ type }) => type === "response",
    ).length;
  return count;
}

function bodyAt(folder: string, place: Parameters<typeof readRecord>[1] | undefined): Buffer {
  assert.ok(place !== undefined);
  return Buffer.from(httpMessage(readRecord(folder, place)).body);
}

function warcio(...parameters: string[]): string {
  const program = fileURLToPath(new URL("../../../node_modules/.bin/warcio", import.meta.url));
  return execFileSync(process.execPath, [program, ...parameters], { encoding: "utf8" });
}

function mounted(path: string): boolean {
  mkdirSync(path);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", path], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function noise(random: Random, count: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: count }, () => below(random, 256)));
}

function incompressible(seed: number): Capture {
  return captureOf({ body: noise(randomFrom(seed), 900) });
}

function randomCapture(random: Random): Capture {
  const isCoded = random.next() < 0.3;
  const text = "<li>lock, weir and mill</li>\n".repeat(below(random, 900));
  const plain = random.next() < 0.2 ? noise(random, below(random, 5_000)) : Buffer.from(text);
  return captureOf({
    url: `http://example.org/${below(random, 1e9)}`,
    atMs: AT_MS + below(random, 1e6),
    body: isCoded ? gzipSync(plain) : plain,
    headers: isCoded
      ? [["content-encoding", "gzip"]]
      : [["content-type", pick(random, ["image/png", "text/html"])]],
    truncated: pick(random, [undefined, "length", "disconnect"]),
    httpVersion: pick(random, ["1.0", "1.1", "2"]),
    requestHead: pick(random, ["", "GET / HTTP/1.1\r\n\r\n"]),
  });
}
