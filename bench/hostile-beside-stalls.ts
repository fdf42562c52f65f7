/**
 * Preloaded into a crawl: writes the longest stalls of its event loop, and its CPU time, to STALLS_FILE at its end.
 *
 * A stall is the time between two timers. On a machine with other work it also contains the time in which this process
 * did not run, so the CPU time of the thread between the two is written too: that is the crawl's own part.
 */

import { writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const file = process.env["STALLS_FILE"];
const TICK_MS = 5;
const STALL_MS = 50;
/** The program loads and opens its folder in this time. */
const START_MS = 3_000;

if (isMainThread && file !== undefined) {
  const stalls: { atMs: number; ms: number; cpuMs: number }[] = [];
  let lastMs = performance.now();
  let last = process.threadCpuUsage();
  setInterval(() => {
    const nowMs = performance.now();
    const now = process.threadCpuUsage();
    const ms = Math.round(nowMs - lastMs);
    const cpuMs = Math.round((now.user + now.system - last.user - last.system) / 1000);
    const atMs = Math.round(nowMs);
    if (ms >= STALL_MS && atMs > START_MS) stalls.push({ atMs, ms, cpuMs });
    lastMs = nowMs;
    last = now;
  }, TICK_MS).unref();
  process.once("exit", () => {
    const { user, system } = process.cpuUsage();
    const own = process.threadCpuUsage();
    const cpuMs = Math.round((user + system) / 1000);
    const mainCpuMs = Math.round((own.user + own.system) / 1000);
    writeFileSync(file, JSON.stringify({ stalls, cpuMs, mainCpuMs }));
  });
}
