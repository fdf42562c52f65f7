/**
 * Outages in virtual time: servers, the own link and the name server fail for 1 s to 2 h, some URLs always fail, and
 * half of the sites answer 429 beyond a rate. A URL is lost only for a reason of its own.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeTeam } from "../../src/lab/judge-team.ts";
import { runSim, type SimPlan, type SimReport } from "../../src/lab/run-sim.ts";
import { runTeam } from "../../src/lab/run-team.ts";

/** More with WEIR_SIM_SEEDS, before a release. */
const SEEDS = Number(process.env["WEIR_SIM_SEEDS"] ?? 10);
const MINUTE = 60_000;

const PLAN = {
  world: {
    siteCount: 5,
    pagesMin: 10,
    pagesMax: 60,
    bytesMedianMax: 2_000,
    bytesMax: 40_000,
    goneShare: 0.1,
  },
  settings: { delayMs: 250, addressDelayMs: 100 },
  hasOutages: true,
} satisfies Partial<SimPlan>;

/** Every page is stored, and every URL that failed is one that always fails. */
function assertNothingLost({ violations, failingUrls, totals }: SimReport, seed: number): void {
  assert.deepEqual(violations, [], `seed ${seed}`);
  const { outcomes, known, done, failed, skipped } = totals;
  assert.equal(known, done + failed + skipped, `seed ${seed}: nothing is pending`);
  // Which of them a URL ends with may depend on an outage: an overloaded site answers 503 for all.
  const ended = [503, 429, 500].map((status) => outcomes[`http_${status}`] ?? 0);
  const sum = ended.reduce((all, count) => all + count, 0);
  assert.equal(sum, failingUrls.size, `seed ${seed}: ${ended}`);
}

test(`${SEEDS} crawls through outages that are shorter than their patience are complete`, async () => {
  let [longestMs, refused] = [0, 0];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const settings = { ...PLAN.settings, patienceMs: 150 * MINUTE };
    const report = await runSim({ ...PLAN, seed, settings });
    assertNothingLost(report, seed);
    assert.equal(report.result?.complete, true, `seed ${seed}`);
    longestMs = Math.max(longestMs, report.virtualMs);
    for (const url of report.chargedPages) {
      const own = report.log.filter(({ site, path }) => site + path === url);
      const statuses = own.map(({ status }) => status);
      assert.ok(
        statuses.some((status) => status !== 200 && status !== 429),
        `seed ${seed}: ${url} is charged for the rate: ${statuses}`,
      );
    }
    refused += report.log.filter(({ status }) => status === 429).length;
  }
  assert.ok(refused > SEEDS, `${refused} requests refused for their rate`);
  assert.ok(longestMs > 10 * MINUTE, `the longest took ${longestMs} ms`);
});

test(`${SEEDS} crawls through longer outages end incomplete, and the same command completes them`, async () => {
  let incomplete = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const report = await runSim({ ...PLAN, seed, startAgainMs: 10 * MINUTE, crashes: 1 });
    assertNothingLost(report, seed);
    incomplete += report.incompleteRuns;
  }
  assert.ok(incomplete > 0, "some crawls had to be started again");
});

test("three processes get through outages together, and end when all have what there is", async () => {
  for (const coordination of ["static", "dynamic"] as const)
    for (let seed = 1; seed <= 3; seed++) {
      const settings = { ...PLAN.settings, patienceMs: 30 * MINUTE };
      const { world } = PLAN;
      const plan = { seed, procs: 3, world, settings, coordination, outageMsMax: 10 * MINUTE };
      const report = await runTeam(plan);
      assert.deepEqual(judgeTeam(report), [], `seed ${seed}, ${coordination}`);
      assert.ok(report.results.every(({ complete }) => complete));
    }
});

test("processes whose sites do not respond end incomplete when their patience is over", async () => {
  let pending = 0;
  for (let seed = 1; seed <= 3; seed++) {
    const settings = { ...PLAN.settings, patienceMs: MINUTE };
    const { world } = PLAN;
    const report = await runTeam({ seed, procs: 3, world, settings, outageMsMax: 120 * MINUTE });
    const left = report.results.filter(({ complete }) => !complete);
    for (const { urls, unreachable, stoppedBy } of left) {
      assert.ok(urls.pending > 0 && unreachable.count > 0, `seed ${seed}`);
      assert.match(stoppedBy, /^\d+ sites? could not be reached$/);
    }
    pending += left.length;
    const settled = judgeTeam(report).filter(({ rule }) => rule !== "missing");
    const lost = settled.filter(
      ({ rule, detail }) => rule === "wrong-end" && !/not waiting/.test(detail),
    );
    assert.deepEqual(lost, [], `seed ${seed}`);
  }
  assert.ok(pending > 0, "some processes had work left");
});
