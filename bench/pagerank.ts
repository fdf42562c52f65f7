/**
 * PageRank of what a crawl has seen, at five million pages and fifty million links: memory, and how long a
 * crawl would be held up.
 *
 * Usage: node bench/pagerank.ts [nodes]
 *
 * Half of the pages are crawled, with 20 links each: nine of ten to pages found near by, the others anywhere, by
 * the power law of in-links on the web (exponent 2.1, Broder et al. 2000). After every 20 pages the ranks get
 * one step, which is what a crawl of 100 pages a second can give five times a second. Times of single steps are by the
 * clock, the others CPU of this thread.
 */

import { below, type Random, randomFrom } from "../src/base/random.ts";
import { SeenRanks } from "../src/frontier/pagerank-seen.ts";
import { pageRank } from "../src/frontier/pagerank.ts";

const LINKS = 20;
const PAGES_PER_STEP = 20;
const WORK_MAX = 200_000;
/** In-degrees with exponent 2.1 fall with the rank as rank^-(1 / 1.1); this is 1 less 1 / 1.1. */
const RANK_SKEW = 1 - 1 / 1.1;

const nodes = Number(process.argv[2] ?? 5_000_000);
const pages = nodes / 2;
const rssBefore = process.memoryUsage().rss;
const ranks = new SeenRanks({
  nodesMax: nodes,
  linkBytesMax: 4 * pages * (LINKS + 4) + 4e6,
});

const random = randomFrom(1);
const times: number[] = [];
let noteMs = 0;
let stepMs = 0;
let worstCpuMs = 0;
for (let page = 0; page < pages; page++) {
  const targets = Array.from({ length: LINKS }, () => targetOf(random, page));
  const startedAtMs = cpuMs();
  ranks.putLinks(page, targets);
  noteMs += cpuMs() - startedAtMs;
  if (page % PAGES_PER_STEP === 0) step();
}
const crawlStepMs = stepMs;
const crawlSteps = times.length;
// Once more from where the ranks stand: as if a tenth of all pages had come again, unchanged.
const later = randomFrom(1);
for (let page = 0; page < pages / 10; page++)
  ranks.putLinks(
    page,
    Array.from({ length: LINKS }, () => targetOf(later, page)),
  );
while (step());
const lastMs = stepMs - crawlStepMs;
times.sort((a, b) => a - b);

const rows: readonly (readonly [string, string])[] = [
  ["nodes", ranks.nodes.toLocaleString("en")],
  ["links", ranks.links.toLocaleString("en")],
  ["memory of the ranks", `${(ranks.bytes / 1e6).toFixed(0)} MB`],
  [
    "RSS more than at the start",
    `${((process.memoryUsage().rss - rssBefore) / 1e6).toFixed(0)} MB`,
  ],
  ["noting a page", `${((noteMs * 1000) / pages).toFixed(2)} us`],
  ["steps, per page", `${((crawlStepMs * 1000) / pages).toFixed(1)} us`],
  ["a step, median", `${(times[Math.floor(times.length / 2)] ?? 0).toFixed(2)} ms`],
  ["a step, p99", `${(times[Math.floor(times.length * 0.99)] ?? 0).toFixed(2)} ms`],
  ["a step, worst", `${(times.at(-1) ?? 0).toFixed(2)} ms`],
  ["the same, CPU alone", `${worstCpuMs.toFixed(2)} ms`],
  ["refreshing once all is there", `${lastMs.toFixed(0)} ms in ${times.length - crawlSteps} steps`],
];
for (const [what, value] of rows) console.log(what.padEnd(32), value);

const { apart, seconds } = compareWithExact();
console.log("mean distance from exact ranks".padEnd(32), `${(100 * apart).toFixed(2)} %`);
console.log("exact ranks, from nothing".padEnd(32), `${seconds.toFixed(1)} s`);

function step(): boolean {
  const startedAtMs = performance.now();
  const startedAtCpuMs = cpuMs();
  const more = ranks.step(WORK_MAX);
  const ownMs = cpuMs() - startedAtCpuMs;
  stepMs += ownMs;
  worstCpuMs = Math.max(worstCpuMs, ownMs);
  times.push(performance.now() - startedAtMs);
  return more;
}

function targetOf(chance: Random, page: number): number {
  const seen = Math.min(nodes, 2 * page + 2);
  if (chance.next() < 0.9) return Math.max(0, seen - 1 - below(chance, 2000));
  const place = (1 + chance.next() * ((seen + 1) ** RANK_SKEW - 1)) ** (1 / RANK_SKEW);
  return Math.min(seen, Math.floor(place)) - 1;
}

/** The same pages again, as a finished graph. */
function compareWithExact(): { readonly apart: number; readonly seconds: number } {
  const again = randomFrom(1);
  const offsets = new Uint32Array(nodes + 1);
  const targets = new Uint32Array(pages * LINKS);
  let end = 0;
  for (let page = 0; page < nodes; page++) {
    if (page < pages)
      for (let link = 0; link < LINKS; link++) {
        const target = targetOf(again, page);
        if (target !== page) targets[end++] = target;
      }
    offsets[page + 1] = end;
  }
  const startedAtMs = cpuMs();
  const exact = pageRank({ offsets, targets: targets.subarray(0, end) });
  const seconds = (cpuMs() - startedAtMs) / 1000;
  let sum = 0;
  for (let node = 0; node < nodes; node++)
    sum += Math.abs(ranks.scoreOf(node) - (exact[node] as number) * nodes);
  return { apart: sum / nodes, seconds };
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
