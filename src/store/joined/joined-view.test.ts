import assert from "node:assert/strict";
import { test } from "node:test";
import { Counters } from "../../crawl/counters.ts";
import type { Reason } from "../../page/outcome.ts";
import type { PageRecord } from "../../page/page.ts";
import { fingerprintOf } from "../../url/fingerprint.ts";
import { joinStores, type StorePart } from "./joined-view.ts";
import { NO_TOTALS, type Fingerprints, type NewUrl, type SiteRow } from "../store.ts";
import { openMemoryStore } from "../sqlite/store-sqlite.ts";
import { assertAccounts, emptyBatch, makePage, makeSite } from "../store.suite.ts";

/** A URL of a site and its outcome; fetched URLs have a page. */
interface Row {
  readonly url: string;
  readonly reason: Reason | undefined;
  readonly from?: number;
}

const A = "http://a.example";
const B = "http://b.example";

/** A store of one process, with URLs numbered in the order of `rows`. */
function part(
  name: string,
  rows: readonly Row[],
  bytes: Readonly<Record<string, number>>,
): StorePart {
  const store = openMemoryStore();
  const keys = [...new Set(rows.map(({ url }) => new URL(url).origin))];
  const urls = rows.map(({ url, from = 0 }, index): NewUrl => {
    const { high: fingerprintHigh, low: fingerprintLow } = fingerprintOf(url);
    const siteId = 1 + keys.indexOf(new URL(url).origin);
    const known = { id: index + 1, url, siteId, depth: 1, score: index, redirects: 0 };
    return {
      ...known,
      written: undefined,
      fingerprintHigh,
      fingerprintLow,
      redirectedFromId: from,
    };
  });
  const tally = new Counters(NO_TOTALS);
  const pages: PageRecord[] = [];
  for (const [index, { reason }] of rows.entries()) {
    tally.found();
    if (reason !== undefined) tally.settled(reason);
    if (reason !== "ok") continue;
    const page = makePage(index + 1, 10 * name.length + index + 1);
    pages.push(page);
    tally.stored(page, undefined);
  }
  const sites = keys.map((key, index): SiteRow => {
    const own = rows.filter(({ url }) => new URL(url).origin === key);
    const count = (is: (row: Row) => boolean): number => own.filter(is).length;
    return makeSite(index + 1, {
      key,
      known: own.length,
      pending: count(({ reason }) => reason === undefined),
      pages: count(({ reason }) => reason === "ok"),
      bytes: bytes[key] ?? 0,
      ledger: { page: bytes[key] ?? 0 },
    });
  });
  store.commit({
    ...emptyBatch(),
    sites,
    urls,
    settled: rows.flatMap(({ reason }, index) =>
      reason === undefined ? [] : [{ id: index + 1, reason, attempts: 1 }],
    ),
    pages,
    topics: pages.map(({ id }) => ({ id, topic: name, confidence: id / 8, from: "" })),
    totals: { ...tally.totals(1000 * name.length), bytes: 5, ledger: { page: 5 } },
    marks: { "weir-00001.warc.gz": 100 * name.length },
  });
  store.remember("userAgent", "weir");
  return { name, store };
}

/** Two processes that sent links to each other; both fetched one page, and one fetched a page it does not own. */
function twoParts(): StorePart[] {
  return [
    part(
      "one",
      [
        { url: `${A}/1`, reason: "ok" },
        { url: `${B}/1`, reason: "sent" },
        { url: `${A}/2`, reason: "redirect" },
        { url: `${A}/3`, reason: undefined, from: 3 },
        { url: `${B}/2`, reason: "ok" },
        { url: `${B}/9`, reason: "sent" },
      ],
      { [A]: 300, [B]: 50 },
    ),
    part(
      "three",
      [
        { url: `${B}/1`, reason: "ok" },
        { url: `${A}/1`, reason: "moved_away" },
        { url: `${B}/2`, reason: "ok" },
        { url: `${A}/3`, reason: "http_404" },
        { url: `${B}/3`, reason: undefined },
      ],
      { [A]: 20, [B]: 400 },
    ),
  ];
}

test("a URL is listed once: at its owner, or at the first of several processes that fetched it", () => {
  const joined = joinStores(twoParts());
  const rows = [...joined.urls()];
  assert.deepEqual(
    rows.map(({ url, reason, id }) => [url, reason, id]),
    [
      [`${A}/1`, "ok", 1],
      [`${A}/2`, "redirect", 2],
      [`${B}/2`, "ok", 3],
      [`${B}/1`, "ok", 4],
      [`${A}/3`, "http_404", 5],
      [`${B}/3`, undefined, 6],
    ],
  );
  for (const row of rows) assert.deepEqual(joined.url(row.id), row);
  assert.deepEqual(
    rows.map(({ siteId }) => siteId),
    [1, 1, 2, 2, 1, 2],
  );
  // Unlisted rows have higher numbers, because listed rows may refer to them.
  assert.deepEqual(
    [7, 11, 12].map((id) => joined.url(id)?.reason ?? joined.url(id)),
    ["sent", "ok", undefined],
  );
  assert.deepEqual(
    Array.from(joined.pages(), ({ id }) => id),
    [1, 3, 4],
  );
  assert.deepEqual(joined.page(5), undefined);
});

test("totals are the sums over the listed rows, and all bytes received", () => {
  const { totals, ...joined } = both();
  assert.deepEqual(totals.outcomes, { ok: 3, redirect: 1, http_404: 1 });
  const { known, done, failed, skipped, pages, bytes, crawledMs } = totals;
  assert.deepEqual([known, done, failed, skipped, pages], [6, 4, 1, 0, 3]);
  assert.deepEqual([bytes, totals.ledger, crawledMs], [10, { page: 10 }, 5000]);
  assert.deepEqual([totals.duplicatesExact, totals.remarks], [3, { nofollow: 1, truncated: 1 }]);
  assertAccounts(joined.store, "two parts");
  const sites = [...joined.store.sites()];
  assert.deepEqual(
    sites.map(({ id, key, known: urls, pending, pages: got }) => [id, key, urls, pending, got]),
    [
      [1, A, 3, 0, 1],
      [2, B, 3, 1, 2],
    ],
  );
  assert.deepEqual(sites[1]?.ledger, { page: 450 });
  assert.deepEqual(joined.store.siteByKey(B), sites[1]);
});

test("numbers and file names map back to the store they are from", () => {
  const { store } = both();
  const ids = store.lookup(
    fingerprintsOf([`${A}/1`, `${B}/1`, `${B}/2`, `${A}/3`, `${B}/9`, `${A}/7`]),
  );
  assert.deepEqual([...ids], [1, 4, 3, 5, 0, 0]);
  const [first, , second] = store.pages();
  assert.equal(first?.archived?.file, "one/archive/weir-00001.warc.gz");
  assert.equal(second?.archived?.file, "three/archive/weir-00001.warc.gz");
  // Each is a duplicate of the first page of its own store.
  assert.deepEqual([first?.likeness?.ofId, second?.likeness?.ofId], [1, 4]);
  assert.deepEqual(store.marks, {
    "one/archive/weir-00001.warc.gz": 300,
    "three/archive/weir-00001.warc.gz": 500,
  });
  const seqs = Array.from(store.pagesAfter(0), ({ seq }) => seq);
  assert.deepEqual(seqs, [1, 2, 3]);
  assert.equal(store.lastPageSeq, 4);
  for (const after of [0, 1, 2, 3, 4, 5])
    assert.deepEqual(
      Array.from(store.pagesAfter(after), ({ seq }) => seq),
      seqs.filter((seq) => seq > after),
    );
  assert.equal(store.recall("userAgent"), "weir");
  assert.equal(store.recall("nothing"), undefined);
});

test("topics are those of the listed pages, under their numbers", () => {
  const { store } = both();
  const topics = [...store.pageTopics()];
  assert.deepEqual(
    topics.map(({ id, topic, confidence }) => [id, topic, confidence]),
    [
      [1, "one", 1 / 8],
      [3, "one", 5 / 8],
      [4, "three", 1 / 8],
    ],
  );
  for (const topic of topics) assert.deepEqual(store.topicOf(topic.id), topic);
  assert.deepEqual([store.topicOf(2), store.topicOf(99)], [undefined, undefined]);
  // The topic of an unlisted page can still be queried.
  assert.deepEqual(store.topicOf(11), { id: 11, topic: "three", confidence: 3 / 8, from: "" });
});

test("a page that was handed over is listed at its new owner", () => {
  const exporter = part("one", [{ url: `${A}/1`, reason: "exported" }], {});
  const importer = part("three", [{ url: `${A}/1`, reason: "ok" }], {});
  for (const parts of [
    [exporter, importer],
    [importer, exporter],
  ]) {
    const store = joinStores(parts);
    assert.deepEqual(
      Array.from(store.urls(), ({ reason }) => reason),
      ["ok"],
    );
    assert.deepEqual(store.totals.outcomes, { ok: 1 });
    assert.deepEqual(store.topicOf(1)?.topic, "three");
    assertAccounts(store, "handed over");
  }
});

function both(): { store: ReturnType<typeof joinStores>; totals: typeof NO_TOTALS } {
  const store = joinStores(twoParts());
  return { store, totals: store.totals };
}

function fingerprintsOf(urls: readonly string[]): Fingerprints {
  const all = urls.map(fingerprintOf);
  return {
    high: Uint32Array.from(all, ({ high }) => high),
    low: Uint32Array.from(all, ({ low }) => low),
    count: all.length,
  };
}
