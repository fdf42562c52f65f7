import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { REAL_WEBS, realWeb } from "../lab/real-web.ts";
import { type LinkGraph, pageRank, RANK_OPTIONS } from "./pagerank.ts";
import { SeenRanks } from "./pagerank-seen.ts";

const LIMITS = { nodesMax: 10_000, linkBytesMax: 1e6 };
/** Remaining error when sweeps change ranks by 0.1 % of their mean: d / (1 − d) times that. */
const APART_MAX = (1e-3 * 0.85) / 0.15;

function graphOf(links: readonly (readonly number[])[]): LinkGraph {
  const offsets = [0];
  for (const targets of links) offsets.push((offsets.at(-1) as number) + targets.length);
  return { offsets, targets: links.flat() };
}

function randomLinks(seed: number, nodes: number): number[][] {
  const random = randomFrom(seed);
  return Array.from({ length: nodes }, (_, node) => {
    if (random.next() < 0.3) return [];
    const targets = new Set<number>();
    for (let link = below(random, 8); link >= 0; link--)
      targets.add(Math.floor(nodes * random.next() ** 3));
    targets.delete(node);
    return [...targets];
  });
}

/** The definition of PageRank, as a dense matrix. */
function dense(links: readonly (readonly number[])[]): number[] {
  const nodes = links.length;
  let ranks = links.map(() => 1 / nodes);
  for (let sweep = 0; sweep < 300; sweep++)
    ranks = ranks.map((_, to) => {
      let sum = 0.15 / nodes;
      for (const [from, targets] of links.entries()) {
        const times = targets.filter((target) => target === to).length;
        const follows = targets.length === 0 ? 1 / nodes : times / targets.length;
        sum += 0.85 * follows * (ranks[from] as number);
      }
      return sum;
    });
  return ranks;
}

function settle(ranks: SeenRanks, workMax = 1000): number {
  let steps = 1;
  while (ranks.step(workMax)) steps += 1;
  return steps;
}

/** The mean difference of ranks whose mean is 1. */
function apart(seen: SeenRanks, links: readonly (readonly number[])[]): number {
  const exact = pageRank(graphOf(links));
  return exact.reduce(
    (sum, rank, node) => sum + Math.abs(seen.scoreOf(node) - rank * exact.length) / exact.length,
    0,
  );
}

test("the ranks of two pages that both link to a third equal those computed by hand", () => {
  // c receives rank from a and b; from c the random surfer jumps. x = (1 − 2·0.85·x) / 3 for a and b.
  const x = 1 / (3 + 2 * 0.85);
  const [a, b, c] = pageRank(graphOf([[2], [2], []]));
  for (const [got, wanted] of [
    [a, x],
    [b, x],
    [c, 1 - 2 * x],
  ] as const)
    assert.ok(Math.abs((got as number) - wanted) < 1e-9, `${got}, not ${wanted}`);
});

test("pages in a ring are equal, and an empty graph has no ranks", () => {
  for (const rank of pageRank(graphOf([[1], [2], [0]]))) assert.ok(Math.abs(rank - 1 / 3) < 1e-12);
  assert.equal(pageRank({ offsets: [0], targets: [] }).length, 0);
});

test("ranks follow the definition, and add up to 1", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const links = randomLinks(seed, 5 + seed * 2);
    const ranks = pageRank(graphOf(links), { ...RANK_OPTIONS, changeMax: 1e-13, sweepsMax: 1000 });
    for (const [node, rank] of dense(links).entries())
      assert.ok(Math.abs((ranks[node] as number) - rank) < 1e-10, `seed ${seed}, node ${node}`);
    assert.ok(Math.abs(ranks.reduce((sum, rank) => sum + rank, 0) - 1) < 1e-9, `seed ${seed}`);
  }
});

test("a new page gets the votes of the page that links to it at once", () => {
  const ranks = new SeenRanks(LIMITS);
  assert.equal(ranks.scoreOf(7), 1 - 0.85);
  ranks.putLinks(0, [1, 2]);
  assert.ok(ranks.scoreOf(1) > ranks.scoreOf(7));
  ranks.putLinks(3, [1]);
  assert.ok(ranks.scoreOf(1) > ranks.scoreOf(2));
  assert.deepEqual([ranks.nodes, ranks.links], [4, 3]);
});

test("ranks of seen pages converge to those of the finished graph, with any steps in between", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = randomFrom(seed);
    const links = randomLinks(seed, 400);
    const ranks = new SeenRanks(LIMITS);
    // The last node is known from the start, so that both graphs have the same nodes.
    ranks.putLinks(399, []);
    for (const [node, targets] of links.entries()) {
      ranks.putLinks(node, targets);
      if (random.next() < 0.2) ranks.step(1 + below(random, 200));
    }
    settle(ranks);
    // A refresh that was running may have missed the last pages: another one is triggered.
    for (const [node, targets] of links.entries()) ranks.putLinks(node, targets);
    settle(ranks);
    const difference = apart(ranks, links);
    assert.ok(difference <= APART_MAX, `seed ${seed}: ${difference}`);
  }
});

test("the links of a page may change, also to more than before", () => {
  const links = randomLinks(1, 300);
  const ranks = new SeenRanks(LIMITS);
  ranks.putLinks(299, []);
  for (const [node] of links.entries()) ranks.putLinks(node, [(node + 1) % 300]);
  settle(ranks);
  for (const [node, targets] of links.entries()) ranks.putLinks(node, targets);
  assert.equal(ranks.links, links.flat().length);
  settle(ranks);
  assert.ok(apart(ranks, links) <= APART_MAX);
});

test("votes for unknown pages are spread evenly over all", () => {
  const ranks = new SeenRanks(LIMITS);
  ranks.putLinks(0, [1], 3);
  ranks.putLinks(1, [1, 0]);
  settle(ranks);
  // f + 0.85·b and f + 0.85·a / 4 for a and b, where f makes them 2 together.
  assert.ok(Math.abs(ranks.scoreOf(0) - 1.20816) < 2 * APART_MAX, `${ranks.scoreOf(0)}`);
  assert.ok(Math.abs(ranks.scoreOf(1) - 0.79184) < 2 * APART_MAX, `${ranks.scoreOf(1)}`);
});

test("a step processes no more than requested, except to finish a page", () => {
  const ranks = new SeenRanks(LIMITS);
  for (let node = 0; node < 100; node++) ranks.putLinks(node, [(node + 1) % 100, (node + 7) % 100]);
  // A sweep has 100 pages of 2 links, each page costs 2 more, and 100 nodes.
  const steps = settle(ranks, 50);
  assert.ok(steps >= (400 + 100) / 50, `${steps} steps`);
});

test("ranks at rest need no steps until the links have grown by more than 5 %", () => {
  const ranks = new SeenRanks(LIMITS);
  for (let node = 0; node < 100; node++) ranks.putLinks(node, [node + 1]);
  settle(ranks);
  for (let node = 200; node < 205; node++) ranks.putLinks(node, [0]);
  assert.equal(ranks.step(10), false);
  ranks.putLinks(205, [0]);
  assert.equal(ranks.step(10), true);
});

test("pages and links beyond the limits are ignored", () => {
  const ranks = new SeenRanks({ nodesMax: 50, linkBytesMax: 4 * 5 * 20 });
  for (let node = 0; node < 100; node++) ranks.putLinks(node, [(node + 1) % 100]);
  settle(ranks);
  assert.equal(ranks.nodes, 50);
  assert.ok(ranks.links < 20);
  assert.equal(ranks.scoreOf(80), ranks.scoreOf(1000));
  assert.ok(ranks.scoreOf(5) > ranks.scoreOf(80));
});

test("a log of many chunks loses no link", () => {
  const nodes = 300_000;
  const ranks = new SeenRanks({ nodesMax: nodes, linkBytesMax: 64e6 });
  const random = randomFrom(3);
  const links: number[][] = [];
  for (let node = 0; node < nodes; node++) {
    const targets = Array.from({ length: below(random, 16) }, () => below(random, nodes));
    links.push([...new Set(targets)].filter((target) => target !== node));
    ranks.putLinks(node, links[node] as number[]);
  }
  ranks.putLinks(nodes - 1, links[nodes - 1] as number[]);
  assert.equal(
    ranks.links,
    links.reduce((sum, { length }) => sum + length, 0),
  );
  settle(ranks, 100_000);
  assert.ok(apart(ranks, links) <= APART_MAX);
});

for (const name of REAL_WEBS)
  test(`ranks of the pages seen of ${name} are those of its finished graph`, (t) => {
    const web = realWeb(name);
    if (web === undefined) return t.skip("needs ../shared/data and xz");
    const { pageCount, offsets, targets } = web;
    const links = Array.from({ length: pageCount }, (_, page) => [
      ...targets.subarray(offsets[page], offsets[page + 1]),
    ]);
    const ranks = new SeenRanks({ nodesMax: pageCount, linkBytesMax: 64e6 });
    for (const [page, found] of links.entries()) {
      ranks.putLinks(page, found);
      if (page % 16 === 0) ranks.step(2000);
    }
    for (const [page, found] of links.entries()) ranks.putLinks(page, found);
    settle(ranks, 100_000);
    // The running refresh has ended; the next one includes all links.
    for (const [page, found] of links.entries()) ranks.putLinks(page, found);
    settle(ranks, 100_000);
    const difference = apart(ranks, links);
    assert.ok(difference <= APART_MAX, `${difference}`);
  });
