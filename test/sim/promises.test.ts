/** Are promises kept? Random jobs with delays, slow lines, unknown sizes and infeasible deadlines. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { jobOf, newTally, runJob } from "./promise-jobs.ts";

/** More with WEIR_SIM_SEEDS, before a release; `bench/promises.ts` runs 200 of up to 60 sites. */
const JOBS = Number(process.env["WEIR_SIM_SEEDS"] ?? 14);
const SITES_MAX = 10;

test(`in ${JOBS} random jobs sure promises are kept, and infeasible deadlines are named at the start`, async () => {
  const tally = newTally();
  const wrong: string[] = [];
  for (let seed = 1; seed <= JOBS; seed++)
    await runJob(await jobOf(seed, SITES_MAX), tally, (line) => wrong.push(line));
  const what = `${JSON.stringify(tally)}\n${wrong.join("\n")}`;
  assert.ok(tally.sure > 1, what);
  assert.equal(tally.sureKept, tally.sure, what);
  assert.ok(tally.infeasibleNamed >= 0.95 * tally.infeasible, what);
  assert.ok(tally.possibleKept >= 0.75 * tally.possible, what);
});
