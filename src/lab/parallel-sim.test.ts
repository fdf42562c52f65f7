import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import { GraphBuilder, type GraphWeb, inLinksOf, mostLinked, partOf } from "./graph-web.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { ExchangeCrawl, PLAIN_RULES, popularIn } from "./parallel-exchange-sim.ts";
import { crawlForQuality, importanceIn } from "./parallel-quality-sim.ts";
import {
  crawlCrossing,
  crawlFirewalled,
  type Division,
  divide,
  drawSeedsEach,
  drawSeedsInAll,
} from "./parallel-sim.ts";
import { syntheticWeb } from "./synthetic-web.ts";

/** Builds a web from lines like "a1 a2 b1": page a1 of site a links to a2 and b1. */
function webOf(...lines: readonly string[]): GraphWeb {
  const rows = lines.map((line) => line.split(" "));
  const names = rows.map(([page = ""]) => page);
  const builder = new GraphBuilder(names.length, 0);
  for (const [, ...targets] of rows) {
    builder.beginPage();
    for (const target of targets) builder.link(names.indexOf(target));
  }
  return builder.web(
    "by hand",
    names.map((name) => `http://${name.charAt(0)}.org/${name}` as CanonicalUrl),
  );
}

/** Similar to a figure in the paper: sites a and b, each with pages linked only from the other. */
const PAPER_WEB = webOf("a1 a2", "a2 b1 a4", "a3", "a4 a1", "b1 b2", "b2 a3 b1");
const TWO: Division = {
  procs: 2,
  names: ["p0", "p1"],
  owners: Uint16Array.from([0, 0, 0, 0, 1, 1]),
};

test("in firewall mode, pages linked only from other processes' pages are missed", () => {
  // a3 is linked only from b2.
  assert.equal(crawlFirewalled(PAPER_WEB, TWO, [[0], [4]]), 5);
  assert.equal(crawlFirewalled(PAPER_WEB, TWO, [[0], []]), 3);
});

test("cross-over mode fetches all pages, some of them twice", () => {
  const points = crawlCrossing(PAPER_WEB, TWO, [[0], []], { every: 0.01, overlapMax: 9 });
  assert.deepEqual(points.at(-1), { coverage: 1, overlap: 0 });
  const both = crawlCrossing(PAPER_WEB, TWO, [[0], [4]], { every: 0.01, overlapMax: 9 });
  // After three turns only a3 is missing; then p0 fetches b1 and p1 fetches a3.
  assert.equal(both.at(-1)?.coverage, 1);
  assert.ok((both.at(-1)?.overlap ?? 0) > 0);
});

test("exchange mode fetches all pages once, and sends one URL per link between processes", () => {
  const exchanged = new ExchangeCrawl(PAPER_WEB, TWO, PLAIN_RULES).run([[0], []]);
  assert.equal(exchanged.coverage, 1);
  assert.equal(exchanged.overlap, 0);
  // The links a2 to b1 and b2 to a3, divided by six pages.
  assert.equal(exchanged.overhead, 2 / 6);
});

test("popular pages are not sent, and their owners start with them", () => {
  const popular = popularIn(PAPER_WEB, 1);
  // b1 has two links, the others one; ties are in the order of pages.
  assert.deepEqual([...mostLinked(inLinksOf(PAPER_WEB), 2)], [4, 0]);
  const crawl = new ExchangeCrawl(PAPER_WEB, TWO, { ...PLAIN_RULES, popular });
  const { coverage, overhead } = crawl.run([[], []]);
  // b1, b2 and a3 are fetched; only a3 was sent.
  assert.deepEqual([coverage, overhead], [1 / 2, 1 / 3]);
});

test("exchange mode fetches the same pages once under every partition and every memory rule", () => {
  for (let seed = 1; seed <= 4; seed++) {
    const web = syntheticWeb(seed, 3000);
    const one = divide(web, "site-hash", 1);
    const alone = new ExchangeCrawl(web, one, PLAIN_RULES).run(
      drawSeedsInAll(randomFrom(seed), one, 20),
    );
    for (const kind of ["site-hash", "url-hash"] as const)
      for (const procs of [2, 7, 64])
        for (const rules of [
          PLAIN_RULES,
          { ...PLAIN_RULES, batchPages: 50 },
          { ...PLAIN_RULES, remembers: "all" } as const,
          { ...PLAIN_RULES, finders: 100 },
        ]) {
          const division = divide(web, kind, procs);
          const seeds = drawSeedsInAll(randomFrom(seed), division, 20);
          const found = new ExchangeCrawl(web, division, rules).run(seeds);
          const name = `seed ${seed}, ${kind}, ${procs}, ${JSON.stringify(rules)}`;
          assert.equal(found.downloads, alone.downloads, name);
          assert.equal(found.coverage, alone.coverage, name);
          assert.equal(found.overlap, 0, name);
        }
  }
});

test("batches and memory never increase the URLs sent, and an owner does not send its own pages", () => {
  const web = syntheticWeb(5, 3000);
  const one = divide(web, "site-hash", 1);
  const seeds = drawSeedsInAll(randomFrom(1), one, 20);
  assert.equal(new ExchangeCrawl(web, one, PLAIN_RULES).run(seeds).overhead, 0);
  const division = divide(web, "site-hash", 8);
  const parted = drawSeedsInAll(randomFrom(1), division, 20);
  const overheads = [
    PLAIN_RULES,
    { ...PLAIN_RULES, batchPages: 50 },
    { ...PLAIN_RULES, batchPages: 50, remembers: "all" } as const,
  ].map((rules) => new ExchangeCrawl(web, division, rules).run(parted).overhead);
  assert.deepEqual(
    overheads,
    overheads.toSorted((a, b) => b - a),
  );
});

test("seeds belong to their processes, and do not depend on the partition", () => {
  const web = syntheticWeb(2, 2000);
  const division = divide(web, "site-hash", 16);
  const each = drawSeedsEach(randomFrom(1), division, 5);
  assert.ok(each.every((pages) => pages.length === 5 && new Set(pages).size === 5));
  for (const [proc, pages] of each.entries())
    for (const page of pages) assert.equal(division.owners[page], proc);
  const some = drawSeedsInAll(randomFrom(1), division, 40).flat();
  const same = drawSeedsInAll(randomFrom(1), divide(web, "url-hash", 3), 40).flat();
  assert.deepEqual(some.toSorted(), same.toSorted());
});

test("exchanging links improves quality, and the URLs sent are counted", () => {
  // b1 has three links from other processes, a2 one from its own process.
  const web = webOf("a1 a2 b1", "a2 b1", "a3 b1", "b1 a3", "b2");
  const division: Division = { ...TWO, owners: Uint16Array.from([0, 0, 0, 1, 1]) };
  const importance = importanceIn(web, "all");
  const crawl = (exchanges: number, pages: number) =>
    crawlForQuality(web, division, [[0], [4]], { pages, exchanges, importance });
  // The best page is b1, which p1 never learns of; a2 and a3 are tied for second place.
  assert.deepEqual(crawl(0, 1), { downloads: 1, quality: 0, overhead: 0 });
  assert.deepEqual(crawl(0, 3), { downloads: 3, quality: 1 / 3, overhead: 0 });
  // p1 learns of b1 after the first page, p0 of a3 after the second.
  assert.deepEqual(crawl(2, 3), { downloads: 3, quality: 2 / 3, overhead: 2 / 3 });
});

test('links within a site do not count with "between sites"', () => {
  const web = webOf("a1 a2 b1", "a2 a1", "a3 a2", "b1 a3");
  assert.deepEqual([...inLinksOf(web)], [1, 2, 1, 1]);
  assert.deepEqual([...inLinksOf(web, "between sites")], [0, 0, 1, 1]);
});

test("a part of a web keeps the links among its pages", () => {
  const part = partOf(PAPER_WEB, "a", (page) => page < 4);
  assert.deepEqual([...part.offsets], [0, 1, 2, 2, 3]);
  assert.deepEqual([...part.targets], [1, 3, 0]);
  assert.deepEqual(part.urls, PAPER_WEB.urls.slice(0, 4));
});
