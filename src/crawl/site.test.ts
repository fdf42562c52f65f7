import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../base/random.ts";
import { OPEN } from "../fetch/robots.ts";
import { SimClock } from "../lab/sim-clock.ts";
import { Site, SITE_STATES, type SiteState } from "./site.ts";
import { emptyRow } from "./sites.ts";

const TO = { siteId: 1, address: undefined, delayMs: 0, addressDelayMs: 0, concurrencyMax: 1 };
const TRIAL = { attempts: 1, reason: "first_byte_timeout", detail: "", notBeforeMs: 0 } as const;

const NOTHING_REMEMBERED = { traps: "", rate: "" };

test("a site goes from asleep to ready, rests, and sleeps again", () => {
  const { site } = newSite();
  const seen: SiteState[] = [site.state];
  const steps = [
    () => site.found(true),
    () => site.woken(),
    () => site.placed(TO),
    () => site.ruled(OPEN, Infinity),
    () => site.rulesStored(),
    () => site.rested(),
    () => site.responded(),
    () => site.ended(1, 5),
    () => site.slept(),
  ];
  for (const step of steps) {
    step();
    if (seen.at(-1) !== site.state) seen.push(site.state);
  }
  const path = ["locating", "reading-robots", "ready", "resting", "ready", "ending", "asleep"];
  assert.deepEqual(seen, ["asleep", ...path]);
  assert.equal(site.finishedAtMs, 5);
});

test("rules are in use at once, and pages only when the rules are stored", () => {
  const { site } = newSite();
  site.found(true);
  site.woken();
  site.placed(TO);
  site.ruled(OPEN, Infinity);
  assert.deepEqual([site.rules, site.isReady], [OPEN, false]);
  site.rulesStored();
  assert.equal(site.isReady, true);
});

test("an ending site is ready again when a URL is found, and a lost one forgets its place", () => {
  const { site } = readySite();
  site.ended(1, 0);
  assert.equal(site.state, "ending");
  site.found(true);
  assert.deepEqual([site.state, site.finishedAtMs], ["ready", undefined]);
  site.lost();
  assert.deepEqual(
    [site.state, site.awake, site.to, site.rules],
    ["unreachable", false, undefined, undefined],
  );
  site.woken();
  assert.equal(site.state, "locating");
});

test("a recrawl opens only a site without a place, and ends where its outage left it", () => {
  const { site } = newSite();
  site.found(true);
  site.ended(1, 0);
  site.opens();
  site.lost();
  assert.equal(site.state, "opening");
  site.opened(9, true);
  assert.deepEqual([site.state, site.finishedAtMs], ["unreachable", 9]);
  assert.throws(() => readySite().site.opens(), /ready does not become opening/);
});

test("invariant 4: accounts add up after every verb, and a wrong verb stops the program", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed);
    const { site, changes } = newSite();
    let known = 0;
    let pending = 0;
    for (let step = 0; step < 50; step++) {
      const chance = random.next();
      const before = changes();
      if (chance < 0.3) [known, pending] = [known + 1, pending + 1];
      if (chance < 0.3) site.found(true);
      else if (chance < 0.4) site.found(false);
      else if (chance < 0.7 && pending > 0) site.ended(step, 0);
      else if (chance >= 0.7 && pending < known) site.reopened();
      else continue;
      if (chance >= 0.3 && chance < 0.4) known += 1;
      else if (chance >= 0.4) pending += chance < 0.7 ? -1 : 1;
      assert.deepEqual([site.known, site.pending], [known, pending], `seed ${seed}, ${step}`);
      assert.ok(changes() > before, `seed ${seed}: a changed site is stored again`);
    }
  }
  assert.throws(() => newSite().site.ended(1, 0), /invariant 4/);
  assert.throws(() => newSite().site.reopened(), /invariant 4/);
  assert.throws(() => newSite().site.pageStored(), /invariant 4/);
});

test("a site is restored from its row, without its state", () => {
  const { site, clock } = readySite();
  site.pageStored();
  site.robotsRead({ status: 200, text: "Disallow:", fetchedAtMs: 1 });
  site.sitemapsAreRead();
  site.countNews("changed");
  const row = site.row(NOTHING_REMEMBERED);
  const other = new Site(row, clock, { changed: () => undefined }, false);
  assert.deepEqual(other.row(NOTHING_REMEMBERED), row);
  assert.deepEqual([other.state, other.pending, other.pages], ["asleep", 1, 1]);
  assert.deepEqual(other.round.news, { changed: 1, unchanged: 0, fresh: 1, gone: 0, left: 0 });
});

test("a round that began in the future, by a wall clock that was wrong, begins now", () => {
  const { site, clock } = newSite();
  const row = site.row(NOTHING_REMEMBERED);
  assert.ok(row.round !== undefined);
  const later = { ...row, round: { ...row.round, startedAtMs: clock.wallMs() + 1e9 } };
  const restored = new Site(later, clock, { changed: () => undefined }, false);
  assert.equal(restored.round.startedAtMs, clock.nowMs());
});

test("a failed URL is forgotten when it ends", () => {
  const { site } = readySite();
  site.failed(1, TRIAL);
  assert.equal(site.trial(1)?.attempts, 1);
  site.ended(1, 0);
  assert.equal(site.trial(1), undefined);
});

test("every state can be reached, and left", () => {
  const reached = new Set<string>(["asleep"]);
  for (const state of reached)
    for (const next of SITE_STATES[state as SiteState]) reached.add(next);
  assert.deepEqual([...reached].sort(), Object.keys(SITE_STATES).sort());
  for (const [state, next] of Object.entries(SITE_STATES)) assert.ok(next.length > 0, state);
});

function newSite() {
  const clock = new SimClock();
  let changes = 0;
  const row = emptyRow(1, "http://one.example");
  const site = new Site(row, clock, { changed: () => (changes += 1) }, false);
  return { site, clock, changes: () => changes };
}

function readySite() {
  const made = newSite();
  const { site } = made;
  site.found(true);
  site.woken();
  site.placed(TO);
  site.ruled(OPEN, Infinity);
  site.rulesStored();
  return made;
}
