/**
 * The promises of `Store` as tests, which the test file of each adapter runs.
 *
 * First simple examples, then random batches compared with a trivial model, with the store reopened in
 * between. A failure names its seed.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { BrokenPromise } from "../base/assert.ts";
import { CrawlError } from "../base/errors.ts";
import type { ErrorCode } from "../base/errors.ts";
import { below, pick, randomFrom } from "../base/random.ts";
import type { Random } from "../base/random.ts";
import { settlementOf } from "../page/outcome.ts";
import type { Reason } from "../page/outcome.ts";
import type { PageRecord } from "../page/page.ts";
import type { Visits } from "../page/visits.ts";
import { NO_TOTALS } from "./store.ts";
import type { ReadableStore } from "./store.ts";
import type { Batch, NewUrl, OutgoingParcel, PageTopic, SiteRow, Store } from "./store.ts";
import type { StoredRound, StoredUrl, Totals } from "./store.ts";

/** A place where a store can be opened repeatedly; created for every test. */
export interface StorePlace {
  open(): Store;
  /** Ends the handle: closes it, or simulates a kill. */
  end(store: Store): Promise<void>;
}

export function storeSuite(name: string, makePlace: (t: TestContext) => StorePlace): void {
  const check = (promise: string, body: (place: StorePlace) => Promise<void>): void => {
    test(`${name}: ${promise}`, (t) => body(makePlace(t)));
  };

  check("a new store is empty and counts from 1", async (place) => {
    const store = place.open();
    assert.equal(store.nextUrlId, 1);
    assert.equal(store.nextSiteId, 1);
    assert.deepEqual(store.totals, NO_TOTALS);
    assert.deepEqual(store.marks, {});
    assert.deepEqual(store.waiting(1, 10), []);
    assert.deepEqual([...store.sites(), ...store.urls(), ...store.pages()], []);
    assert.equal(store.recall("settings"), undefined);
    assert.equal(store.pageWithDigest(new Uint8Array(32)), undefined);
    assert.deepEqual(stateOfOutbox(store), [1, 0, 0]);
    assert.deepEqual([...store.outbox(0, 10), ...store.urlsOfSite(1, 0, 10)], []);
    assert.deepEqual([...store.pageTopics(), store.topicOf(1)], [undefined]);
    await place.end(store);
  });

  check("a commit is stored after reopening", async (place) => {
    const ledger = { page: 700, robots: 150 };
    const round = makeRound(3);
    const counts = { known: 2, pending: 1, pages: 1, bytes: 900 };
    const site = makeSite(1, { ...counts, ledger, round, rate: "429 9.5" });
    const page = makePage(1, 7);
    const batch: Batch = {
      ...emptyBatch(),
      sites: [site],
      urls: [makeUrl(1, 1, 0.5), makeUrl(2, 1, 0.25)],
      settled: [{ id: 1, reason: "ok", attempts: 1 }],
      pages: [page],
      totals: {
        ...NO_TOTALS,
        known: 2,
        done: 1,
        pages: 1,
        bytes: 900,
        ledger,
        outcomes: { ok: 1 },
      },
      marks: { "weir-00001.warc.gz": 1234 },
    };
    const first = place.open();
    first.commit(batch);
    first.remember("settings", "é\n{}");
    const look = (store: Store): void => {
      assert.equal(store.nextUrlId, 3);
      assert.equal(store.nextSiteId, 2);
      assert.deepEqual(store.totals, batch.totals);
      assert.deepEqual(store.marks, batch.marks);
      assert.equal(store.recall("settings"), "é\n{}");
      assert.deepEqual([...store.sites()], [site]);
      assert.deepEqual(store.siteByKey(site.key), site);
      assert.equal(store.siteByKey("http://unknown:80"), undefined);
      assert.equal(store.url(1)?.reason, "ok");
      assert.equal(store.url(2)?.reason, undefined);
      assert.equal(store.url(3), undefined);
      assert.deepEqual(store.page(1), page);
      assert.equal(store.page(2), undefined);
      assert.deepEqual([...store.pages()], [page]);
      assert.equal(store.pageWithDigest(page.digest), 1);
      assert.deepEqual(
        store.waiting(1, 10).map((url) => url.id),
        [2],
      );
    };
    look(first);
    await place.end(first);
    const second = place.open();
    look(second);
    await place.end(second);
  });

  check("waiting returns the best URLs first, then the oldest, up to the limit", async (place) => {
    const store = place.open();
    store.commit({
      ...emptyBatch(),
      sites: [makeSite(1), makeSite(2)],
      urls: [
        makeUrl(1, 1, 1),
        makeUrl(2, 1, 5),
        makeUrl(3, 2, 9),
        makeUrl(4, 1, 5),
        makeUrl(5, 1, -2.5),
      ],
      totals: { ...NO_TOTALS, known: 5 },
    });
    const ids = (countMax: number): number[] =>
      store.waiting(1, countMax).map((waiting) => waiting.id);
    assert.deepEqual(ids(10), [2, 4, 1, 5]);
    assert.deepEqual(ids(3), [2, 4, 1]);
    store.commit({
      ...emptyBatch(),
      retried: [{ id: 4, attempts: 2 }],
      rescored: [{ id: 5, score: 5.5 }],
      totals: store.totals,
    });
    assert.deepEqual(ids(10), [5, 2, 4, 1]);
    assert.equal(store.waiting(1, 3)[2]?.attempts, 2);
    await place.end(store);
  });

  check("a URL is read back as it was written, wherever it is read", async (place) => {
    const store = place.open();
    const written = "http://site-1.example/%70age/1?%C3%BC=1";
    const urls = [{ ...makeUrl(1, 1, 0), written }, makeUrl(2, 1, 0)];
    const totals = { ...NO_TOTALS, known: 2 };
    store.commit({ ...emptyBatch(), sites: [makeSite(1)], urls, totals });
    const look = (from: Store): void => {
      const found = [from.waiting(1, 9), from.urlsOfSite(1, 0, 9), [...from.urls()]];
      for (const rows of found)
        assert.deepEqual(
          rows.map((row) => [row.url, row.written]),
          urls.map((url) => [url.url, url.written]),
        );
      assert.equal(from.url(1)?.written, written);
    };
    look(store);
    await place.end(store);
    const again = place.open();
    look(again);
    await place.end(again);
  });

  check("lookup returns the ids in order, with 0 for unknown fingerprints", async (place) => {
    const store = place.open();
    const urls = [makeUrl(1, 1, 0), makeUrl(2, 1, 0), makeUrl(3, 1, 0)];
    store.commit({
      ...emptyBatch(),
      sites: [makeSite(1)],
      urls,
      totals: { ...NO_TOTALS, known: 3 },
    });
    const queried = [urls[2], makeUrl(99, 1, 0), urls[0], urls[2]] as NewUrl[];
    assert.deepEqual([...store.lookup(fingerprintsOf(queried))], [3, 0, 1, 3]);
    await place.end(store);
  });

  check("a batch with a missing id or a wrong count fails an assert", async (place) => {
    const store = place.open();
    const totals = { ...NO_TOTALS, known: 1 };
    const sites = [makeSite(1)];
    const broken: Batch[] = [
      { ...emptyBatch(), sites, urls: [makeUrl(2, 1, 0)], totals },
      { ...emptyBatch(), sites, urls: [makeUrl(1, 1, 0)], totals: NO_TOTALS },
      { ...emptyBatch(), sites: [makeSite(2)], totals: NO_TOTALS },
      { ...emptyBatch(), settled: [{ id: 1, reason: "ok", attempts: 1 }] },
      { ...emptyBatch(), sites: [makeSite(1, { bytes: 9, ledger: { page: 10 } })] },
      { ...emptyBatch(), totals: { ...NO_TOTALS, bytes: 9, ledger: { page: 5, retry: 5 } } },
    ];
    for (const batch of broken) assert.throws(() => store.commit(batch), BrokenPromise);
    assert.equal(store.nextUrlId, 1);
    assert.deepEqual([...store.urls(), ...store.sites()], []);
    await place.end(store);
  });

  check("reopened URLs wait again with their validators, and keep their visits", async (place) => {
    const store = place.open();
    const page = makePage(1, 3);
    store.commit({
      ...emptyBatch(),
      sites: [makeSite(1, { known: 3, pending: 0 })],
      urls: [makeUrl(1, 1, 0), makeUrl(2, 1, 0), makeUrl(3, 1, 0)],
      settled: [
        { id: 1, reason: "ok", attempts: 1 },
        { id: 2, reason: "http_404", attempts: 1 },
        { id: 3, reason: "redirect", attempts: 1 },
      ],
      pages: [page],
      totals: {
        ...NO_TOTALS,
        known: 3,
        done: 2,
        failed: 1,
        outcomes: { ok: 1, http_404: 1, redirect: 1 },
      },
    });
    const { wireBytes, fetchedAtMs } = page;
    const never = { wireBytes: 0, fetchedAtMs: 0, hasValidators: false, visits: undefined };
    assert.deepEqual(store.ended(1, 0, 2), [
      { ...never, id: 1, depth: 1, reason: "ok", wireBytes, fetchedAtMs, hasValidators: true },
      { ...never, id: 2, depth: 2, reason: "http_404" },
    ]);
    assert.deepEqual(
      store.ended(1, 2, 9).map(({ id }) => id),
      [3],
    );
    assert.deepEqual(store.ended(2, 0, 9), []);
    const visits = makeVisits(1, "ok");
    store.commit({
      ...emptyBatch(),
      sites: [makeSite(1, { known: 3, pending: 1 })],
      reopened: [{ id: 1, score: 8, visits }],
      totals: {
        ...store.totals,
        done: 1,
        outcomes: { http_404: 1, redirect: 1 },
      },
    });
    assert.deepEqual(
      store.waiting(1, 9).map(({ id, score, attempts, etag, lastModified }) => {
        return { id, score, attempts, etag, lastModified };
      }),
      [{ id: 1, score: 8, attempts: 0, etag: page.etag, lastModified: page.lastModified }],
    );
    assert.deepEqual(store.visits(1), visits);
    assert.equal(store.visits(2), undefined);
    const later = makeVisits(2, "ok");
    store.commit({
      ...emptyBatch(),
      settled: [{ id: 1, reason: "not_modified", attempts: 1 }],
      visits: [{ id: 1, ...later }],
      totals: {
        ...store.totals,
        done: 2,
        outcomes: { http_404: 1, redirect: 1, not_modified: 1 },
      },
    });
    await place.end(store);
    const again = place.open();
    assert.deepEqual(again.ended(1, 0, 1)[0]?.visits, later);
    assert.deepEqual(again.waiting(1, 9), []);
    await place.end(again);
  });

  check("the lowest fingerprints are those of URLs with a page, each once", async (place) => {
    const store = place.open();
    const urls = Array.from({ length: 40 }, (_, index) => makeUrl(index + 1, 1, 0));
    const base = { ...emptyBatch(), totals: { ...NO_TOTALS, known: 40 } };
    const pages = urls.slice(0, 30).map(({ id }) => makePage(id, id));
    store.commit({ ...base, sites: [makeSite(1)], urls, pages });
    store.commit({ ...base, pages: [makePage(1, 99)] });
    const expected = urls
      .slice(0, 30)
      .map(({ fingerprintHigh: high, fingerprintLow: low }) => ({ high, low }))
      .toSorted((a, b) => a.high - b.high);
    assert.deepEqual(store.leastPages(5), expected.slice(0, 5));
    assert.deepEqual(store.leastPages(1_000), expected);
    await place.end(store);
  });

  check("a page fetched again replaces its record and its digest", async (place) => {
    const store = place.open();
    const known = { ...NO_TOTALS, known: 2 };
    const base = { ...emptyBatch(), totals: known };
    store.commit({
      ...base,
      sites: [makeSite(1)],
      urls: [makeUrl(1, 1, 0), makeUrl(2, 1, 0)],
      pages: [makePage(1, 10), makePage(2, 10)],
    });
    assert.equal(store.pageWithDigest(makePage(1, 10).digest), 1);
    store.commit({ ...base, pages: [makePage(1, 11)] });
    assert.equal(store.pageWithDigest(makePage(1, 11).digest), 1);
    assert.deepEqual(store.page(1), makePage(1, 11));
    assert.deepEqual([...store.pages()], [makePage(2, 10), makePage(1, 11)]);
    assert.equal(store.lastPageSeq, 3);
    assert.deepEqual([...store.pagesAfter(2)], [{ seq: 3, page: makePage(1, 11) }]);
    assert.deepEqual([...store.pagesAfter(3)], []);
    assert.notEqual(store.pageWithDigest(makePage(1, 10).digest), 1);
    store.commit({ ...base, pages: [makePage(2, 10)] });
    assert.equal(store.pageWithDigest(makePage(2, 10).digest), 2);
    await place.end(store);
  });

  check("a page has its last topic, and topics are in order of id", async (place) => {
    const store = place.open();
    const urls = [1, 2, 3].map((id) => makeUrl(id, 1, 0));
    const base = { ...emptyBatch(), totals: { ...NO_TOTALS, known: 3 } };
    const [one, three] = [makeTopic(1, 4), makeTopic(3, 5)];
    store.commit({ ...base, sites: [makeSite(1)], urls, topics: [three, makeTopic(1, 9)] });
    store.commit({ ...base, topics: [makeTopic(1, 2), one] });
    const wrong = [
      { ...one, id: 4 },
      { ...one, id: 0 },
      { ...one, confidence: 1.01 },
      { ...one, confidence: NaN },
    ];
    for (const topic of wrong)
      assert.throws(() => store.commit({ ...base, topics: [three, topic] }), BrokenPromise);
    const look = (kept: Store): void => {
      assert.deepEqual([...kept.pageTopics()], [one, three]);
      assert.deepEqual(
        [1, 2, 3, 4].map((id) => kept.topicOf(id)),
        [one, undefined, three, undefined],
      );
    };
    look(store);
    await place.end(store);
    const again = place.open();
    look(again);
    await place.end(again);
  });

  check(
    "an outgoing parcel is stored until delivery, and its number is never reused",
    async (place) => {
      const first = place.open();
      const [one, two, four] = [makeParcel(1, "b"), makeParcel(2, "c"), makeParcel(4, "b")];
      first.commit({ ...emptyBatch(), outgoing: [one, two, four] });
      assert.deepEqual(first.outbox(0, 9), [one, two, four]);
      assert.deepEqual(first.outbox(1, 1), [two]);
      assert.deepEqual(first.outbox(4, 9), []);
      const bytes = one.body.length + two.body.length + four.body.length;
      assert.deepEqual(stateOfOutbox(first), [5, 3, bytes]);
      await place.end(first);
      const second = place.open();
      assert.deepEqual(second.outbox(0, 9), [one, two, four]);
      // Delivered twice, never stored, and resent to another node instead of one that left.
      const five = { ...two, seq: 5, to: "d" };
      second.commit({ ...emptyBatch(), outgoing: [five], delivered: [1, 1, 3, 77, 2] });
      assert.deepEqual(second.outbox(0, 9), [four, five]);
      assert.deepEqual(stateOfOutbox(second), [6, 2, four.body.length + five.body.length]);
      second.commit({ ...emptyBatch(), outgoing: [makeParcel(6, "b")], delivered: [4, 5, 6] });
      assert.deepEqual(stateOfOutbox(second), [7, 0, 0]);
      await place.end(second);
      const third = place.open();
      assert.deepEqual(stateOfOutbox(third), [7, 0, 0]);
      const again: Batch = { ...emptyBatch(), outgoing: [makeParcel(6, "b")] };
      assert.throws(() => third.commit(again), BrokenPromise);
      const turned: Batch = { ...emptyBatch(), outgoing: [makeParcel(8, "b"), makeParcel(7, "b")] };
      assert.throws(() => third.commit(turned), BrokenPromise);
      assert.deepEqual(stateOfOutbox(third), [7, 0, 0]);
      await place.end(third);
    },
  );

  check("facts are stored with their commit, or not at all", async (place) => {
    const store = place.open();
    store.remember("epoch", "1");
    store.commit({ ...emptyBatch(), facts: { epoch: "2", "heard from b": "é\n" } });
    const settled = [{ id: 9, reason: "ok", attempts: 1 }] as const;
    const totals = { ...NO_TOTALS, known: 9 };
    const broken = { ...emptyBatch(), facts: { epoch: "3" }, outgoing: [makeParcel(1, "b")] };
    assert.throws(() => store.commit({ ...broken, settled, totals }), BrokenPromise);
    assert.deepEqual([store.recall("epoch"), store.recall("heard from b")], ["2", "é\n"]);
    assert.deepEqual(stateOfOutbox(store), [1, 0, 0]);
    await place.end(store);
    const again = place.open();
    assert.deepEqual([again.recall("epoch"), again.recall("heard from b")], ["2", "é\n"]);
    await place.end(again);
  });

  check(
    "thousands of URLs may be added and settled in one batch, and none of them waits",
    async (place) => {
      const count = 5_000;
      const first = place.open();
      const urls = Array.from({ length: count }, (_, index) => makeUrl(index + 1, 1, 0));
      const settled = urls
        .slice(0, -1)
        .map(({ id }) => ({ id, reason: "sent", attempts: 0 }) as const);
      const skipped = count - 1;
      const totals = { ...NO_TOTALS, known: count, skipped, outcomes: { sent: skipped } };
      const sites = [makeSite(1, { known: count, pending: 1 })];
      const rescored = [{ id: count, score: 7 }];
      first.commit({ ...emptyBatch(), sites, urls, settled, rescored, totals });
      const look = (store: Store): void => {
        assertAccounts(store, "settled at once");
        assert.deepEqual(
          store.waiting(1, count).map(({ id, score }) => [id, score]),
          [[count, 7]],
        );
        assert.equal(store.url(17)?.reason, "sent");
        assert.equal(store.nextUrlId, count + 1);
        const ids = store.lookup(fingerprintsOf(urls));
        assert.deepEqual(
          [...ids],
          urls.map(({ id }) => id),
        );
      };
      look(first);
      await place.end(first);
      const second = place.open();
      look(second);
      await place.end(second);
    },
  );

  check("the URLs of a site are in order of id, both waiting and ended", async (place) => {
    const store = place.open();
    store.commit({
      ...emptyBatch(),
      sites: [makeSite(1, { known: 3, pending: 2 }), makeSite(2, { known: 1, pending: 1 })],
      urls: [makeUrl(1, 1, 5), makeUrl(2, 2, 0), makeUrl(3, 1, 9), makeUrl(4, 1, 7)],
      settled: [{ id: 3, reason: "moved_away", attempts: 2 }],
      totals: { ...NO_TOTALS, known: 4, skipped: 1, outcomes: { moved_away: 1 } },
    });
    const look = (siteId: number, afterId: number, countMax: number): unknown =>
      store.urlsOfSite(siteId, afterId, countMax).map(({ id, reason }) => [id, reason]);
    assert.deepEqual(look(1, 0, 9), [
      [1, undefined],
      [3, "moved_away"],
      [4, undefined],
    ]);
    assert.deepEqual(look(1, 1, 1), [[3, "moved_away"]]);
    assert.deepEqual(look(1, 4, 9), []);
    assert.deepEqual(look(2, 0, 9), [[2, undefined]]);
    assert.deepEqual(store.urlsOfSite(1, 3, 1), [store.url(4)]);
    await place.end(store);
  });

  check("a store cannot be opened twice at the same time", async (place) => {
    const store = place.open();
    assert.throws(() => place.open(), isError("STORE_LOCKED"));
    await store.sync();
    await place.end(store);
    await place.end(place.open());
  });

  check("random batches and reopenings agree with the model", async (place) => {
    for (let seed = 1; seed <= 4; seed++) await walk(place, seed);
  });
}

/** For `assert.throws`: an operator error with this code. */
export function isError(code: ErrorCode): (error: unknown) => boolean {
  return (error) => error instanceof CrawlError && error.code === code;
}

/** Random batches on top of those of earlier seeds, so that later seeds start from a full store. */
async function walk(place: StorePlace, seed: number): Promise<void> {
  const random = randomFrom(seed);
  let store = place.open();
  const model = Model.of(store);
  for (let step = 0; step < 60; step++) {
    const batch = model.randomBatch(random);
    store.commit(batch);
    model.apply(batch);
    if (random.next() < 0.1) {
      await place.end(store);
      store = place.open();
    }
    if (step % 10 === 9) {
      compareKept(store, model, `seed ${seed}, step ${step}`);
      compareSites(store, model, `seed ${seed}, step ${step}`);
    }
  }
  await place.end(store);
}

/** The batch with this number of a reproducible walk, marked with the number. */
export function walkBatch(model: Model, number: number): Batch {
  return { ...model.randomBatch(randomFrom(number)), marks: { commit: number } };
}

/** The expected store after the walk's first `count` commits. */
export function walked(count: number): Model {
  const model = new Model();
  for (let number = 1; number <= count; number++) model.apply(walkBatch(model, number));
  return model;
}

export function compare(store: ReadableStore, model: Model, where: string): void {
  assert.deepEqual(store.totals, model.totals, where);
  assert.deepEqual(store.marks, model.marks, where);
  assert.deepEqual([...store.sites()], model.sites, where);
  assert.deepEqual([...store.urls()], model.urls, where);
  assert.deepEqual([...store.pages()], [...model.pages.values()], where);
  const topics = [...model.topics.values()].sort((a, b) => a.id - b.id);
  assert.deepEqual([...store.pageTopics()], topics, where);
  for (const { id } of model.urls) assert.deepEqual(store.topicOf(id), model.topics.get(id), where);
  const news = model.urls.map((url) => makeUrl(url.id, url.siteId, url.score));
  const ids = store.lookup(fingerprintsOf([...news, makeUrl(news.length + 1, 1, 0)]));
  assert.deepEqual([...ids], [...news.map((url) => url.id), 0], where);
  assertAccounts(store, where);
}

/** The queries that only the crawl itself makes. */
export function compareQueue(store: Store, model: Model, where: string): void {
  const withWork = model.sites.filter((site) => site.pending > 0);
  assert.deepEqual(store.sitesWithWork(0, 1000), withWork, where);
  assert.deepEqual(store.sitesWithWork(withWork[0]?.id ?? 0, 2), withWork.slice(1, 3), where);
  for (const site of model.sites) {
    const waiting = model.urls
      .filter((url) => url.siteId === site.id && url.reason === undefined)
      .sort((a, b) => b.score - a.score || a.id - b.id);
    const wanted = waiting.slice(0, 7).map((url) => {
      const page = model.pages.get(url.id);
      const validators = { etag: page?.etag ?? "", lastModified: page?.lastModified ?? "" };
      const { reason: _, ...waits } = Object.assign(validators, url);
      return waits;
    });
    assert.deepEqual(store.waiting(site.id, 7), wanted, where);
  }
  for (const page of model.pages.values()) {
    const id = store.pageWithDigest(page.digest);
    if (id !== undefined) assert.deepEqual(store.page(id)?.digest, page.digest, where);
  }
}

/** `compare`, including the data that only the crawl itself reads. */
export function compareKept(store: Store, model: Model, where: string): void {
  compare(store, model, where);
  compareQueue(store, model, where);
  const targets = model.urls.filter(({ depth, redirects }) => depth === 0 && redirects > 0);
  assert.deepEqual(
    [...store.seedTargets()],
    targets.map(({ url }) => url),
    where,
  );
  for (const [key, value] of Object.entries(model.facts))
    assert.equal(store.recall(key), value, where);
  const parcels = [...model.outbox.values()];
  assert.deepEqual(store.outbox(0, 1e9), parcels, where);
  assert.deepEqual(store.outbox(parcels[0]?.seq ?? 0, 2), parcels.slice(1, 3), where);
  const bytes = parcels.reduce((sum, { body }) => sum + body.length, 0);
  assert.deepEqual(stateOfOutbox(store), [model.nextParcelSeq, parcels.length, bytes], where);
}

function compareSites(store: Store, model: Model, where: string): void {
  for (const { id: siteId } of model.sites) {
    const urls = model.urls.filter((url) => url.siteId === siteId);
    assert.deepEqual(store.urlsOfSite(siteId, 0, 1e9), urls, where);
    const afterId = urls[3]?.id ?? 0;
    const later = urls.filter(({ id }) => id > afterId);
    assert.deepEqual(store.urlsOfSite(siteId, afterId, 5), later.slice(0, 5), where);
    const ended = urls.filter((url) => url.reason !== undefined);
    const wanted = ended.map(({ id, depth, reason }) => {
      const page = model.pages.get(id);
      const { wireBytes = 0, fetchedAtMs = 0 } = page ?? {};
      const visits = model.visits.get(id);
      return {
        id,
        depth,
        reason,
        wireBytes,
        fetchedAtMs,
        hasValidators: page !== undefined,
        visits,
      };
    });
    assert.deepEqual(store.ended(siteId, 0, 1e9), wanted, where);
  }
}

function stateOfOutbox({ nextParcelSeq, outboxCount, outboxBytes }: Store): number[] {
  return [nextParcelSeq, outboxCount, outboxBytes];
}

/** Promise 2: known = done + failed + skipped + pending, in totals and in rows. */
export function assertAccounts(store: ReadableStore, where: string): void {
  const counts = { known: 0, done: 0, failed: 0, skipped: 0 };
  for (const url of store.urls()) {
    counts.known++;
    if (url.reason !== undefined) counts[settlementOf(url.reason)]++;
  }
  const { known, done, failed, skipped } = store.totals;
  assert.deepEqual(counts, { known, done, failed, skipped }, where);
}

/** The simplest correct store. */
export class Model {
  totals: Totals = NO_TOTALS;
  marks: Readonly<Record<string, number>> = {};
  readonly sites: SiteRow[] = [];
  readonly urls: StoredUrl[] = [];
  readonly pages = new Map<number, PageRecord>();
  readonly visits = new Map<number, Visits>();
  readonly topics = new Map<number, PageTopic>();
  readonly outbox = new Map<number, OutgoingParcel>();
  nextParcelSeq = 1;
  facts: Readonly<Record<string, string>> = {};

  static of(store: Store): Model {
    const model = new Model();
    model.totals = store.totals;
    model.marks = store.marks;
    model.sites.push(...store.sites());
    model.urls.push(...store.urls());
    for (const page of store.pages()) model.pages.set(page.id, page);
    for (const topic of store.pageTopics()) model.topics.set(topic.id, topic);
    for (const { id } of model.urls) {
      const visits = store.visits(id);
      if (visits !== undefined) model.visits.set(id, visits);
    }
    for (const parcel of store.outbox(0, 1e9)) model.outbox.set(parcel.seq, parcel);
    model.nextParcelSeq = store.nextParcelSeq;
    return model;
  }

  apply(batch: Batch): void {
    for (const site of batch.sites) this.sites[site.id - 1] = site;
    for (const url of batch.urls) {
      const { fingerprintHigh: _, fingerprintLow: __, ...kept } = url;
      this.urls.push({ ...kept, attempts: 0, reason: undefined });
    }
    for (const { id, score, visits } of batch.reopened) {
      this.#change(id, { reason: undefined, attempts: 0, score });
      this.visits.set(id, visits);
    }
    for (const { id, ...visits } of batch.visits) this.visits.set(id, visits);
    for (const { id, attempts } of batch.retried) this.#change(id, { attempts });
    for (const { id, score } of batch.rescored) this.#change(id, { score });
    for (const { id, reason, attempts } of batch.settled) this.#change(id, { reason, attempts });
    for (const page of batch.pages) {
      this.pages.delete(page.id);
      this.pages.set(page.id, page);
    }
    for (const topic of batch.topics) this.topics.set(topic.id, topic);
    for (const parcel of batch.outgoing) {
      this.outbox.set(parcel.seq, parcel);
      this.nextParcelSeq = parcel.seq + 1;
    }
    for (const seq of batch.delivered) this.outbox.delete(seq);
    this.facts = { ...this.facts, ...batch.facts };
    this.totals = batch.totals;
    this.marks = batch.marks;
  }

  /** Random new sites and URLs, outcomes, retries and scores, with consistent totals. */
  randomBatch(random: Random): Batch {
    const sites = new Map<number, SiteRow>();
    if (this.sites.length === 0 || random.next() < 0.2) {
      const site = makeSite(this.sites.length + 1);
      sites.set(site.id, site);
    }
    const siteCount = this.sites.length + sites.size;
    const touch = (siteId: number, known: number, pending: number): void => {
      const site = sites.get(siteId) ?? (this.sites[siteId - 1] as SiteRow);
      sites.set(siteId, {
        ...site,
        known: site.known + known,
        pending: site.pending + pending,
        bytes: site.bytes + 1000,
        ledger: { ...site.ledger, page: (site.ledger["page"] ?? 0) + below(random, 1000) },
        robots: random.next() < 0.1 ? makeRobots(random) : site.robots,
        round: random.next() < 0.1 ? makeRound(below(random, 9)) : site.round,
      });
    };
    const urls: NewUrl[] = [];
    for (let count = below(random, 30); count > 0; count--) {
      const siteId = 1 + below(random, siteCount);
      const score = pick(random, [0, 1, 1.5, -3, random.next() * 100]);
      urls.push(makeUrl(this.urls.length + urls.length + 1, siteId, score));
      touch(siteId, 1, 1);
    }
    const pending = this.urls.filter((url) => url.reason === undefined);
    const some = (): StoredUrl[] => pending.filter(() => random.next() < 0.1);
    const settled = some().map((url) => {
      touch(url.siteId, 0, -1);
      return { id: url.id, reason: pick(random, SOME_REASONS), attempts: url.attempts + 1 };
    });
    for (const { id, siteId } of urls.filter(() => random.next() < 0.2)) {
      touch(siteId, 0, -1);
      settled.push({ id, reason: pick(random, BIRTH_REASONS), attempts: 0 });
    }
    const reopened = this.urls.filter((url) => url.reason !== undefined && random.next() < 0.02);
    for (const url of reopened) touch(url.siteId, 0, 1);
    const ended = new Set(settled.map((url) => url.id));
    const retried = some().filter((url) => !ended.has(url.id));
    return {
      sites: [...sites.values()],
      urls,
      settled,
      retried: retried.map(({ id, attempts }) => ({ id, attempts: attempts + 1 })),
      rescored: some().map(({ id }) => ({ id, score: below(random, 20) })),
      reopened: reopened.map(({ id, reason }) => {
        const visits = makeVisits(below(random, 9), reason as Reason);
        return { id, score: below(random, 20), visits };
      }),
      visits: settled
        .filter(({ id }) => this.visits.has(id))
        .map(({ id, reason }) => Object.assign(makeVisits(below(random, 9), reason), { id })),
      pages: settled
        .filter(({ reason }) => reason === "ok")
        .map(({ id }) => makePage(id, below(random, 200))),
      topics: this.#randomTopics(random),
      ...this.#randomParcels(random),
      facts: random.next() < 0.3 ? { epoch: `${below(random, 99)}` } : {},
      totals: this.#totalsAfter(urls.length, settled, reopened),
      marks: { "weir-00001.warc.gz": below(random, 1e9) },
    };
  }

  #randomParcels(random: Random): Pick<Batch, "outgoing" | "delivered"> {
    const outgoing: OutgoingParcel[] = [];
    let seq = this.nextParcelSeq;
    for (let count = below(random, 4) - 1; count > 0; count--) {
      outgoing.push(makeParcel(seq, pick(random, ["b", "c", "ä"])));
      seq += 1 + below(random, 2);
    }
    const delivered = [...this.outbox.keys()].filter(() => random.next() < 0.1);
    return { outgoing, delivered: random.next() < 0.1 ? [...delivered, seq + 9] : delivered };
  }

  /** New or replaced topics of existing pages. */
  #randomTopics(random: Random): PageTopic[] {
    const ids = [...this.pages.keys()].filter(() => random.next() < 0.1);
    return ids.map((id) => makeTopic(id, below(random, 9)));
  }

  #totalsAfter(
    known: number,
    settled: readonly { readonly reason: Reason }[],
    reopened: readonly StoredUrl[],
  ): Totals {
    const outcomes: Record<string, number> = { ...this.totals.outcomes };
    const counts = { done: 0, failed: 0, skipped: 0 };
    const count = (reason: Reason, by: number): void => {
      outcomes[reason] = (outcomes[reason] ?? 0) + by;
      counts[settlementOf(reason)] += by;
    };
    for (const { reason } of settled) count(reason, 1);
    for (const { reason } of reopened) count(reason as Reason, -1);
    return {
      ...this.totals,
      known: this.totals.known + known,
      done: this.totals.done + counts.done,
      failed: this.totals.failed + counts.failed,
      skipped: this.totals.skipped + counts.skipped,
      outcomes,
    };
  }

  #change(id: number, change: Partial<StoredUrl>): void {
    this.urls[id - 1] = { ...(this.urls[id - 1] as StoredUrl), ...change };
  }
}

const SOME_REASONS: readonly Reason[] = [
  "ok",
  "ok",
  "ok",
  "not_modified",
  "redirect",
  "http_404",
  "conn_reset",
  "robots_denied",
];

/** Reasons of URLs that end in the batch that adds them. */
const BIRTH_REASONS: readonly Reason[] = ["sent", "elsewhere", "out_of_scope"];

export function emptyBatch(): Batch {
  return {
    sites: [],
    urls: [],
    settled: [],
    retried: [],
    rescored: [],
    reopened: [],
    visits: [],
    pages: [],
    topics: [],
    facts: {},
    outgoing: [],
    delivered: [],
    totals: NO_TOTALS,
    marks: {},
  };
}

export function makeSite(id: number, change: Partial<SiteRow> = {}): SiteRow {
  return {
    id,
    key: `http://site-${id}.example:80`,
    known: 0,
    pending: 0,
    pages: 0,
    bytes: 0,
    ledger: {},
    robots: undefined,
    sitemapsRead: id % 2 === 0,
    traps: "",
    rate: "",
    round: undefined,
    ...change,
  };
}

/** Parcels of different sizes, some longer than a database page. */
function makeParcel(seq: number, to: string): OutgoingParcel {
  const bytes = seq % 10 === 9 ? 9_000 : (seq * 37) % 100;
  return { seq, to, body: new Uint8Array(bytes).fill(seq) };
}

export function makeTopic(id: number, variant: number): PageTopic {
  const topic = ["Künste", "science", ""][variant % 3] as string;
  return { id, topic, confidence: variant / 9, from: variant % 2 === 0 ? "" : "ä" };
}

function makeRound(number: number): StoredRound {
  return {
    number,
    startedAtMs: 1.7e12 + number,
    bytesBefore: 100 * number,
    expectedBytes: number % 2 === 0 ? undefined : 12.5 * number,
    surplus: 1 + number / 8,
    openedTo: number % 3 === 0 ? undefined : 7 * number,
    sitemapsAtMs: 0,
    news: { changed: number, unchanged: 2, fresh: 3, gone: 4, left: 5 },
  };
}

function makeVisits(checks: number, was: Reason): Visits {
  return { checks, changes: checks >> 1, watchedMs: 3600.5 * checks, lastAtMs: 1.7e12, was };
}

function makeRobots(random: Random): NonNullable<SiteRow["robots"]> {
  const text = "User-agent: *\nDisallow: /ä\n".repeat(below(random, 20));
  return { status: 200, text, fetchedAtMs: 1.7e12 + below(random, 1e6) };
}

/** A URL whose fingerprint is a hash of its id. */
export function makeUrl(id: number, siteId: number, score: number): NewUrl {
  return {
    id,
    url: `http://site-${siteId}.example/page/${id}?ü=1`,
    written: undefined,
    fingerprintHigh: Math.imul(id, 0x9e3779b1) >>> 0,
    fingerprintLow: Math.imul(id ^ 0x5bd1e995, 0x85ebca6b) >>> 0,
    siteId,
    depth: id % 7,
    score,
    redirectedFromId: id % 11 === 0 ? id - 1 : 0,
    redirects: id % 11 === 0 ? 1 : 0,
  };
}

export function makePage(id: number, content: number): PageRecord {
  const digest = new Uint8Array(32);
  for (let index = 0; index < 32; index++) digest[index] = (content * 37 + index * index) & 255;
  return {
    id,
    status: 200,
    fetchedAtMs: 1.7e12 + id,
    durationMs: 12.5,
    wireBytes: 900,
    bodyBytes: 2500,
    contentType: "text/html",
    charset: "utf-8",
    title: `Página ${id} \u{1f600}`,
    language: "en",
    digest,
    nearHigh: 0xfedcba98,
    nearLow: id,
    etag: `"${content}"`,
    lastModified: "Tue, 01 Jul 2025 10:00:00 GMT",
    likeness: content % 2 === 0 ? undefined : { kind: "exact", ofId: 1 },
    remarks: content % 3 === 0 ? ["nofollow", "truncated"] : [],
    links: new Uint8Array(8 * (id % 5)).fill(id),
    archived:
      content % 5 === 0 ? undefined : { file: "weir-00001.warc.gz", offset: id * 10, length: 77 },
  };
}

export function fingerprintsOf(urls: readonly NewUrl[]): {
  high: Uint32Array;
  low: Uint32Array;
  count: number;
} {
  return {
    high: Uint32Array.from(urls, (url) => url.fingerprintHigh),
    low: Uint32Array.from(urls, (url) => url.fingerprintLow),
    count: urls.length,
  };
}
