import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryStore } from "../store/sqlite/store-sqlite.ts";
import { NO_TOTALS } from "../store/store.ts";
import { emptyBatch, makePage, makeSite, makeUrl } from "../store/store.suite.ts";
import { linkGraphOf, linksTo } from "./link-graph.ts";
import { mirrorsIn } from "./mirrors.ts";
import { topicFigures } from "./topic-figures.ts";
import { fingerprintOf } from "../url/fingerprint.ts";

/** A URL with its real fingerprint, by which pages name it in their links. */
function known(id: number, siteId: number) {
  const url = makeUrl(id, siteId, 0);
  const { high, low } = fingerprintOf(url.url as Parameters<typeof fingerprintOf>[0]);
  return { ...url, fingerprintHigh: high, fingerprintLow: low };
}

function linksOf(urls: readonly { fingerprintHigh: number; fingerprintLow: number }[]): Uint8Array {
  const links = Buffer.alloc(8 * urls.length);
  for (const [index, { fingerprintHigh, fingerprintLow }] of urls.entries()) {
    links.writeUInt32BE(fingerprintHigh, 8 * index);
    links.writeUInt32BE(fingerprintLow, 8 * index + 4);
  }
  return new Uint8Array(links);
}

test("the graph has the links between known URLs, by source, and counts links to each", async () => {
  const store = openMemoryStore();
  const urls = [1, 2, 3, 4].map((id) => known(id, 1));
  const [first, second, third] = urls as [(typeof urls)[0], (typeof urls)[0], (typeof urls)[0]];
  const stranger = known(99, 1);
  store.commit({
    ...emptyBatch(),
    sites: [makeSite(1)],
    urls,
    settled: [1, 2].map((id) => ({ id, reason: "ok", attempts: 1 })),
    pages: [
      { ...makePage(1, 2), links: linksOf([third, stranger, second]) },
      { ...makePage(2, 4), links: linksOf([third, first]) },
    ],
    totals: { ...NO_TOTALS, known: 4, done: 2, pages: 2 },
  });
  const graph = linkGraphOf(store);
  assert.deepEqual([...graph.offsets], [0, 2, 4, 4, 4]);
  assert.deepEqual([...graph.targets], [2, 1, 2, 0]);
  assert.deepEqual([...linksTo(graph)], [1, 1, 2, 0]);
  await store.close();
});

test("topics are counted by where pages came from, and locality by links between judged pages", async () => {
  const store = openMemoryStore();
  const urls = [1, 2, 3].map((id) => known(id, 1));
  store.commit({
    ...emptyBatch(),
    sites: [makeSite(1)],
    urls,
    settled: [1, 2, 3].map((id) => ({ id, reason: "ok", attempts: 1 })),
    pages: [1, 2, 3].map((id) => ({ ...makePage(id, 2 * id), links: linksOf(urls) })),
    topics: [
      { id: 1, topic: "science", confidence: 0.9, from: "" },
      { id: 2, topic: "science", confidence: 0.8, from: "p2" },
      { id: 3, topic: "", confidence: 0, from: "" },
    ],
    totals: { ...NO_TOTALS, known: 3, done: 3, pages: 3 },
  });
  const { byTopic, locality, model } = topicFigures([store], "m");
  assert.equal(model, "m");
  assert.deepEqual(byTopic, {
    science: { own: 1, imported: 1 },
    unjudged: { own: 1, imported: 0 },
  });
  // Each of the three pages links to all three: 2 × 2 links within science, 1 of the third to itself.
  assert.equal(locality, 5 / 9);
  await store.close();
});

test("a site with most of its pages on a larger one is its mirror", async () => {
  const count = 12;
  const store = openMemoryStore();
  const ids = Array.from({ length: 2 * count }, (_, index) => index + 1);
  store.commit({
    ...emptyBatch(),
    sites: [makeSite(1, { pages: count + 5 }), makeSite(2, { pages: count })],
    urls: ids.map((id) => makeUrl(id, id <= count ? 1 : 2, 0)),
    settled: ids.map((id) => ({ id, reason: "ok", attempts: 1 })),
    pages: ids.map((id) => ({
      ...makePage(id, 2),
      likeness: id <= count ? undefined : ({ kind: "exact", ofId: id - count } as const),
    })),
    totals: { ...NO_TOTALS, known: 24, done: 24, pages: 24, duplicatesExact: count },
  });
  const [mirror, ...others] = mirrorsIn(store);
  const { key: larger } = makeSite(1);
  const { key: smaller } = makeSite(2);
  assert.deepEqual(mirror, { site: smaller, of: larger, pagesShared: count, share: 1 });
  assert.deepEqual(others, []);
  await store.close();
});
