/**
 * Several machines crawl one simulated web while everything goes wrong that can: nodes are killed (the leader too),
 * killed for good, stopped for longer than their licence, cut off; they join and leave; the servers where they
 * meet lose everything; notes, parcels and questions are lost, repeated and overtaken. Real leaders, agents and
 * loops in virtual time (`src/lab/run-cluster.ts`), judged from the servers' logs and all stores together.
 *
 * Usage: node bench/team-faults.ts [seeds] [first seed]
 *
 * Prints a line for every seed with a broken promise, a table, and one line of JSON; ends with 1 when a promise was broken.
 */

import { clusterFaults } from "../src/lab/cluster-faults.ts";
import { judgeCluster } from "../src/lab/judge-cluster.ts";
import { runCluster } from "../src/lab/run-cluster.ts";

const [seeds, first] = [Number(process.argv[2] ?? 1_000), Number(process.argv[3] ?? 1)];
const startedAt = performance.now();
const sum = { virtualMs: 0, requests: 0, leaders: 0, lost: 0, broken: 0 };
const faults = { kills: 0, deaths: 0, pauses: 0, cuts: 0, wipes: 0, joins: 0, leaves: 0 };
for (let seed = first; seed < first + seeds; seed++) {
  const plan = clusterFaults(seed);
  for (const key of Object.keys(faults) as (keyof typeof faults)[]) faults[key] += plan[key] ?? 0;
  try {
    const report = await runCluster(plan);
    sum.virtualMs += report.virtualMs;
    sum.requests += report.log.length;
    sum.leaders += report.leaders;
    sum.lost += report.lost;
    const violations = judgeCluster(report);
    if (violations.length > 0) broke(seed, JSON.stringify(violations.slice(0, 3)));
  } catch (error) {
    broke(seed, error instanceof Error ? error.message : String(error));
  }
}
const virtualHours = Number((sum.virtualMs / 3_600_000).toFixed(1));
const realSeconds = Math.round((performance.now() - startedAt) / 1000);
console.log(`seeds ${seeds}, with a broken promise ${sum.broken}`);
for (const [what, count] of Object.entries(faults)) console.log(`${what.padEnd(8)}${count}`);
console.log(`leaders ${sum.leaders}, requests ${sum.requests}, virtual hours ${virtualHours}`);
console.log(
  JSON.stringify({ bench: "team-faults", seeds, ...sum, ...faults, virtualHours, realSeconds }),
);
process.exitCode = sum.broken === 0 ? 0 : 1;

function broke(seed: number, what: string): void {
  sum.broken += 1;
  console.log(`BROKEN seed ${seed}: ${what}`);
}
