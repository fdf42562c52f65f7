/**
 * Reads the counters of network interfaces every 100 ms, on the tick, in a process of its own.
 *
 *   node bench/bandwidth-sampler.ts IFACE…
 *
 * Prints "<ms> <bytes>": the monotonic clock, and what they have received in all.
 *
 * A busy machine wakes it late, so each line carries the time at which the counters were really
 * read; readers of the lines interpolate. It sleeps without an event loop, because a
 * timer's delay would be one more. Ends when its output is closed.
 */

import { closeSync, openSync, readSync, writeSync } from "node:fs";

const TICK_MS = 100;
const DECIMALS = 3;

const counters = process.argv
  .slice(2)
  .map((name) => openSync(`/sys/class/net/${name}/statistics/rx_bytes`, "r"));
const sleeper = new Int32Array(new SharedArrayBuffer(4));
const text = Buffer.alloc(32);
let tickMs = Math.ceil(nowMs() / TICK_MS) * TICK_MS;
try {
  for (;;) {
    Atomics.wait(sleeper, 0, 0, Math.max(0, tickMs - nowMs()));
    const beforeMs = nowMs();
    let bytes = 0;
    for (const counter of counters)
      bytes += Number(text.toString("latin1", 0, readSync(counter, text, 0, text.length, 0)));
    // Counters are read one after the other: the middle of the reading is their time.
    const atMs = (beforeMs + nowMs()) / 2;
    writeSync(1, `${atMs.toFixed(DECIMALS)} ${bytes}\n`);
    tickMs = Math.max(tickMs + TICK_MS, Math.ceil(nowMs() / TICK_MS) * TICK_MS);
  }
} catch {
  for (const counter of counters) closeSync(counter);
}

/** The clock that all processes of the machine share. */
function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
