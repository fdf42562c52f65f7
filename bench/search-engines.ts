/**
 * Our full-text index beside SQLite's own (FTS5): the same pages into both, and the same questions.
 *
 * Usage: node bench/search-engines.ts [pages] [pages.jsonl.xz …]
 *
 * Both get a title, an address and a text that is ready to read, and the row that a result shows; a
 * thousand pages go into a commit, or more where segments take more. FTS5 keeps no text
 * (`contentless_delete`), gathers 16 MiB of words and merges eight segments at a time, which was the
 * fastest of what was tried. Each is measured twice, in turn, in one process; the better time counts.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { below, randomFrom } from "../src/base/random.ts";
import { search } from "../src/output/search-broker.ts";
import { readQuery } from "../src/output/search-query.ts";
import { IndexReader } from "../src/output/search-reader.ts";
import { IndexWriter } from "../src/output/search-writer.ts";
import { visibleText } from "../src/page/text.ts";
import { folderBytes } from "./crawl-load.ts";

const DATA = fileURLToPath(
  new URL("../../shared/data/pages/uci-ics.pages.jsonl.xz", import.meta.url),
);
const PAGES_PER_COMMIT = 1_024;
const QUERIES = 300;
const FACETS = { site: undefined, language: undefined, topic: undefined };

interface Page {
  readonly id: number;
  readonly url: string;
  readonly title: string;
  readonly text: string;
  readonly digest: Uint8Array;
}

interface Engine {
  readonly name: string;
  readonly build: (pages: readonly Page[], folder: string) => void;
  /** Answers how to ask for words, and lets go of the index. */
  readonly open: (folder: string) => { ask(words: readonly string[]): number; close(): void };
}

const ENGINES: readonly Engine[] = [
  { name: "ours", build: buildOurs, open: openOurs },
  { name: "FTS5", build: buildFts, open: openFts },
];

const [pagesText = "20000", ...given] = process.argv.slice(2);
const pages = readPages(given.length > 0 ? given : [DATA], Number(pagesText));
const letters = pages.reduce((sum, { text }) => sum + text.length, 0) / pages.length;
console.error(`${pages.length} pages, ${letters.toFixed(0)} characters of text each`);
const rows = ENGINES.map(() => ({ cpu: Infinity, bytes: 0, found: [] as number[] }));
for (let round = 0; round < 2; round++)
  for (const [index, engine] of ENGINES.entries()) {
    const folder = mkdtempSync(join(tmpdir(), "weir-bench-engines-"));
    const before = process.cpuUsage();
    engine.build(pages, folder);
    const { user, system } = process.cpuUsage(before);
    const row = rows[index];
    if (row !== undefined) {
      row.cpu = Math.min(row.cpu, (user + system) / pages.length);
      row.bytes = folderBytes(folder) / pages.length;
      row.found = timesOf(engine, folder);
    }
    rmSync(folder, { recursive: true });
  }
console.log("| index | CPU, µs a page | bytes a page | two words, ms | 9 in 10 |");
console.log("|---|--:|--:|--:|--:|");
for (const [index, { cpu, bytes, found }] of rows.entries()) {
  const [half, most] = [0.5, 0.9].map((share) => found[Math.floor(share * found.length)] ?? 0);
  const cells = [cpu.toFixed(0), bytes.toFixed(0), half?.toFixed(2), most?.toFixed(2)];
  console.log(`| ${ENGINES[index]?.name} | ${cells.join(" | ")} |`);
}

function readPages(files: readonly string[], countMax: number): Page[] {
  const read: Page[] = [];
  for (const packed of files) {
    const { stdout } = spawnSync("xz", ["-dc", packed], { maxBuffer: 2 ** 31 });
    for (let at = 0; at < stdout.length && read.length < countMax;) {
      const found = stdout.indexOf(10, at);
      const end = found < 0 ? stdout.length : found;
      const { url, html } = JSON.parse(stdout.toString("utf8", at, end)) as Record<string, string>;
      at = end + 1;
      const id = read.length + 1;
      const title = /<title[^>]*>([^<]*)/i.exec(html ?? "")?.[1]?.trim() ?? "";
      const text = visibleText(Buffer.from(html ?? ""), 1_000_000);
      read.push({ id, url: url ?? "", title, text, digest: Buffer.from(`${id}`.padEnd(32)) });
    }
  }
  return read;
}

function buildOurs(all: readonly Page[], folder: string): void {
  const writer = new IndexWriter(folder, false);
  for (const page of all)
    writer.put({ ...page, language: "en", topic: "", fetchedAtMs: 0, archived: undefined });
  writer.commit(all.length);
  writer.close();
}

function openOurs(folder: string): ReturnType<Engine["open"]> {
  const index = new IndexReader(folder);
  return {
    ask(words) {
      const query = readQuery(words);
      if (query === undefined) return 0;
      return search([{ folder, index }], { query, facets: FACETS, countMax: 10 }).total;
    },
    close: () => index[Symbol.dispose](),
  };
}

function buildFts(all: readonly Page[], folder: string): void {
  const database = new DatabaseSync(join(folder, "index.db"));
  database.exec(`
    PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8192;
    CREATE TABLE page (id INTEGER PRIMARY KEY, url TEXT, title TEXT, language TEXT, digest BLOB);
    CREATE VIRTUAL TABLE words USING fts5(
      title, url, text, facet, content = '', contentless_delete = 1, tokenize = 'unicode61');
    INSERT INTO words(words, rank) VALUES ('hashsize', 16777216);
    INSERT INTO words(words, rank) VALUES ('automerge', 8)`);
  const row = database.prepare("INSERT INTO page VALUES (?, ?, ?, 'en', ?)");
  const words = database.prepare(
    "INSERT INTO words(rowid, title, url, text, facet) VALUES (?, ?, ?, ?, 'len s1 s2')",
  );
  for (const [index, { id, url, title, text, digest }] of all.entries()) {
    if (index % PAGES_PER_COMMIT === 0) database.exec(index === 0 ? "BEGIN" : "COMMIT; BEGIN");
    row.run(id, url, title, digest);
    words.run(id, title, url, text);
  }
  database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

function openFts(folder: string): ReturnType<Engine["open"]> {
  const database = new DatabaseSync(join(folder, "index.db"), { readOnly: true });
  const best = database.prepare(
    `SELECT rowid, bm25(words, 4, 2, 1, 0) AS score FROM words WHERE words MATCH ?
     ORDER BY score LIMIT 50`,
  );
  const count = database.prepare("SELECT count(*) AS pages FROM words WHERE words MATCH ?");
  return {
    ask(words) {
      const match = `{title url text} : (${words.map((word) => `"${word}"`).join(" AND ")})`;
      best.all(match);
      return Number(count.get(match)?.["pages"]);
    },
    close: () => database.close(),
  };
}

/** Of queries of two words that stand behind each other in a title, the quickest first. */
function timesOf(engine: Engine, folder: string): number[] {
  const index = engine.open(folder);
  const random = randomFrom(1);
  const tookMs: number[] = [];
  while (tookMs.length < QUERIES) {
    const { title = "" } = pages[below(random, pages.length)] ?? {};
    const words = title.match(/[\p{L}\p{N}]+/gu) ?? [];
    const at = below(random, words.length);
    if (at + 2 > words.length) continue;
    const startedAtMs = performance.now();
    index.ask(words.slice(at, at + 2));
    tookMs.push(performance.now() - startedAtMs);
  }
  index.close();
  return tookMs.sort((a, b) => a - b);
}
