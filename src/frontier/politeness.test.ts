import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import type { Reason } from "../page/outcome.ts";
import {
  Politeness,
  POLITENESS_DEFAULTS,
  restMs,
  siteDelay,
  type Addressee,
  type PolitenessLimits,
  type Turn,
} from "./politeness.ts";

const SITE: Addressee = { siteId: 1, address: "192.0.2.1", delayMs: 1_000, addressDelayMs: 0 };

/** Another site on the same address. */
function named(siteId: number): Addressee {
  return { ...SITE, siteId, addressDelayMs: 100 };
}

function courtesyWith(limits: Partial<PolitenessLimits> = {}): Politeness {
  return new Politeness({ ...POLITENESS_DEFAULTS, ...limits });
}

/** Sends one request as soon as it may go and ends it in the same moment. */
function ask(
  politeness: Politeness,
  to: Addressee,
  reason: Reason,
  retryAfterMs?: number,
): { atMs: number } {
  const atMs = Math.max(0, politeness.readyAtMs(to));
  const turn = politeness.begin(atMs, to);
  politeness.end(atMs, turn, { reason, retryAfterMs, chance: 1 });
  return { atMs };
}

test("a site is asked again when its delay has passed", () => {
  const politeness = courtesyWith();
  const turn = politeness.begin(5_000, SITE);
  assert.equal(politeness.readyAtMs(SITE), Infinity, "one at a time");
  politeness.end(5_300, turn, { reason: "ok", retryAfterMs: undefined, chance: 0 });
  assert.equal(politeness.readyAtMs(SITE), 6_000);
  assert.equal(politeness.maySend(5_999, SITE), false);
  assert.equal(politeness.maySend(6_000, SITE), true);
});

test("a longer delay counts from the request before it was known", () => {
  const politeness = courtesyWith();
  ask(politeness, SITE, "ok");
  assert.equal(politeness.readyAtMs({ ...SITE, delayMs: 10_000 }), 10_000);
});

test("sites on one address share its delay and its places", () => {
  const politeness = courtesyWith({ addressConcurrencyMax: 2 });
  politeness.sent(0, politeness.begin(0, named(1)));
  assert.equal(politeness.readyAtMs(named(2)), 100);
  politeness.begin(100, named(2));
  assert.equal(politeness.readyAtMs(named(3)), Infinity);
  assert.equal(politeness.readyAtMs({ ...named(3), address: "192.0.2.2" }), -Infinity);
});

test("the delay counts from when a request goes out, and nothing is begun before", () => {
  const politeness = courtesyWith({ siteConcurrencyMax: 2 });
  const turn = politeness.begin(0, SITE);
  assert.equal(politeness.readyAtMs(SITE), Infinity, "still looking for a connection");
  politeness.sent(300, turn);
  assert.equal(politeness.readyAtMs(SITE), 300 + SITE.delayMs);
});

test("after a restart a site and its address are taken to have been asked just now", () => {
  const politeness = courtesyWith();
  politeness.assumeAsked(50, SITE);
  assert.equal(politeness.readyAtMs(SITE), 50 + SITE.delayMs);
});

test("429 makes a rest of Retry-After, and a slower rate that is forgotten at twice the agreed one", () => {
  const politeness = courtesyWith();
  ask(politeness, SITE, "http_429", 10_000);
  assert.equal(politeness.isResting(9_999, 1), true);
  assert.equal(politeness.readyAtMs(SITE), 10_000);
  ask(politeness, SITE, "ok");
  const slowed = politeness.slowed(1);
  assert.equal(slowed?.by, 429);
  assert.ok((slowed?.perSecond ?? 1) < 0.5, "one request in 10 s was accepted");
  let answers = 0;
  for (; politeness.slowed(1) !== undefined; answers++) ask(politeness, SITE, "ok");
  assert.ok(answers < 300, `forgotten after ${answers} responses`);
  const { atMs } = ask(politeness, SITE, "ok");
  assert.equal(politeness.readyAtMs(SITE), atMs + 1_000);
});

test("a site that answers 429 for a minute is too busy, and after two it cannot be reached", () => {
  const politeness = courtesyWith();
  const to = { ...SITE, delayMs: 0 };
  let { atMs } = ask(politeness, to, "http_429");
  while (atMs < 30_000) ({ atMs } = ask(politeness, to, "http_429"));
  assert.equal(politeness.unreachableSinceMs(1), undefined);
  while (atMs < 120_000) ({ atMs } = ask(politeness, to, "http_429"));
  assert.equal(politeness.unreachableSinceMs(1), 0);
});

test("a Retry-After of ten years is honoured for an hour", () => {
  const politeness = courtesyWith();
  ask(politeness, SITE, "http_503", 10 * 365 * 86_400_000);
  assert.equal(politeness.readyAtMs(SITE), 3_600_000);
});

test("the third refused connection in a row backs the host off, not the second", () => {
  const politeness = courtesyWith();
  ask(politeness, SITE, "connect_refused");
  const second = ask(politeness, SITE, "connect_refused");
  assert.equal(politeness.isResting(second.atMs, 1), false);
  const third = ask(politeness, SITE, "connect_refused");
  assert.equal(politeness.isResting(third.atMs, 1), true);
});

test("good answers between failures keep the circuit closed", () => {
  const politeness = courtesyWith();
  for (let round = 0; round < 100; round++) {
    ask(politeness, SITE, "connect_timeout");
    ask(politeness, SITE, "http_500");
    ask(politeness, SITE, "connect_timeout");
    const { atMs } = ask(politeness, SITE, "http_404");
    assert.equal(politeness.isResting(atMs, 1), false);
  }
});

test("a host that fails every page rests, and is probed one at a time for as long as it fails", () => {
  const politeness = courtesyWith({ siteConcurrencyMax: 4 });
  const to = { ...SITE, delayMs: 0 };
  for (let page = 1; page < 3; page++) ask(politeness, to, "http_500");
  assert.equal(politeness.isResting(0, 1), false);
  ask(politeness, to, "http_500");
  assert.equal(politeness.isResting(0, 1), true);
  const probe = politeness.begin(1_000, to);
  assert.equal(politeness.readyAtMs(to), Infinity, "half open: one probe");
  politeness.end(1_000, probe, { reason: "http_500", retryAfterMs: undefined, chance: 1 });
  assert.equal(politeness.unreachableSinceMs(1), 0);
  for (let probes = 0; probes < 50; probes++) {
    const { atMs } = ask(politeness, to, "http_500");
    const restedMs = politeness.readyAtMs(to) - atMs;
    assert.equal(Math.round(restedMs), Math.round(restMs(atMs, 1)));
  }
  const { atMs } = ask(politeness, to, "ok");
  assert.equal(politeness.unreachableSinceMs(1), undefined);
  assert.equal(politeness.readyAtMs(to), atMs);
});

test("a rest is at least half of a quarter of the outage, and at most an hour", () => {
  assert.equal(restMs(0, 0), 500);
  assert.equal(restMs(60_000, 0), 7_500);
  assert.equal(restMs(60_000, 1), 15_000);
  assert.equal(restMs(86_400_000, 1), 3_600_000);
});

test("a rest that is ended allows a probe at once", () => {
  const politeness = courtesyWith();
  const { atMs } = ask(politeness, { ...SITE, delayMs: 0 }, "http_503");
  assert.equal(politeness.isResting(atMs, 1), true);
  politeness.endRest(1);
  assert.equal(politeness.isResting(atMs, 1), false);
});

test("an outage of many 503 is no rate", () => {
  const politeness = courtesyWith();
  for (let probes = 0; probes < 20; probes++) ask(politeness, SITE, "http_503");
  const { atMs } = ask(politeness, SITE, "ok");
  assert.ok(atMs > 120_000, `an outage of ${atMs} ms`);
  assert.equal(politeness.slowed(1), undefined);
  assert.equal(politeness.readyAtMs(SITE), atMs + SITE.delayMs);
});

test("failures of requests sent before a rest began are one failure", () => {
  const politeness = courtesyWith({ siteConcurrencyMax: 8 });
  const to = { ...SITE, delayMs: 0 };
  const turns = Array.from({ length: 8 }, () => politeness.begin(0, to));
  for (const turn of turns)
    politeness.end(50, turn, { reason: "conn_reset", retryAfterMs: undefined, chance: 1 });
  assert.equal(politeness.readyAtMs(to), 50 + 1_000);
});

test("our own trouble is not held against a site", () => {
  const politeness = courtesyWith();
  for (let attempt = 0; attempt < 100; attempt++) {
    const { atMs } = ask(politeness, SITE, "local_resource");
    assert.equal(politeness.isResting(atMs, 1), false);
  }
});

test("a Crawl-delay above the cap is capped and reported", () => {
  assert.deepEqual(siteDelay(1_000, undefined, 60_000), { delayMs: 1_000, excessive: false });
  assert.deepEqual(siteDelay(1_000, 5_000, 60_000), { delayMs: 5_000, excessive: false });
  assert.deepEqual(siteDelay(1_000, 1e12, 60_000), { delayMs: 60_000, excessive: true });
});

const ENDINGS: readonly Reason[] = [
  "ok",
  "ok",
  "ok",
  "http_404",
  "http_429",
  "http_500",
  "http_503",
  "connect_refused",
  "first_byte_timeout",
  "local_resource",
];

interface Begun {
  readonly turn: Turn;
  readonly endsAtMs: number;
}

test("over random crawls delays hold, places hold, and every site may be asked again", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = randomFrom(seed);
    const limits = {
      ...POLITENESS_DEFAULTS,
      siteConcurrencyMax: 1 + below(random, 4),
      addressConcurrencyMax: 1 + below(random, 6),
    };
    const politeness = new Politeness(limits);
    const sites = Array.from({ length: 12 }, (_, index): Addressee => {
      const delayMs = pick(random, [0, 100, 1_000, 5_000]);
      return { siteId: index, address: `a${index % 4}`, delayMs, addressDelayMs: index % 4 };
    });
    const lastAtMs = new Map<number | string, number>();
    let underWay: Begun[] = [];
    let nowMs = 0;
    for (let step = 0; step < 3_000; step++) {
      for (const begun of underWay.filter((each) => each.endsAtMs <= nowMs)) {
        const site = begun.turn.to;
        const reason = site.siteId < 3 ? "connect_timeout" : pick(random, ENDINGS);
        const ending = { reason, retryAfterMs: undefined, chance: random.next() };
        politeness.end(nowMs, begun.turn, ending);
      }
      underWay = underWay.filter((each) => each.endsAtMs > nowMs);
      const asked = sites.filter(() => random.next() < 0.7);
      for (const site of asked) {
        if (!politeness.maySend(nowMs, site)) continue;
        const gapMs = nowMs - (lastAtMs.get(site.siteId) ?? -Infinity);
        const addressGapMs = nowMs - (lastAtMs.get(site.address ?? "") ?? -Infinity);
        assert.ok(gapMs >= site.delayMs, `seed ${seed}: site asked after ${gapMs} ms`);
        assert.ok(addressGapMs >= site.addressDelayMs, `seed ${seed}: address after ${gapMs} ms`);
        lastAtMs.set(site.siteId, nowMs).set(site.address ?? "", nowMs);
        const turn = politeness.begin(nowMs, site);
        underWay.push({ turn, endsAtMs: nowMs + below(random, 3_000) });
        const ofSite = underWay.filter((each) => each.turn.to.siteId === site.siteId).length;
        const ofAddress = underWay.filter((each) => each.turn.to.address === site.address).length;
        assert.ok(ofSite <= limits.siteConcurrencyMax, `seed ${seed}: ${ofSite} to a site`);
        assert.ok(ofAddress <= limits.addressConcurrencyMax, `seed ${seed}: ${ofAddress}`);
      }
      for (const site of sites) {
        const idle = !underWay.some((each) => each.turn.to.address === site.address);
        const readyInMs = politeness.readyAtMs(site) - nowMs;
        if (idle)
          assert.ok(
            readyInMs <= Math.max(5 * limits.delayMaxMs, nowMs),
            `seed ${seed}: ready in ${readyInMs} ms`,
          );
      }
      nowMs += below(random, 2_000);
    }
  }
});

test("a million sites asked once leave only the recent ones in memory", () => {
  const politeness = courtesyWith();
  for (let siteId = 0; siteId < 1_000_000; siteId++) {
    const nowMs = siteId * 10;
    const to = { siteId, address: `a${siteId}`, delayMs: 1_000, addressDelayMs: 100 };
    const turn = politeness.begin(nowMs, to);
    politeness.end(nowMs, turn, { reason: "ok", retryAfterMs: undefined, chance: 0 });
  }
  assert.ok(politeness.size < 50_000, `${politeness.size} clocks`);
});
