/**
 * A clock that stands still while this process does not get to run.
 *
 * It counts at most 10 ms per turn of the event loop. On a busy machine its second therefore lasts longer than a
 * second of real time, and a timeout passes only after both ends of a connection in this process had their turns.
 * Servers that wait use the same clock, so that their speed relative to the timeouts is that of their row.
 */

import assert from "node:assert/strict";
import { type Clock, systemClock } from "./clock.ts";

/** Largest advance per turn of the event loop, in milliseconds. */
const TURN_MS_MAX = 10;
const TICK_MS = 5;
/** On this clock; longer than any condition of a test takes. */
const WAIT_MS_MAX = 60_000;

let countedMs = 0;
let countedAtMs = systemClock.nowMs();
let leftOfTurnMs = TURN_MS_MAX;

setInterval(() => {
  nowMs();
  leftOfTurnMs = TURN_MS_MAX;
}, TICK_MS).unref();

function nowMs(): number {
  const realMs = systemClock.nowMs();
  const stepMs = Math.min(realMs - countedAtMs, leftOfTurnMs);
  countedAtMs = realMs;
  leftOfTurnMs -= stepMs;
  countedMs += stepMs;
  return countedMs;
}

export const patientClock: Clock = {
  nowMs,
  wallMs: () => systemClock.wallMs(),
  after(delayMs, callBack) {
    const endMs = nowMs() + delayMs;
    let cancel = systemClock.after(delayMs, look);
    function look(): void {
      const leftMs = endMs - nowMs();
      if (leftMs <= 0) callBack();
      else cancel = systemClock.after(leftMs, look);
    }
    return () => cancel();
  },
  soon: (callBack) => systemClock.soon(callBack),
};

/** Calls back every `everyMs` until the returned function is called. */
export function every(everyMs: number, callBack: () => void): () => void {
  let cancel = patientClock.after(everyMs, again);
  function again(): void {
    cancel = patientClock.after(everyMs, again);
    callBack();
  }
  return () => cancel();
}

export async function until(holds: () => boolean, what: string): Promise<void> {
  const endMs = nowMs() + WAIT_MS_MAX;
  while (!holds()) {
    assert.ok(nowMs() < endMs, `waited in vain: ${what}`);
    await new Promise<void>((resolve) => patientClock.after(TICK_MS, resolve));
  }
}
