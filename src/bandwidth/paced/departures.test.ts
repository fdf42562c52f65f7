import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../../base/random.ts";
import type { Candidate } from "../controller.ts";
import { Departures, type OnTheWay } from "./departures.ts";
import { pacedFlow, type PacedFlow } from "./paced-flow.ts";

const RATE_BPS = 1e6;
const PAGE_BYTES = 8000;
const FIRST_BYTES = 6000;

function candidate(expectedWaitMs: number): Candidate {
  const predictedBps = 1e6;
  return { siteId: 1, predictedBps, expectedBytes: PAGE_BYTES, expectedWaitMs, passedOverMs: 0 };
}

function onTheWay(stockShare: number): OnTheWay {
  const bytes = { firstBytes: FIRST_BYTES, greetingBytes: 0 };
  return { rateBps: RATE_BPS, stockShare, ...bytes, isTried: true };
}

/** Asks every millisecond, and sends whenever that is allowed. */
function sendFor(
  seconds: number,
  waitMsOf: () => number,
  stockShare: number,
): { readonly departures: Departures; readonly sent: readonly PacedFlow[] } {
  const departures = new Departures();
  departures.setRate(0, RATE_BPS);
  const sent: PacedFlow[] = [];
  for (let nowMs = 0; nowMs < seconds * 1000; nowMs++) {
    const next = candidate(waitMsOf());
    if (!departures.hasRoom(nowMs, next, onTheWay(stockShare))) continue;
    const flow = pacedFlow(nowMs, next, 8192);
    departures.left(flow, onTheWay(stockShare));
    sent.push(flow);
  }
  return { departures, sent };
}

function bpsOf(sent: readonly PacedFlow[], bytesEach: number, seconds: number): number {
  return (sent.length * bytesEach) / seconds;
}

test("quick servers are asked no faster than 1.3 times the rate by their first bytes", () => {
  const { sent } = sendFor(10, () => 0, 0);
  const bps = bpsOf(sent, FIRST_BYTES, 10);
  assert.ok(bps > 1.28 * RATE_BPS && bps < 1.32 * RATE_BPS, `${bps}`);
});

test("slow servers are asked at the rate by whole pages, and faster while little is on its way", () => {
  const random = randomFrom(1);
  const waitMsOf = (): number => 200 + 2800 * random.next();
  const full = bpsOf(sendFor(10, waitMsOf, 1).sent, PAGE_BYTES, 10);
  assert.ok(full > RATE_BPS && full < 1.1 * RATE_BPS, `${full} with enough on its way`);
  const empty = bpsOf(sendFor(1, waitMsOf, 0).sent, PAGE_BYTES, 1);
  assert.ok(empty > 2 * RATE_BPS, `${empty} with nothing on its way`);
});

test("what greetings bring counts beside the first bytes, of slow servers too", () => {
  const greeted = { ...onTheWay(1), greetingBytes: 4000 };
  for (const waitMs of [0, 1000]) {
    const departures = new Departures();
    const [plain, greeting] = [onTheWay(1), greeted].map((way) => {
      const flow = pacedFlow(0, candidate(waitMs), 8192);
      departures.left(flow, way);
      return flow.startBytes;
    });
    assert.equal((greeting ?? 0) - (plain ?? 0), 4000);
  }
});

test("no answers are asked for that would come when others are due", () => {
  const random = randomFrom(2);
  const waitMsOf = (): number => (random.next() < 0.5 ? 300 : 1300);
  const { sent } = sendFor(5, waitMsOf, 0.5);
  const dueBytes = new Map<number, number>();
  for (const { startedAtMs, expectedWaitMs } of sent) {
    const tenth = Math.floor((startedAtMs + expectedWaitMs) / 100);
    dueBytes.set(tenth, (dueBytes.get(tenth) ?? 0) + FIRST_BYTES);
  }
  const most = Math.max(...dueBytes.values());
  // Two tenths of a second together may hold what the rate brings in them, a little more, and one answer.
  assert.ok(most <= 0.206 * RATE_BPS + FIRST_BYTES, `${most} bytes in a tenth of a second`);
});

test("also where all take the same time, no more is due in the end than the rate and a little", () => {
  const { sent } = sendFor(5, () => 1000, 0);
  const bps = bpsOf(sent, FIRST_BYTES, 5);
  assert.ok(bps > 0.95 * RATE_BPS && bps < 1.1 * RATE_BPS, `${bps}`);
});

test("who has answered, and who never will, is no longer due; what it did not use is another's", () => {
  const departures = new Departures();
  departures.setRate(0, RATE_BPS);
  const flows: PacedFlow[] = [];
  const next = candidate(1000);
  while (flows.length < 200) {
    const flow = pacedFlow(0, next, 8192);
    departures.left(flow, onTheWay(1));
    flows.push(flow);
  }
  assert.equal(departures.hasRoom(10_000, next, onTheWay(1)), true, "later there is room");
  assert.equal(departures.hasRoom(0, next, onTheWay(1)), false);
  for (const flow of flows.slice(100)) departures.answered(flow);
  for (const flow of flows) departures.ended(flow);
  // Each has cost the least that any answer does, and that is soon made good.
  assert.equal(departures.hasRoom(100, next, onTheWay(1)), true);
});
