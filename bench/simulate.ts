/**
 * How much faster than real time a crawl is simulated: virtual seconds per real second, and per
 * second of CPU, which other work on the machine hardly changes.
 *
 * Usage: node bench/simulate.ts [seeds]
 */

import { runSim } from "../src/lab/run-sim.ts";

const seeds = Number(process.argv[2] ?? 50);
const startedAt = performance.now();
let virtualMs = 0;
let events = 0;
let requests = 0;
let violations = 0;
for (let seed = 1; seed <= seeds; seed++) {
  const report = await runSim({
    seed,
    world: { siteCount: 6, pagesMin: 10, pagesMax: 60, bytesMedianMax: 2_000, bytesMax: 40_000 },
    settings: { delayMs: 1_000, addressDelayMs: 250 },
    faultShare: 0.08,
    dnsFaultShare: 0.2,
    diskFullShare: 0.01,
    crashes: 2,
    wallJumps: 2,
  });
  virtualMs += report.virtualMs;
  events += report.events;
  requests += report.log.length;
  violations += report.violations.length;
}
const realMs = performance.now() - startedAt;
const { user, system } = process.cpuUsage();
const cpuMs = (user + system) / 1000;
console.log(
  JSON.stringify({
    seeds,
    virtualSeconds: Math.round(virtualMs / 1000),
    realSeconds: Number((realMs / 1000).toFixed(2)),
    timesRealTime: Math.round(virtualMs / realMs),
    cpuSeconds: Number((cpuMs / 1000).toFixed(2)),
    virtualPerCpuSecond: Math.round(virtualMs / cpuMs),
    seedsPerSecond: Number(((seeds * 1000) / realMs).toFixed(1)),
    events,
    requests,
    violations,
  }),
);
