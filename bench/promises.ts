/**
 * Are promises kept in random jobs? Virtual time, real scheduling code (`test/sim/promise-jobs.ts`).
 *
 *   node bench/promises.ts [--jobs 200] [--from 1] [--sites 60] [--verbose]
 *
 * Reported: deadlines promised `✓` and `✓?` at the start and kept; possible deadlines (an oracle
 * with true sizes keeps them) that were met; infeasible ones that were named before the start.
 */

import { parseArgs } from "node:util";
import { jobOf, newTally, runJob } from "../test/sim/promise-jobs.ts";

const { values } = parseArgs({
  options: {
    jobs: { type: "string", default: "200" },
    from: { type: "string", default: "1" },
    sites: { type: "string", default: "60" },
    verbose: { type: "boolean", default: false },
  },
});

const tally = newTally();
const from = Number(values.from);
for (let seed = from; seed < from + Number(values.jobs); seed++) {
  const job = await jobOf(seed, Number(values.sites));
  await runJob(job, tally, values.verbose ? (line) => console.error(line) : undefined);
}
const share = (part: number, whole: number): string =>
  `${part} of ${whole} (${((100 * part) / Math.max(1, whole)).toFixed(1)} %)`;
console.log("| jobs | deadlines | ✓ kept | ✓? kept | possible met | infeasible named |");
console.log("|--:|--:|--:|--:|--:|--:|");
console.log(
  `| ${tally.jobs} | ${tally.deadlines} | ${share(tally.sureKept, tally.sure)} | ${share(tally.likelyKept, tally.likely)} | ${share(tally.possibleKept, tally.possible)} | ${share(tally.infeasibleNamed, tally.infeasible)} |`,
);
const { user, system } = process.cpuUsage();
console.log(`\n${((user + system) / 1e6).toFixed(0)} s of CPU time.`);
