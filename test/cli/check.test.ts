import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { crc32, deflateRawSync, gzipSync } from "node:zlib";
import { WARCRecord, WARCSerializer } from "warcio";
import { readRecords } from "../../src/output/warc/warc-read.ts";
import { type Ended, run, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

const ARCHIVE = "archive/weir-00001.warc.gz";

interface CheckJson {
  readonly ok: boolean;
  readonly records: number;
  readonly digests: number;
  readonly pages: number;
  readonly accounts: boolean;
  readonly salvaged?: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly list: readonly { readonly kind: string; readonly where: string }[];
}

function flipBit(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 4;
  writeFileSync(file, bytes);
}

describe("weir check", () => {
  const space = temporaryFolder();
  const whole = join(space.path, "whole");
  let copies = 0;

  before(async () => {
    await using site = await startSite({ pageCount: 9 });
    const local = ["--allow-private", "127.0.0.0/8", "--no-sitemaps"];
    assert.equal((await run(["crawl", site.origin, "--out", whole, ...local])).code, 0);
  });
  after(() => space[Symbol.dispose]());

  function copyOf(folder: string): string {
    const copy = join(space.path, `copy-${(copies += 1)}`);
    cpSync(folder, copy, { recursive: true });
    return copy;
  }

  async function check(...words: string[]): Promise<CheckJson & { code: number | null }> {
    const { code, stdout, stderr } = await run(["check", ...words, "--json"]);
    assert.ok(stdout !== "", stderr);
    return { ...(JSON.parse(stdout) as CheckJson), code };
  }

  test("a whole collection has no fault", async () => {
    const { code, ok, records, digests, pages, accounts, faults } = await check(whole);
    // The file's own record, then request and response of each page.
    assert.deepEqual(
      { code, ok, records, digests, pages, accounts, faults },
      { code: 0, ok: true, records: 21, digests: 20, pages: 10, accounts: true, faults: {} },
    );
    const { stdout } = await run(["check", whole]);
    assert.match(stdout, /the accounts agree\nNo damage found\./);
  });

  test("a flipped bit is one damaged record, and the rest is salvaged and exported", async () => {
    const folder = copyOf(whole);
    const archive = join(folder, ARCHIVE);
    const responses = [...readRecords(archive)].filter(
      ({ fields }) => fields.get("warc-type") === "response",
    );
    const hit = responses[4];
    assert.ok(hit !== undefined);
    flipBit(archive, hit.offset + Math.floor(hit.length / 2));
    const saved = join(folder, "saved.warc.gz");
    const found = await check(folder, "--salvage", saved);
    assert.equal(found.code, 1);
    assert.deepEqual(found.faults, { damaged_record: 1, missing_record: 1 });
    assert.equal(found.salvaged, 20);
    assert.deepEqual((await check(saved)).faults, {});

    const url = hit.fields.get("warc-target-uri") ?? "";
    for (const [format, lines] of [
      ["jsonl", 10],
      ["cdxj", 9],
    ] as const) {
      const ended = await run(["export", folder, "--format", format, "--text"]);
      assert.equal(ended.code, 0, ended.stderr);
      assert.equal(ended.stdout.trim().split("\n").length, lines);
      assert.match(ended.stderr, /WARNING: 1 damaged record left out, the first: .*`weir check /);
      const strict = await run(["export", folder, "--format", format, "--text", "--strict"]);
      assert.equal(strict.code, 1);
    }
    const { stdout } = await run(["export", folder, "--format", "jsonl", "--text"]);
    const texts = stdout.trim().split("\n");
    const without = texts.filter((line) => !line.includes('"text":'));
    assert.deepEqual(
      without.map((line) => (JSON.parse(line) as { url: string }).url),
      [url],
    );
  });

  test("a truncated, a missing and an exchanged archive file are found", async () => {
    const short = copyOf(whole);
    truncateSync(join(short, ARCHIVE), 3_000);
    const { faults } = await check(short);
    assert.equal(faults["short_file"], 1);
    assert.ok((faults["missing_record"] ?? 0) > 0);

    const exchanged = copyOf(whole);
    const saved = join(space.path, "reordered.warc.gz");
    const records = [...readRecords(join(whole, ARCHIVE))];
    const bytes = readFileSync(join(whole, ARCHIVE));
    writeFileSync(
      saved,
      Buffer.concat(records.toReversed().map((r) => bytes.subarray(r.offset, r.offset + r.length))),
    );
    copyFileSync(saved, join(exchanged, ARCHIVE));
    const wrong = (await check(exchanged)).faults;
    assert.equal(wrong["damaged_record"], undefined);
    assert.equal((wrong["missing_record"] ?? 0) + (wrong["other_record"] ?? 0), 10);
  });

  test("a damaged row is found, and the other pages are exported", async () => {
    const folder = copyOf(whole);
    const file = join(folder, "state/crawl.db");
    const at = readFileSync(file).indexOf("/page/7");
    assert.ok(at > 0, "the row is in the file");
    flipBit(file, at + 6);
    const found = await check(folder);
    assert.equal(found.code, 1);
    assert.equal(found.faults["damaged_row"], 1);
    const { code, stdout, stderr } = await run(["export", folder, "--format", "jsonl"]);
    assert.equal(code, 0, stderr);
    assert.equal(stdout.trim().split("\n").length, 9);
    assert.match(stderr, /1 damaged record left out/);
  });

  test("archives of other tools: optional gzip fields, one gzip member, no compression", async () => {
    const records: Buffer[] = [];
    for (const number of [1, 2, 3]) {
      const record = WARCRecord.create(
        {
          url: `http://example.org/${number}`,
          date: "2026-01-02T03:04:05Z",
          type: "response",
          warcVersion: "WARC/1.0",
          httpHeaders: { "Content-Type": "text/html" },
          statusline: "HTTP/1.1 200 OK",
        },
        (async function* () {
          yield Buffer.from(`page ${number} `.repeat(500));
        })(),
      );
      const { serialize } = WARCSerializer;
      records.push(
        Buffer.from(
          await serialize(record, { digest: { algo: "sha-1", prefix: "sha1:", base32: true } }),
        ),
      );
    }
    const forms: Readonly<Record<string, Buffer>> = {
      "plain.warc": Buffer.concat(records),
      "members.warc.gz": Buffer.concat(records.map((record) => gzipSync(record))),
      "extra.warc.gz": Buffer.concat(records.map(withOptionalFields)),
      "one.warc.gz": gzipSync(Buffer.concat(records)),
    };
    for (const [name, bytes] of Object.entries(forms)) {
      const file = join(space.path, name);
      writeFileSync(file, bytes);
      const found = await check(file);
      assert.deepEqual([found.code, found.records, found.digests], [0, 3, 6], name);
      if (name === "one.warc.gz") continue;
      flipBit(file, Math.floor(bytes.length / 2));
      const damaged = await check(file);
      assert.equal(damaged.code, 1, name);
      assert.equal(damaged.list.length <= 2, true, name);
      assert.ok(damaged.records >= 2, name);
    }
    const copy = join(space.path, "twice.warc");
    writeFileSync(copy, forms["plain.warc"]?.toString("latin1").replace("page 2", "page 9") ?? "");
    assert.deepEqual((await check(copy)).faults, { wrong_digest: 2 });
  });

  test("a WARC file of wget is whole", { skip: missing("wget") }, async () => {
    await using site = await startSite({ pageCount: 4 });
    const name = join(space.path, "wget");
    const words = ["-q", "-r", "-P", join(space.path, "files"), `--warc-file=${name}`];
    const wget = spawn("wget", [...words, `${site.origin}/`]);
    await new Promise((resolve) => wget.on("close", resolve));
    const found = await check(`${name}.warc.gz`);
    assert.deepEqual([found.code, found.faults], [0, {}]);
    assert.ok(found.records > 10 && found.digests > 10);
  });
});

test("on read-only media status, search, report, export and check work", async (t) => {
  await using site = await startSite({ pageCount: 5 });
  using space = temporaryFolder();
  const folder = join(space.path, "crawl");
  const local = ["--allow-private", "127.0.0.0/8"];
  assert.equal((await run(["crawl", site.origin, "--out", folder, ...local])).code, 0);
  const asOther = readOnly(folder, space.path);
  if (asOther === undefined) return t.skip("no user without write access");
  const before = filesIn(folder);
  const out = join(space.path, "out");
  for (const words of [
    ["status", folder],
    ["search", folder, "words"],
    ["report", folder, "--out", `${out}.html`],
    ["export", folder, "--format", "jsonl", "--text", "--out", `${out}.jsonl`],
    ["export", folder, "--format", "links"],
    ["check", folder],
  ]) {
    const { code, stdout, stderr } = await asOther(words);
    assert.equal(code, 0, `${words.join(" ")}: ${stdout}${stderr}`);
  }
  assert.ok(existsSync(`${out}.html`) && existsSync(`${out}.jsonl`));
  const refused = await asOther(["report", folder]);
  assert.match(refused.stderr, /give --out another one/);
  assert.deepEqual(filesIn(folder), before, "nothing was written");
});

/** Takes away write access; as root, which no mode stops, the program runs as another user. */
function readOnly(
  folder: string,
  space: string,
): ((words: string[]) => Promise<Ended>) | undefined {
  const isRoot = process.getuid?.() === 0;
  spawnSync("chmod", ["-R", "a+rX,a-w", folder]);
  spawnSync("chmod", ["a+rwx", space]);
  if (!isRoot) return (words) => run(words);
  const drop = ["--reuid", "65534", "--clear-groups"];
  const main = new URL("../../src/cli/main.ts", import.meta.url).pathname;
  const canRun = spawnSync("setpriv", [...drop, process.execPath, main, "--version"]).status === 0;
  if (!canRun) return undefined;
  return (words) => run(words, { program: ["setpriv", ...drop, process.execPath, main] });
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
}

function missing(program: string): string | false {
  return spawnSync(program, ["--version"]).status === 0 ? false : `${program} is not installed`;
}

/** A gzip member with all optional fields of RFC 1952. */
function withOptionalFields(bytes: Buffer): Buffer {
  const head = Buffer.from([0x1f, 0x8b, 8, 4 | 8 | 16 | 2, 0, 0, 0, 0, 0, 3]);
  const extra = Buffer.from([6, 0, 0x73, 0x6c, 2, 0, 1, 2]);
  const names = Buffer.from("a.warc\0a comment\0");
  const fields = Buffer.concat([head, extra, names]);
  const sums = Buffer.alloc(10);
  sums.writeUInt16LE(crc32(fields) & 0xffff, 0);
  sums.writeUInt32LE(crc32(bytes), 2);
  sums.writeUInt32LE(bytes.length, 6);
  return Buffer.concat([fields, sums.subarray(0, 2), deflateRawSync(bytes), sums.subarray(2)]);
}
