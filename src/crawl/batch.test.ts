import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import { Politeness, POLITENESS_DEFAULTS } from "../frontier/politeness.ts";
import { TRAP_DEFAULTS, Traps } from "../frontier/traps.ts";
import { SimClock } from "../lab/sim-clock.ts";
import type { Reason } from "../page/outcome.ts";
import { MemoryDisk } from "../lab/memory-disk.ts";
import type { Store } from "../store/store.ts";
import { fingerprintsOf, makePage, makeTopic, makeUrl } from "../store/store.suite.ts";
import { Batch, type BatchEvent } from "./batch.ts";
import type { Site } from "./site.ts";
import { type SiteEvent, Sites } from "./sites.ts";
import { Counters } from "./counters.ts";

const BODY = new Uint8Array([1, 2, 3]);
const VISITS = { checks: 1, changes: 0, watchedMs: 9, lastAtMs: 9, was: "ok" as Reason };

test("parcels, receipts and facts are committed together, the last fact of a key", async () => {
  const { clock, store, batch } = desk(0);
  batch.addParcel({ seq: 1, to: "b", body: BODY });
  batch.addParcel({ seq: 2, to: "b", body: BODY });
  batch.setFact("epoch", "1");
  batch.setFact("epoch", "2");
  assert.equal(store.outboxCount, 0);
  await clock.runUntilIdle();
  assert.deepEqual([store.outboxCount, store.recall("epoch")], [2, "2"]);
  // To another node, since the first has left.
  batch.dropParcel(1);
  batch.addParcel({ seq: 3, to: "c", body: BODY });
  await clock.runUntilIdle();
  const kept = store.outbox(0, 9).map(({ seq, to }) => `${seq} ${to}`);
  assert.deepEqual(kept, ["2 b", "3 c"]);
  assert.equal(batch.isEmpty, true);
});

test("the last topic of a page is stored with its page, and can be read before", async () => {
  const { clock, store, batch, counters } = desk(0);
  counters.found();
  batch.addUrl(makeUrl(1, 1, 0));
  batch.setTopic(makeTopic(1, 1));
  batch.setTopic(makeTopic(1, 2));
  assert.deepEqual([batch.topicOf(1), store.topicOf(1)], [makeTopic(1, 2), undefined]);
  await clock.runUntilIdle();
  assert.deepEqual([batch.topicOf(1), store.topicOf(1)], [makeTopic(1, 2), makeTopic(1, 2)]);
});

test("a full disk keeps parcels and facts until there is room, and sends none twice", async () => {
  const { clock, store, batch, troubles } = desk(0.7);
  for (let seq = 1; seq <= 20; seq++) {
    batch.addParcel({ seq, to: "b", body: BODY });
    batch.setFact("last", `${seq}`);
    if (seq % 3 === 0) batch.dropParcel(seq);
    await clock.runUntilIdle();
  }
  assert.ok(troubles() > 0, "the disk was full at times");
  assert.deepEqual([store.outboxCount, store.nextParcelSeq, store.recall("last")], [14, 21, "20"]);
});

test("what is abandoned never reaches the store", async () => {
  const { clock, store, batch } = desk(0);
  batch.addParcel({ seq: 1, to: "b", body: BODY });
  batch.setFact("epoch", "1");
  batch.dropParcel(9);
  batch.abandon();
  await clock.runUntilIdle();
  assert.deepEqual([store.nextParcelSeq, store.recall("epoch")], [1, undefined]);
});

test("changes are committed after 50 ms, after 2,048 at once, and on a full disk again after 2 s", async () => {
  const { clock, store, batch, counters } = desk(0);
  const startMs = clock.nowMs();
  batch.setFact("first", "1");
  await clock.runUntilIdle();
  assert.deepEqual([store.recall("first"), clock.nowMs() - startMs], ["1", 50]);
  for (let id = 1; id <= 2047; id++) {
    counters.found();
    batch.addUrl(makeUrl(id, 1, 0));
  }
  await clock.runFor(0);
  assert.equal(store.totals.known, 0);
  counters.found();
  batch.addUrl(makeUrl(2048, 1, 0));
  await clock.runFor(0);
  assert.equal(store.totals.known, 2048);
  const full = desk(0.99);
  full.batch.setFact("first", "1");
  await full.clock.runFor(49 + 2000);
  assert.equal(full.troubles(), 1);
  await full.clock.runFor(2);
  assert.equal(full.troubles(), 2);
});

test("reads answer the same before a commit and after it, whatever has happened to a URL", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const { batch, counters, two } = desk(0);
    const random = randomFrom(seed);
    const state = new Map<number, Reason | undefined>();
    // Only the first rows are in the order of new scores.
    const counts = seed % 2 === 0 ? [99] : [3, 99];
    for (let step = 0; step < 60; step++) {
      change(state, { batch, counters, two, random });
      if (seed % 2 === 0) rescore(state, { batch, random });
      if (random.next() < 0.15) {
        const before = readsOf(batch, two, counts);
        assert.ok(batch.commit());
        assert.deepEqual(readsOf(batch, two, counts), before, `seed ${seed}, step ${step}`);
      }
      const waiting = [...state].filter(([, reason]) => reason === undefined).length;
      assert.equal(counters.pending, waiting, `seed ${seed}, step ${step}`);
    }
  }
});

type Desk = Pick<ReturnType<typeof desk>, "batch" | "counters" | "two"> & {
  readonly random: ReturnType<typeof randomFrom>;
};

/** One of the changes that a crawl makes to a URL: found, ended, waiting again, scored. */
function change(
  state: Map<number, Reason | undefined>,
  { batch, counters, two, random }: Desk,
): void {
  const chance = random.next();
  const id = 1 + Math.floor(random.next() * state.size);
  const site = two[id % 2] as Site;
  if (state.size === 0 || chance < 0.3) {
    const added = state.size + 1;
    const { id: siteId } = two[added % 2] as Site;
    batch.addUrl({ ...makeUrl(added, siteId, 0), score: Math.round(random.next() * 8) });
    counters.found();
    state.set(added, undefined);
  } else if (state.get(id) === undefined) {
    const reason = random.next() < 0.7 ? "ok" : "sent";
    if (reason === "ok") batch.addPage({ ...makePage(id, id), etag: `"${id}"` });
    batch.setVisits(id, VISITS);
    batch.endUrl(site.id, { id, reason, attempts: 0 });
    counters.settled(reason);
    state.set(id, reason);
  } else {
    counters.reopened(state.get(id) as Reason);
    const score = Math.round(random.next() * 8);
    batch.reopenUrl(site.id, { id, score, visits: { ...VISITS, was: state.get(id) as Reason } });
    state.set(id, undefined);
  }
}

function rescore(
  state: Map<number, Reason | undefined>,
  { batch, random }: Pick<Desk, "batch" | "random">,
): void {
  const id = 1 + Math.floor(random.next() * state.size);
  if (state.has(id) && state.get(id) === undefined)
    batch.setScore(id, Math.round(random.next() * 8));
}

/** Everything that the loops of a crawl read, in pages of several sizes. */
function readsOf(batch: Batch, sites: readonly Site[], counts: readonly number[]): unknown {
  return sites.map(({ id: siteId }) => {
    const urls = batch.urlsOfSite(siteId, 0, 99);
    return {
      ids: [...batch.lookup(fingerprintsOf(urls.map(({ id }) => makeUrl(id, siteId, 0))))],
      urls: urls.map(({ id, url, score, reason }) => [id, url, score, reason]),
      each: urls.map(({ id }) => [batch.url(id)?.reason, batch.visits(id), batch.page(id)?.etag]),
      waiting: counts.map((most) => batch.waiting(siteId, most).map(({ id, etag }) => [id, etag])),
      ended: [0, 5].map((after) => batch.ended(siteId, after, 4)),
      paged: [2, 7].map((after) => batch.urlsOfSite(siteId, after, 3).map(({ id }) => id)),
    };
  });
}

function desk(fullShare: number) {
  const clock = new SimClock();
  const never = { crashAtCommit: undefined, onCrash: () => assert.fail("no crash was asked for") };
  const faults = { random: randomFrom(1), fullShare, ...never };
  const store: Store = new MemoryDisk().openWith(faults);
  const counters = new Counters(store.totals);
  const traps = new Traps(TRAP_DEFAULTS);
  const politeness = new Politeness(POLITENESS_DEFAULTS);
  let troubles = 0;
  const emit = (event: BatchEvent | SiteEvent): void => {
    assert.notEqual(event.kind, "fault");
    if (event.kind === "storage" && event.trouble !== undefined) troubles++;
  };
  const sites = new Sites({ store, traps, politeness, clock, sitesMax: 100, emit });
  const batch = new Batch({ clock, store, output: undefined, sites, counters, emit });
  const two = ["http://a.test", "http://b.test"].map((key) => sites.of(key));
  return { clock, store, batch, counters, two, troubles: () => troubles };
}
