import assert from "node:assert/strict";
import { test } from "node:test";
import type { Snapshot } from "../control/snapshot.ts";
import { textsOf } from "../exchange/control-pieces.ts";
import { NO_TOTALS } from "../store/store.ts";
import { forMessage } from "./bounded-snapshot.ts";
import type { Member } from "./members.ts";
import { messageIn } from "./message-checks.ts";
import { asControlMessage } from "./messages.ts";
import { wholeOf } from "./whole-view.ts";

const NODES = 500;
const URL_OF_2_KB = `https://${"long".repeat(500)}.example/`;
const ROUTE = { from: "coordinator", to: "node" };

test("a process that shows 240 sites with long URLs does so within one message", () => {
  const snapshot = forMessage(snapshotOf(240));
  assert.equal(snapshot.sites.length, 100);
  const look = asControlMessage({ kind: "look", snapshot, result: null });
  assert.equal(typeof messageIn(JSON.parse(JSON.stringify(look))), "object");
  assert.equal(textsOf(ROUTE, look).length, 1);
});

test("the whole of 500 nodes is one message, and each URL that they sent is in its sum", () => {
  const names = Array.from({ length: NODES }, (_, node) => `${"machine".repeat(5)}-${node}`);
  const sentTo = Object.fromEntries(names.map((name) => [name, 99_999]));
  const members = names.map((name) => {
    const exchange = {
      urlsSent: NODES * 99_999,
      urlsReceived: 1,
      sentBytes: 1,
      pagesSent: 0,
      messages: 0,
    };
    const report = { leastPages: "", usedBps: 12_345.678, droppedMessages: 0 };
    const known = { name, hasEnded: false, snapshot: snapshotOf(100), report };
    return { ...known, exchange: { ...exchange, sentTo } } as unknown as Member;
  });
  const state = {
    state: "running",
    because: "",
    elapsedMs: 1,
    resumed: false,
    limitBps: 1,
    recentBps: [],
  } as const;
  const whole = wholeOf(members, new Map(), { ...state, droppedMessages: 0 });
  assert.equal(whole.parallel?.urlsSent, NODES * NODES * 99_999);
  const look = asControlMessage({ kind: "look", snapshot: forMessage(whole), result: null });
  assert.equal(typeof messageIn(JSON.parse(JSON.stringify(look))), "object");
  assert.equal(textsOf(ROUTE, look).length, 1);
});

function snapshotOf(siteCount: number): Snapshot {
  const trouble = { url: URL_OF_2_KB, reason: "server_error", detail: URL_OF_2_KB };
  const site: Omit<Snapshot["sites"][number], "site"> = {
    known: 10_000,
    pages: 9_999,
    bytes: 123_456_789,
    pending: 1,
    inFlight: 1,
    state: "polite delay",
    nextInMs: 123.456_789,
    round: {
      number: 1,
      news: { changed: 0, unchanged: 0, fresh: 0, gone: 0, left: 0 },
      nextInMs: undefined,
    },
    priority: 1,
    forecast: undefined,
    deadlineMs: 3_600_000,
    finishedMs: undefined,
  };
  return {
    state: "running",
    because: "",
    processId: 1,
    elapsedMs: 1_234_567.89,
    resumed: false,
    totals: { ...NO_TOTALS, known: 20_000, pages: 9_999 },
    pending: 10_001,
    unreachable: 0,
    rateBps: 123_456,
    limitBps: 1_000_000,
    predictedBps: 99_999.99,
    waitingReaders: 5,
    ledger: {
      page: 1,
      robots: 1,
      sitemap: 1,
      redirect: 1,
      error: 1,
      duplicate: 1,
      retry: 1,
      exchange: 1,
    },
    pagesPerSecond: 12.345_678,
    recentBps: Array.from({ length: 60 }, () => 123_456),
    remainingMs: 1_234_567.89,
    connectionsOpen: 10,
    connectionsMax: 100,
    plan: undefined,
    siteCount,
    sites: Array.from({ length: siteCount }, (_, at) => ({ ...site, site: `${URL_OF_2_KB}${at}` })),
    troubles: Array.from({ length: 20 }, () => trouble),
  };
}
