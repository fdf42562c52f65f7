import assert from "node:assert/strict";
import { test } from "node:test";
import { candidateOf } from "./candidate.ts";
import { type Division, Ownership, type PeerSetup } from "./ownership.ts";
import { SharedTurns } from "../frontier/shared-turns.ts";
import type { Mode } from "../partition/mode.ts";
import { urlOf } from "./small-crawl.suite.ts";

const OWN = "http://own.example/";
const FOREIGN = "http://foreign.example/";
const TO = { siteId: 1, address: "203.0.113.1", delayMs: 1000, addressDelayMs: 0 };

test("a foreign URL is dropped, held or sent, as the mode says", () => {
  for (const [mode, whose] of [
    ["firewall", "drop"],
    ["cross-over", "hold"],
    ["exchange", "send"],
  ] as const) {
    const ownership = new Ownership(setup({ mode }));
    assert.equal(ownership.whose(candidate(OWN)), "own");
    assert.equal(ownership.whose(candidate(FOREIGN)), whose);
  }
});

test("a foreign site is crawled only while links to others are followed", () => {
  const ownership = new Ownership(setup({ mode: "cross-over" }));
  assert.deepEqual(
    [ownership.mayCrawl("http://own.example"), ownership.mayCrawl("http://foreign.example")],
    [true, false],
  );
  ownership.isCrossing = true;
  assert.equal(ownership.mayCrawl("http://foreign.example"), true);
});

test("a bucket that is being handed over may not be crawled before its data has arrived", () => {
  const inTransit = new Map([[0, [{ from: "b", epoch: 1 }]]]);
  const ownership = new Ownership(setup({ division: division({ inTransit }) }));
  assert.deepEqual(
    [ownership.isOwn(OWN), ownership.hasArrived(OWN), ownership.isOwnSite("http://own.example")],
    [true, false, false],
  );
  ownership.divide(division({ epoch: 2 }));
  assert.deepEqual(
    [ownership.hasArrived(OWN), ownership.isOwnSite("http://own.example")],
    [true, true],
  );
});

test("a bucket that another process had is inherited: it may have requested just before", () => {
  const ownership = new Ownership(setup({}));
  assert.equal(ownership.isInherited("http://foreign.example"), false);
  ownership.divide(division({ epoch: 2, owners: ["a", "a"] }));
  assert.deepEqual(
    [ownership.isInherited("http://foreign.example"), ownership.isInherited("http://own.example")],
    [true, false],
  );
  assert.deepEqual(ownership.owned(), [0, 1]);
});

test("a site that others may request from needs their turn, or has its share of the concurrency", () => {
  const shared = new Ownership(setup({ sitesAreOwn: false }));
  assert.deepEqual(shared.shared("http://own.example", TO).shared, [
    { key: "site http://own.example", delayMs: 1000 },
  ]);
  const { concurrencyMax } = shared.shared("http://own.example", {
    ...TO,
    delayMs: 0,
    concurrencyMax: 8,
  });
  assert.equal(concurrencyMax, 4);
  const own = new Ownership(setup({ sitesAreOwn: true })).shared("http://own.example", TO);
  assert.deepEqual(
    [own.shared, own.concurrencyMax, own.addressConcurrencyMax],
    [undefined, undefined, 4],
  );
  const slow = new Ownership(setup({})).shared("http://own.example", {
    ...TO,
    addressDelayMs: 250,
  });
  assert.deepEqual(slow.shared, [{ key: "address 203.0.113.1", delayMs: 250 }]);
});

test("an independent process owns everything", () => {
  const ownership = new Ownership({ ...setup({}), border: undefined });
  assert.equal(ownership.whose(candidate(FOREIGN)), "own");
  assert.deepEqual(
    [ownership.isOwnSite("http://foreign.example"), ownership.division],
    [true, undefined],
  );
});

interface Given {
  readonly mode?: Mode;
  readonly division?: Division;
  readonly sitesAreOwn?: boolean;
}

function setup({
  mode = "exchange",
  division: now = division({}),
  sitesAreOwn = true,
}: Given): PeerSetup {
  return {
    seeds: [],
    turns: new SharedTurns(),
    rules: {
      size: 2,
      sitesAreOwn,
      crossesOver: mode === "cross-over",
      isHandedOut: false,
      siteConcurrencyMax: 8,
      addressConcurrencyMax: 8,
    },
    border: {
      self: "a",
      partition: {
        bucketCount: 2,
        groups: ["a", "b"],
        keepsSites: true,
        bucketOf: (url) => (url.includes("own.example") ? 0 : 1),
      },
      ownsContents: false,
      mode,
      division: now,
      sampleShare: 0,
      popular: undefined,
      popularFound: undefined,
      popularUrls: [],
      bus: {
        send: () => true,
        acknowledge: () => undefined,
        tell: () => undefined,
        leave: async () => undefined,
      },
      everyPages: 1,
      everyMs: 1,
    },
  };
}

function division(changes: Partial<Division>): Division {
  return {
    epoch: 1,
    owners: ["a", "b"],
    inTransit: new Map(),
    losses: [],
    formerly: new Map(),
    members: new Set(["a", "b"]),
    left: new Map(),
    ...changes,
  };
}

function candidate(url: string) {
  return candidateOf({ url: urlOf(url), written: undefined });
}
