import assert from "node:assert/strict";
import { test } from "node:test";
import type { Flow } from "../../bandwidth/controller.ts";
import { Governor } from "../../bandwidth/paced/governor.ts";
import { SimClock } from "../../lab/sim-clock.ts";
import { PausedReads } from "./paused-reads.ts";

interface Told {
  readonly atMs: number;
  readonly bytes: number;
  readonly mayBeMore: boolean;
}

/** What a controller hears of one reader, of which so much lies unread after so many milliseconds. */
async function toldOf(limitBps: number, unreadAt: (ms: number) => number): Promise<Told[]> {
  const clock = new SimClock();
  const startMs = clock.nowMs();
  const told: Told[] = [];
  const governor = new Governor(startMs, limitBps);
  governor.liesUnread = (_, bytes, mayBeMore) =>
    void told.push({ atMs: clock.nowMs() - startMs, bytes, mayBeMore });
  const readers = new PausedReads(clock, governor, () => {});
  const arrival = { isGreeting: false, unreadBytes: () => unreadAt(clock.nowMs() - startMs) };
  readers.add({ siteId: 1 } as Flow, { readOn: () => {}, arrival });
  await clock.runUntil(new Promise<void>((done) => clock.after(2000, done)));
  return told;
}

test("who waits is asked about less and less often, and what comes late is told as well", async () => {
  const told = await toldOf(1e6, (ms) => (ms < 700 ? Math.min(4, Math.floor(ms / 40)) : 5) * 1448);
  assert.equal(told[0]?.mayBeMore, true, "at first a window may still be filling");
  assert.ok((told[0]?.atMs ?? Infinity) < 10);
  assert.deepEqual(told.at(-1)?.bytes, 5 * 1448, "a packet that came much later");
  assert.equal(told.at(-1)?.mayBeMore, false);
  assert.ok(told.length < 16, `${told.length} questions in two seconds`);
});

test("of a fast line only those are asked about who wait for long", async () => {
  const told = await toldOf(1e7, () => 1448);
  assert.deepEqual(
    told.slice(0, 3).map(({ atMs }) => atMs),
    [50, 100, 200],
  );
});

test("who reads on is asked about no longer, and is let go on once", async () => {
  const clock = new SimClock();
  let asked = 0;
  let readOn = 0;
  const readers = new PausedReads(clock, new Governor(clock.nowMs(), 1e6), () => {});
  const flow = { siteId: 1 } as Flow;
  const arrival = { isGreeting: false, unreadBytes: () => void (asked += 1) };
  readers.add(flow, { readOn: () => (readOn += 1), arrival });
  readers.readOn(flow);
  readers.readOn(flow);
  await clock.runUntil(new Promise<void>((done) => clock.after(500, done)));
  assert.deepEqual([readOn, asked, readers.size], [1, 0, 0]);
});
