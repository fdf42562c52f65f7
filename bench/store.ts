/**
 * The same crawl on four stores: which one costs least, and how that changes with size.
 *
 * Usage: node bench/store.ts [urls]
 *
 * The work is that of `crawl-load.ts`. The rivals keep the same facts in the way that suggests itself
 * with them: `sqlite-plain` has a unique index of the fingerprints over the table of URLs, `lmdb` and
 * `level` have one key space each for fingerprints, URLs, waiting URLs and pages, written in one
 * transaction or batch. None of them waits for the disk, as ours does not. Each runs in a process of
 * its own. Prints a table for a hundredth of the URLs and for all of them, then JSON.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { ClassicLevel } from "classic-level";
import { open } from "lmdb";
import type { PageRecord } from "../src/page/page.ts";
import { openStore } from "../src/store/sqlite/store-sqlite.ts";
import type { Fingerprints, NewUrl, WaitingUrl } from "../src/store/store.ts";
import { CrawlLoad, folderBytes, measuredIn, sayAndWait } from "./crawl-load.ts";
import type { LoadedStore } from "./crawl-load.ts";

const ENGINES: Readonly<Record<string, (folder: string) => LoadedStore>> = {
  ours: (folder) => openStore(folder),
  "sqlite-plain": plainSqlite,
  lmdb: lmdbStore,
  level: levelStore,
};

function plainSqlite(folder: string): LoadedStore {
  const database = new DatabaseSync(join(folder, "plain.db"));
  database.exec(`
    PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536;
    CREATE TABLE url(id INTEGER PRIMARY KEY, fp INTEGER UNIQUE, url TEXT, site INTEGER,
      depth INTEGER, score REAL, done INTEGER);
    CREATE INDEX waiting ON url(site, score DESC) WHERE done = 0;
    CREATE TABLE page(id INTEGER PRIMARY KEY, record TEXT, digest BLOB, links BLOB)`);
  const add = database.prepare("INSERT INTO url VALUES (?, ?, ?, ?, ?, ?, 0)");
  const find = database.prepare("SELECT id FROM url WHERE fp = ?", { returnArrays: true });
  const settle = database.prepare("UPDATE url SET done = 1 WHERE id = ?");
  const addPage = database.prepare("INSERT INTO page VALUES (?, ?, ?, ?)");
  const wait = database.prepare(
    "SELECT id, url, depth, score FROM url WHERE site = ? AND done = 0 ORDER BY score DESC, id LIMIT ?",
  );
  return {
    waiting(siteId, countMax) {
      return wait.all(siteId, countMax).map((row) => waitingUrl(row["id"] as number, siteId, row));
    },
    lookup: (asked) =>
      looked(asked, (high, low) => {
        const row = find.get(key64(high, low)) as unknown as [number] | undefined;
        return row?.[0] ?? 0;
      }),
    commit(batch) {
      database.exec("BEGIN IMMEDIATE");
      for (const url of batch.urls) {
        const fp = key64(url.fingerprintHigh, url.fingerprintLow);
        add.run(url.id, fp, url.url, url.siteId, url.depth, url.score);
      }
      for (const { id } of batch.settled) settle.run(id);
      for (const page of batch.pages) addPage.run(page.id, pageText(page), page.digest, page.links);
      database.exec("COMMIT");
    },
    async close() {
      database.close();
    },
  };
}

function lmdbStore(folder: string): LoadedStore {
  const root = open({ path: join(folder, "lmdb"), noSync: true, maxDbs: 4 });
  const binary = { keyEncoding: "binary", encoding: "binary" } as const;
  const seen = root.openDB<Buffer, Buffer>("seen", binary);
  const urls = root.openDB<Buffer, Buffer>("urls", binary);
  const waits = root.openDB<Buffer, Buffer>("waits", binary);
  const pages = root.openDB<Buffer, Buffer>("pages", binary);
  return {
    waiting(siteId, countMax) {
      const start = numbers(siteId);
      const range = waits.getRange({ start, end: numbers(siteId + 1), limit: countMax });
      return Array.from(range, ({ key, value }) => waitingFrom(key, value));
    },
    lookup: (asked) =>
      looked(asked, (high, low) => seen.get(numbers(high, low))?.readUInt32BE() ?? 0),
    commit(batch) {
      root.transactionSync(() => {
        for (const url of batch.urls) {
          const value = urlValue(url);
          seen.putSync(numbers(url.fingerprintHigh, url.fingerprintLow), numbers(url.id));
          urls.putSync(numbers(url.id), value);
          waits.putSync(waitKey(url.siteId, url.score, url.id), value);
        }
        for (const { id } of batch.settled) {
          const value = urls.get(numbers(id));
          if (value === undefined) throw new Error("a URL is lost");
          waits.removeSync(waitKeyOf(id, value));
        }
        for (const page of batch.pages) pages.putSync(numbers(page.id), pageValue(page));
      });
    },
    close: () => root.close(),
  };
}

function levelStore(folder: string): LoadedStore {
  const encodings = { keyEncoding: "buffer", valueEncoding: "buffer" } as const;
  const level = new ClassicLevel<Buffer, Buffer>(join(folder, "level"), {
    ...encodings,
    cacheSize: 64 * 2 ** 20,
  });
  const opened = level.open();
  // LevelDB reads ranges only with waiting, so what a site's turn needs is read ahead of it.
  const ahead = new Map<number, WaitingUrl[]>();
  const touched = new Set<number>();
  const readAhead = async (countMax: number): Promise<void> => {
    for (const siteId of touched) {
      const range = { gte: inSpace(3, numbers(siteId)), lt: inSpace(3, numbers(siteId + 1)) };
      const rows = await level.iterator({ ...range, limit: countMax }).all();
      ahead.set(
        siteId,
        rows.map(([found, value]) => waitingFrom(found.subarray(1), value)),
      );
    }
    touched.clear();
  };
  return {
    waiting: (siteId) => ahead.get(siteId) ?? [],
    lookup: (asked) =>
      looked(asked, (high, low) => {
        return level.getSync(inSpace(1, numbers(high, low)))?.readUInt32BE() ?? 0;
      }),
    async commit(batch) {
      await opened;
      const changes: (
        | { type: "put"; key: Buffer; value: Buffer }
        | { type: "del"; key: Buffer }
      )[] = [];
      const put = (at: Buffer, value: Buffer): number =>
        changes.push({ type: "put", key: at, value });
      for (const url of batch.urls) {
        const value = urlValue(url);
        put(inSpace(1, numbers(url.fingerprintHigh, url.fingerprintLow)), numbers(url.id));
        put(inSpace(2, numbers(url.id)), value);
        put(inSpace(3, waitKey(url.siteId, url.score, url.id)), value);
        touched.add(url.siteId);
      }
      for (const { id } of batch.settled) {
        const value = level.getSync(inSpace(2, numbers(id)));
        if (value === undefined) throw new Error("a URL is lost");
        changes.push({ type: "del", key: inSpace(3, waitKeyOf(id, value)) });
        touched.add(value.readUInt32BE(0));
      }
      for (const page of batch.pages) put(inSpace(4, numbers(page.id)), pageValue(page));
      await level.batch(changes, encodings);
      await readAhead(4);
    },
    close: () => level.close(),
  };
}

/** LevelDB has one space of keys; the first byte makes several of it. */
function inSpace(space: number, key: Buffer): Buffer {
  return Buffer.concat([Buffer.of(space), key]);
}

function looked(asked: Fingerprints, get: (high: number, low: number) => number): Uint32Array {
  const ids = new Uint32Array(asked.count);
  for (let index = 0; index < asked.count; index++)
    ids[index] = get(asked.high[index] as number, asked.low[index] as number);
  return ids;
}

/** A fingerprint as the one number that SQLite takes as a key. */
function key64(high: number, low: number): bigint {
  return BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low));
}

/** Unsigned, big-endian, so that keys sort as their numbers do. */
function numbers(...values: number[]): Buffer {
  const key = Buffer.allocUnsafe(values.length * 4);
  for (const [index, value] of values.entries()) key.writeUInt32BE(value >>> 0, index * 4);
  return key;
}

/** Scores are whole and not above 0 here: the best sorts first. */
function waitKey(siteId: number, score: number, id: number): Buffer {
  return numbers(siteId, -score, id);
}

function urlValue(url: NewUrl): Buffer {
  return Buffer.concat([numbers(url.siteId, url.depth, -url.score), Buffer.from(url.url)]);
}

function waitKeyOf(id: number, value: Buffer): Buffer {
  return numbers(value.readUInt32BE(0), value.readUInt32BE(8), id);
}

function waitingFrom(key: Buffer, value: Buffer): WaitingUrl {
  return waitingUrl(key.readUInt32BE(8), value.readUInt32BE(0), {
    url: value.toString("latin1", 12),
    depth: value.readUInt32BE(4),
    score: -value.readUInt32BE(8),
  });
}

function waitingUrl(
  id: number,
  siteId: number,
  row: Readonly<Record<string, unknown>>,
): WaitingUrl {
  return {
    id,
    url: row["url"] as string,
    siteId,
    depth: row["depth"] as number,
    score: row["score"] as number,
    attempts: 0,
    redirectedFromId: 0,
    redirects: 0,
    etag: "",
    lastModified: "",
  };
}

function pageText(page: PageRecord): string {
  return JSON.stringify({ ...page, digest: undefined, links: undefined });
}

function pageValue(page: PageRecord): Buffer {
  return Buffer.concat([page.digest, page.links, Buffer.from(pageText(page))]);
}

interface Measured {
  readonly usPerUrl: number;
  readonly takeP99Ms: number;
  readonly lookupP99Ms: number;
  readonly commitP99Ms: number;
  readonly commitWorstMs: number;
  readonly rssBytes: number;
  readonly bytesPerUrl: number;
  readonly seconds: number;
}

async function measure(engine: string, folder: string, urls: number): Promise<Measured> {
  const makeStore = ENGINES[engine];
  if (makeStore === undefined) throw new Error(`no engine ${engine}`);
  const load = new CrawlLoad(makeStore(folder), 1);
  const startedAtMs = performance.now();
  const baseMs = load.cpuMs;
  await load.begin();
  while (load.known < urls) {
    await load.step();
    await setImmediate();
  }
  return {
    usPerUrl: ((load.cpuMs - baseMs) * 1000) / load.known,
    takeP99Ms: load.takes.p(0.99),
    lookupP99Ms: load.lookups.p(0.99),
    commitP99Ms: load.commits.p(0.99),
    commitWorstMs: load.commits.p(1),
    rssBytes: process.resourceUsage().maxRSS * 1024,
    bytesPerUrl: folderBytes(folder) / load.known,
    seconds: (performance.now() - startedAtMs) / 1000,
  };
}

async function compare(urlsMax: number): Promise<void> {
  const results: unknown[] = [];
  const titles = ["engine", "us/URL", "take p99", "seen p99", "commit p99", "worst", "RSS MB"];
  for (const urls of [Math.max(100_000, urlsMax / 100), urlsMax]) {
    console.log(`\n${urls} URLs; p99 and worst in ms, seen for the 80 links of a page`);
    console.log([...titles, "B/URL", "s"].map((title) => title.padEnd(13)).join(""));
    for (const engine of Object.keys(ENGINES)) {
      const folder = mkdtempSync(join(tmpdir(), "weir-store-bench-"));
      try {
        const args = ["--measure", engine, folder, String(urls)];
        const measured = await measuredIn<Measured>(import.meta.filename, args);
        results.push({ engine, urls, ...measured });
        console.log(rowOf(engine, measured));
      } finally {
        rmSync(folder, { recursive: true });
      }
    }
  }
  console.log(JSON.stringify(results));
}

function rowOf(engine: string, measured: Measured): string {
  const cells = [
    engine,
    measured.usPerUrl.toFixed(1),
    measured.takeP99Ms.toFixed(2),
    measured.lookupP99Ms.toFixed(2),
    measured.commitP99Ms.toFixed(1),
    measured.commitWorstMs.toFixed(0),
    (measured.rssBytes / 1e6).toFixed(0),
    measured.bytesPerUrl.toFixed(0),
    measured.seconds.toFixed(0),
  ];
  return cells.map((cell) => cell.padEnd(13)).join("");
}

if (import.meta.main) {
  const [mode = "3000000", engine = "", folder = "", urls = "0"] = process.argv.slice(2);
  if (mode === "--measure") await sayAndWait(await measure(engine, folder, Number(urls)));
  else await compare(Number(mode));
}
