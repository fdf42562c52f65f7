/** B17 and B18, as a single process meets them: folders and disks that are not what a crawl needs. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { CrawlError, type ErrorCode } from "../../src/base/errors.ts";
import { type Crawl, crawl, type CrawlOptions } from "../../src/crawl/library.ts";
import type { CrawlResult } from "../../src/control/snapshot.ts";
import { readRecords } from "../../src/output/warc/warc-read.ts";
import { openReadOnly } from "../../src/store/joined/open-read-only.ts";
import { realSite, startTestSite, type TestSite } from "./crawl-sites.ts";
import { until } from "../../src/base/patient-clock.suite.ts";

const REAL_PAGES = 50;
const real = realSite(REAL_PAGES);
const MIB = 2 ** 20;
/** Where the crawl stops filling a disk, so that others can still work; see `open.ts`. */
const FREE_BYTES_MIN = 64 * MIB;

function startRealSite(): Promise<TestSite> {
  return startTestSite(({ path }) => real(path));
}

function crawlInto(outFolder: string, site: TestSite, more: Partial<CrawlOptions> = {}): Crawl {
  const urls = [`${site.origin}/`];
  return crawl({ urls, outFolder, allowPrivate: ["127.0.0.0/8"], ...more });
}

function emptyFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-disk-"));
  t.after(() => {
    for (const disk of mounts.filter((path) => path.startsWith(folder)))
      execFileSync("umount", ["--lazy", disk]);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

const mounts: string[] = [];

/** Mounts a small disk below an `emptyFolder`; false where we may not. */
function mounted(folder: string, bytes: number): boolean {
  mkdirSync(folder, { recursive: true });
  const options = ["-t", "tmpfs", "-o", `size=${bytes}`, "none", folder];
  try {
    execFileSync("mount", options, { stdio: "ignore" });
  } catch {
    return false;
  }
  mounts.push(folder);
  return true;
}

async function refusedWith(code: ErrorCode, attempt: PromiseLike<unknown>): Promise<CrawlError> {
  const error = await Promise.resolve(attempt).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof CrawlError, `not refused: ${String(error)}`);
  assert.equal(error.code, code, error.message);
  assert.ok(error.remedy.length > 20, "an error says what to do");
  return error;
}

/** Every file below a folder with its bytes. */
function contentsOf(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(names.sort().map((name) => [name, readFileSync(name, "base64")]));
}

/** The fields of all records in the archive of a folder. */
function recordsIn(folder: string): ReadonlyMap<string, string>[] {
  const archive = join(folder, "archive");
  return readdirSync(archive).flatMap((file) =>
    Array.from(readRecords(join(archive, file)), ({ fields }) => fields),
  );
}

/** Holds the folder to a complete crawl: each page once in the store and once in the archive. */
async function checkComplete(folder: string, result: CrawlResult): Promise<void> {
  assert.equal(result.complete, true);
  assert.equal(result.pages, REAL_PAGES);
  const store = openReadOnly(folder);
  const urls = [...store.urls()];
  assert.equal(new Set(urls.map(({ url }) => url)).size, REAL_PAGES);
  assert.ok(urls.every(({ reason }) => reason === "ok"));
  await store.close();
  const archived = recordsIn(folder)
    .filter((fields) => fields.get("warc-type") === "response")
    .map((fields) => fields.get("warc-target-uri") ?? "");
  assert.deepEqual(archived.sort(), urls.map(({ url }) => url).sort());
}

describe("folders that cannot be used are refused, and nothing in them is touched", () => {
  test("F3: a file, a place below a file, and a link to nowhere", async (t) => {
    await using site = await startRealSite();
    const folder = emptyFolder(t);
    const file = join(folder, "file");
    writeFileSync(file, "mine");
    const link = join(folder, "link");
    symlinkSync(join(folder, "nowhere"), link);
    for (const place of [file, join(file, "below"), link, join(link, "below")])
      await refusedWith("FOLDER_UNWRITABLE", crawlInto(place, site));
    assert.equal(readFileSync(file, "utf8"), "mine");
    assert.deepEqual(site.asked, []);
  });

  test("F3: a disk that may only be read", async (t) => {
    await using site = await startRealSite();
    const folder = emptyFolder(t);
    if (!mounted(folder, MIB)) return t.skip("needs the right to mount a small disk");
    execFileSync("mount", ["-o", "remount,ro", folder]);
    const error = await refusedWith("FOLDER_UNWRITABLE", crawlInto(folder, site));
    assert.match(error.message, /EROFS|read-only/i);
  });

  test("V5: a folder with somebody else's files", async (t) => {
    await using site = await startRealSite();
    const folder = emptyFolder(t);
    writeFileSync(join(folder, "thesis.tex"), "years of work");
    await refusedWith("FOLDER_FOREIGN", crawlInto(folder, site));
    await refusedWith("FOLDER_FOREIGN", crawlInto(folder, site, { fresh: true }));
    assert.deepEqual(readdirSync(folder), ["thesis.tex"]);
    assert.deepEqual(site.asked, []);
  });

  test("V3: a store of a newer version", async (t) => {
    await using site = await startRealSite();
    const folder = emptyFolder(t);
    await crawlInto(folder, site, { pagesMax: 5 });
    const database = join(folder, "state", "crawl.db");
    const bytes = readFileSync(database);
    bytes.writeUInt32BE(99, 60);
    writeFileSync(database, bytes);
    const contents = contentsOf(folder);
    const error = await refusedWith("STORE_NEWER", crawlInto(folder, site));
    assert.match(error.message, /version 99/);
    assert.deepEqual(contentsOf(folder), contents);
  });

  test("V2, V5: a store that is zeroed, cut or missing is named, and begun anew only when asked", async (t) => {
    await using site = await startRealSite();
    const folder = emptyFolder(t);
    await crawlInto(folder, site, { pagesMax: 5 });
    const database = join(folder, "state", "crawl.db");
    const whole = readFileSync(database);
    const damages: Readonly<Record<string, () => void>> = {
      zeroed: () => writeFileSync(database, Buffer.alloc(whole.length)),
      cut: () => writeFileSync(database, whole.subarray(0, whole.length >> 1)),
      empty: () => writeFileSync(database, ""),
      missing: () => rmSync(database),
    };
    for (const [name, damage] of Object.entries(damages)) {
      damage();
      const error = await refusedWith("STORE_CORRUPT", crawlInto(folder, site));
      assert.match(error.message, /crawl\.db/, name);
    }
    const result = await crawlInto(folder, site, { fresh: true });
    await checkComplete(folder, result);
  });

  test("V7: a second crawl in the same folder, and the first one goes on", async (t) => {
    await using site = await startRealSite();
    const folder = emptyFolder(t);
    const first = crawlInto(folder, site, { delayMs: 20 });
    await until(() => (first.snapshot()?.totals.pages ?? 0) > 3, "a few pages");
    await refusedWith("STORE_LOCKED", crawlInto(folder, site));
    await refusedWith("STORE_LOCKED", crawlInto(folder, site, { fresh: true }));
    await checkComplete(folder, await first);
  });

  test("a crawl begun with another scope", async (t) => {
    await using site = await startRealSite();
    const folder = emptyFolder(t);
    await crawlInto(folder, site, { pagesMax: 5 });
    const error = await refusedWith("STORE_CHANGED", crawlInto(folder, site, { scope: "any" }));
    assert.match(error.message, /scope/);
    await checkComplete(folder, await crawlInto(folder, site));
  });
});

test("C1: a mirror on ten hosts, crawled in step, is archived once and referred to ninefold", async (t) => {
  await using site = await startRealSite();
  const folder = emptyFolder(t);
  const urls = Array.from({ length: 10 }, (_, index) => `${site.named(`mirror${index}`)}/`);
  const result = await crawlInto(folder, site, { urls, delayMs: 5 });
  assert.equal(result.duplicates.exact, 9 * REAL_PAGES);
  const types = recordsIn(folder).map((fields) => fields.get("warc-type"));
  assert.equal(types.filter((type) => type === "response").length, REAL_PAGES);
  const revisits = recordsIn(folder).filter((fields) => fields.get("warc-type") === "revisit");
  assert.equal(revisits.length, 9 * REAL_PAGES);
  for (const fields of revisits) {
    const path = new URL(fields.get("warc-target-uri") ?? "").pathname;
    const original = new URL(fields.get("warc-refers-to-target-uri") ?? "");
    assert.equal(original.pathname, path);
  }
});

describe("what an earlier end left behind", () => {
  test("V6: half a record at the end of the archive is cut off, and the crawl goes on", async (t) => {
    await using site = await startRealSite();
    const folder = emptyFolder(t);
    await crawlInto(folder, site, { pagesMax: 10 });
    const archive = join(folder, "archive");
    const last = readdirSync(archive).sort().at(-1);
    assert.ok(last !== undefined);
    const path = join(archive, last);
    appendFileSync(path, readFileSync(path).subarray(0, 100));
    await checkComplete(folder, await crawlInto(folder, site));
  });

  test("W1, W4: a copy of the folder taken at any moment of a crawl goes on to the end", async (t) => {
    await using site = await startRealSite();
    const folder = emptyFolder(t);
    const running = crawlInto(join(folder, "first"), site, { delayMs: 10 });
    await until(() => (running.snapshot()?.totals.pages ?? 0) > 10, "some pages");
    // Copied without asking: as a power cut would leave the files.
    const copy = join(folder, "copy");
    cpSync(join(folder, "first"), copy, { recursive: true });
    await running;
    await checkComplete(copy, await crawlInto(copy, site));
  });
});

describe("B17: the disk fills up while the crawl runs", () => {
  test("F6: below the low-water mark the crawl pauses, says so, and goes on when there is room", async (t) => {
    await using site = await startRealSite();
    const disk = emptyFolder(t);
    if (!mounted(disk, FREE_BYTES_MIN + 16 * MIB))
      return t.skip("needs the right to mount a small disk");
    const folder = join(disk, "crawl");
    const told: string[] = [];
    const log = { write: ({ message }: { readonly message: string }) => void told.push(message) };
    const running = crawlInto(folder, site, { delayMs: 40, log });
    await until(() => (running.snapshot()?.totals.pages ?? 0) > 3, "a few pages");
    const filler = join(disk, "filler");
    writeFileSync(filler, Buffer.alloc(16 * MIB));
    await until(() => running.snapshot()?.state === "paused", "the pause");
    assert.match(running.snapshot()?.because ?? "", /disk is full/);
    assert.ok(
      told.some((message) => /free|room|full/i.test(message)),
      told.join("\n"),
    );
    const asked = site.asked.length;
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.ok(site.asked.length <= asked + 2, "nothing new is asked for meanwhile");
    rmSync(filler);
    await checkComplete(folder, await running);
  });

  test("F1, F2: an archive that finds no room loses no page and leaves no half record", async (t) => {
    const words = randomBytes(20_000).toString("hex");
    await using site = await startTestSite(({ path }) => {
      const page = real(path);
      return page === undefined ? undefined : `${page}<p>${path}${words.slice(path.length)}`;
    });
    const folder = emptyFolder(t);
    await crawlInto(folder, site, { pagesMax: 1, concurrencyPerSite: 1 });
    const archive = join(folder, "archive");
    const before = new Map(
      readdirSync(archive).map((name) => [name, readFileSync(join(archive, name))]),
    );
    if (!mounted(archive, 256 * 1024)) return t.skip("needs the right to mount a small disk");
    for (const [name, bytes] of before) writeFileSync(join(archive, name), bytes);
    const running = crawlInto(folder, site);
    await until(() => running.snapshot()?.state === "paused", "the pause");
    execFileSync("mount", ["-o", `remount,size=${32 * MIB}`, archive]);
    await checkComplete(folder, await running);
  });

  test("F1: a disk that is full before the start is told, and the same command resumes", async (t) => {
    await using site = await startRealSite();
    const disk = emptyFolder(t);
    if (!mounted(disk, FREE_BYTES_MIN + 4 * MIB))
      return t.skip("needs the right to mount a small disk");
    writeFileSync(join(disk, "filler"), Buffer.alloc(4 * MIB));
    const folder = join(disk, "crawl");
    await refusedWith("DISK_FULL", crawlInto(folder, site));
    assert.deepEqual(site.asked, []);
    rmSync(join(disk, "filler"));
    await checkComplete(folder, await crawlInto(folder, site));
  });

  test("F1: stopped while it waits for room, it ends with what is committed", async (t) => {
    await using site = await startRealSite();
    const disk = emptyFolder(t);
    if (!mounted(disk, FREE_BYTES_MIN + 16 * MIB))
      return t.skip("needs the right to mount a small disk");
    const folder = join(disk, "crawl");
    const running = crawlInto(folder, site, { delayMs: 40 });
    await until(() => (running.snapshot()?.totals.pages ?? 0) > 3, "a few pages");
    writeFileSync(join(disk, "filler"), Buffer.alloc(16 * MIB));
    await until(() => running.snapshot()?.state === "paused", "the pause");
    running.stop();
    await refusedWith("DISK_FULL", running);
    rmSync(join(disk, "filler"));
    await checkComplete(folder, await crawlInto(folder, site));
  });

  test("F4: a folder that is removed while the crawl runs ends it with a clear error", async (t) => {
    await using site = await startRealSite();
    const folder = join(emptyFolder(t), "crawl");
    const running = crawlInto(folder, site, { delayMs: 30 });
    await until(() => (running.snapshot()?.totals.pages ?? 0) > 3, "a few pages");
    rmSync(folder, { recursive: true });
    await refusedWith("FOLDER_UNWRITABLE", running);
    assert.equal(existsSync(folder), false, "nothing is written elsewhere or made anew");
  });
});
