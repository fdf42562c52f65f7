/**
 * What it costs to make pages searchable while they are crawled, and how fast they are found.
 *
 * Usage: node bench/search.ts [pages] [rounds] [pages.jsonl.xz …]
 *
 * Serves real pages (`{url, html}` a line, packed with xz) on loopback, each under as many URLs as are needed, which differ by a number at the end. Links between them lead where they led on the web; others
 * lead out of the crawl. Crawls them with and without an index, in turn, and compares the CPU time of the
 * whole program, all threads included. Then asks the index for words of titles, and prints what half and
 * nine tenths of the answers took.
 */

import { spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { below, randomFrom } from "../src/base/random.ts";
import { textOfResult } from "../src/crawl/search/collections.ts";
import { search } from "../src/search/find.ts";
import { readQuery } from "../src/search/query.ts";
import { IndexReader } from "../src/search/index-reader.ts";
import { Passages } from "../src/search/passage.ts";
import { folderBytes } from "./crawl-load.ts";

const MAIN = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const DATA = ["uic-2018", "uci-ics"].map((name) =>
  fileURLToPath(new URL(`../../shared/data/pages/${name}.pages.jsonl.xz`, import.meta.url)),
);
const SITES = 50;
const PORT = 8_791;
const QUERIES = 300;
const TELL_CPU = `data:text/javascript,${encodeURIComponent(
  "process.on('exit',()=>{const{user,system}=process.cpuUsage();process._rawDebug('CPU '+(user+system))})",
)}`;

interface Corpus {
  readonly file: number;
  readonly starts: readonly number[];
  readonly titles: readonly string[];
}

const [pagesText = "100000", roundsText = "2", ...given] = process.argv.slice(2);
const pages = Number(pagesText);
const scratch = mkdtempSync(join(tmpdir(), "weir-bench-search-"));
try {
  const corpus = unpack(given.length > 0 ? given : DATA, join(scratch, "pages"));
  const server = await serve(corpus);
  const seeds = Array.from({ length: pages }, (_, page) => urlOf(page));
  writeFileSync(join(scratch, "seeds"), seeds.join("\n"));
  const cpu: Record<"without" | "with", number[]> = { without: [], with: [] };
  for (let round = 0; round < Number(roundsText); round++)
    for (const kind of ["without", "with"] as const) {
      const out = join(scratch, kind);
      rmSync(out, { recursive: true, force: true });
      cpu[kind].push(await crawlOnce(out, kind === "with"));
      console.error(`${kind} an index: ${cpu[kind].at(-1)?.toFixed(1)} µs a page`);
    }
  server.close();
  server.closeAllConnections();
  closeSync(corpus.file);
  const least = { without: Math.min(...cpu.without), with: Math.min(...cpu.with) };
  const more = (100 * (least.with / least.without - 1)).toFixed(1);
  console.log(`| | CPU, µs a page |\n|---|--:|`);
  console.log(`| crawl with archive, no index | ${least.without.toFixed(0)} |`);
  console.log(`| crawl with archive and index | ${least.with.toFixed(0)} (${more} % more) |\n`);
  const bytes = folderBytes(join(scratch, "with/search")) / pages;
  const archive = folderBytes(join(scratch, "with/archive")) / pages;
  console.log(
    `Index: ${bytes.toFixed(0)} bytes a page, beside ${archive.toFixed(0)} of archive.\n`,
  );
  ask(corpus, join(scratch, "with"));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** All pages one behind the other in a file, so that no process has to hold them. */
function unpack(files: readonly string[], path: string): Corpus {
  const file = openSync(path, "w+");
  const starts = [0];
  const titles: string[] = [];
  const numbers = new Map<string, number>();
  for (const { url } of pagesIn(files)) numbers.set(plain(url), numbers.size);
  let links = 0;
  const led = (target: string, base: string): string => {
    const number = URL.canParse(target, base) && numbers.get(plain(new URL(target, base).href));
    if (number === undefined || number === false) return target;
    links += 1;
    return urlOf(number);
  };
  for (const { url, html } of pagesIn(files)) {
    const page = html.replaceAll(
      /(<a\s[^>]*?href\s*=\s*)(["'])(.*?)\2/gi,
      (_, before: string, quote: string, target: string) =>
        `${before}${quote}${led(target, url)}${quote}`,
    );
    starts.push((starts.at(-1) ?? 0) + writeSync(file, page));
    titles.push(/<title[^>]*>([^<]*)/i.exec(html)?.[1]?.trim() ?? "");
  }
  const count = titles.length;
  console.error(
    `${count} real pages of ${Math.round((starts.at(-1) ?? 0) / count)} bytes, ${(links / count).toFixed(1)} links between them a page`,
  );
  return { file, starts, titles };
}

function* pagesIn(files: readonly string[]): Generator<{ url: string; html: string }> {
  let count = 0;
  for (const packed of files) {
    const { stdout } = spawnSync("xz", ["-dc", packed], { maxBuffer: 2 ** 31 });
    for (let at = 0; at < stdout.length && count < pages; count++) {
      const found = stdout.indexOf(10, at);
      const end = found < 0 ? stdout.length : found;
      yield JSON.parse(stdout.toString("utf8", at, end)) as { url: string; html: string };
      at = end + 1;
    }
  }
}

/** The same page has many spellings. */
function plain(url: string): string {
  return url
    .replace(/^https?:\/\/(www\.)?/, "")
    .replace(/#.*$/, "")
    .replace(/\/$/, "");
}

async function serve({ file, starts }: Corpus): Promise<ReturnType<typeof createServer>> {
  const server = createServer((request, response) => {
    const page = Number(/^\/weir-bench-(\d+)$/.exec(request.url ?? "")?.[1] ?? Number.NaN);
    if (!(page < pages)) return void response.writeHead(404).end();
    const index = page % (starts.length - 1);
    const start = starts[index] ?? 0;
    const html = Buffer.allocUnsafe((starts[index + 1] ?? 0) - start);
    readSync(file, html, 0, html.length, start);
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.write(html);
    response.end(`<p>number ${page}</p>`);
  });
  await new Promise<void>((resolve) => server.listen(PORT, "0.0.0.0", resolve));
  return server;
}

function urlOf(page: number): string {
  return `http://127.0.1.${1 + (page % SITES)}:${PORT}/weir-bench-${page}`;
}

/** CPU microseconds of the program for each page. */
async function crawlOnce(out: string, withIndex: boolean): Promise<number> {
  const child = spawn(
    process.execPath,
    `--import ${TELL_CPU} ${MAIN} crawl --seeds ${join(scratch, "seeds")} --out ${out}
     --allow-private 127.0.0.0/8 --concurrency-per-site 4 --quiet --json
     ${withIndex ? "--search-index" : "--no-search-index"}`.split(/\s+/),
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (text) => (stdout += String(text)));
  child.stderr.on("data", (text) => (stderr += String(text)));
  await new Promise((resolve) => child.on("close", resolve));
  const done = JSON.parse(stdout || "{}") as { readonly pages?: number };
  if (done.pages !== pages) throw new Error(`${done.pages} of ${pages} pages: ${stderr}`);
  return Number(/CPU (\d+)/.exec(stderr)?.[1]) / pages;
}

/** One to three words of the titles of random pages, as people ask for what they have seen. */
function ask({ titles }: Corpus, folder: string): void {
  using index = new IndexReader(folder);
  const random = randomFrom(1);
  const facets = { site: undefined, language: undefined, topic: undefined };
  const rows: string[] = [];
  for (const [name, count, isPhrase] of [
    ["one word", 1, false],
    ["two words", 2, false],
    ["three words", 3, false],
    ["a phrase of two", 2, true],
  ] as const) {
    const [tookMs, shownMs, totals]: [number[], number[], number[]] = [[], [], []];
    while (tookMs.length < QUERIES) {
      const words = (titles[below(random, titles.length)] ?? "").match(/[\p{L}\p{N}]+/gu) ?? [];
      const chosen = words.slice(below(random, words.length)).slice(0, count);
      const query =
        chosen.length < count
          ? undefined
          : readQuery(isPhrase ? `"${chosen.join(" ")}"` : chosen.join(" "));
      if (query === undefined) continue;
      const startedAtMs = performance.now();
      const found = search([{ folder, index }], { query, facets, countMax: 10 });
      tookMs.push(performance.now() - startedAtMs);
      using passages = new Passages(query, index.stemming);
      for (const result of found.results) passages.best(textOfResult(result) ?? "", 34);
      shownMs.push(performance.now() - startedAtMs);
      totals.push(found.total);
    }
    const cells = [
      half(totals, 0.5),
      half(tookMs, 0.5),
      half(tookMs, 0.9),
      half(shownMs, 0.5),
      half(shownMs, 0.9),
    ];
    rows.push(`| ${name} | ${cells.join(" | ")} |`);
  }
  console.log(
    `| query | pages that match | found, ms | 9 in 10 | shown, ms | 9 in 10 |\n|---|--:|--:|--:|--:|--:|`,
  );
  console.log(rows.join("\n"));
}

function half(values: readonly number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.floor(sorted.length * share)] ?? 0;
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}
