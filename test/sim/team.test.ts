/** Several processes crawl one simulated web over a bad bus, are killed and stopped, and are judged together. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { coverageInSample } from "../../src/results/parallel-metrics.ts";
import { judgeTeam } from "../../src/lab/judge-team.ts";
import { runTeam, type TeamPlan, type TeamReport } from "../../src/lab/run-team.ts";
import { NO_BUS_FAULTS } from "../../src/lab/sim-bus.ts";

const WORLD = { siteCount: 8, pagesMax: 30 };
/** Some sites of these worlds are so slow that a page takes minutes. */
const PATIENT = { totalTimeoutMs: 3_600_000, idleTimeoutMs: 600_000, firstByteTimeoutMs: 600_000 };
const BAD_BUS = { lossShare: 0.15, repeatShare: 0.1, refusalShare: 0.1, delayMsMax: 300 };

test("one, two, four and eight processes end with the same pages, each fetched once", async () => {
  const expected = pagesOf(await clean({ seed: 1, procs: 1, world: WORLD }));
  assert.ok(expected.size > 50);
  for (const procs of [2, 4, 8]) {
    const report = await clean({ seed: 1, procs, world: WORLD });
    assert.deepEqual(pagesOf(report), expected, `${procs} processes`);
  }
});

test("the web may be divided by URL, or handed out piece by piece, with the same end", async () => {
  const expected = pagesOf(await clean({ seed: 2, procs: 1, world: WORLD }));
  const byUrl = await clean({ seed: 2, procs: 3, world: WORLD, partition: "url-hash" });
  assert.deepEqual(pagesOf(byUrl), expected);
  const dealt = await clean({ seed: 2, procs: 3, world: WORLD, coordination: "dynamic" });
  assert.deepEqual(pagesOf(dealt), expected);
  assert.ok(dealt.results.every(({ pages }) => pages > 0));
});

test("dynamic coordination divides the web evenly, from one, three or twelve seeds", async () => {
  const world = {
    siteCount: 12,
    pagesMin: 60,
    pagesMax: 60,
    linksAwayShare: 0.2,
    speedBpsMin: 1e6,
    speedBpsMax: 1e6,
    crawlDelayShare: 0,
  };
  const settings = { ...PATIENT, grain: 8, scope: "any" as const };
  for (const seedCount of [1, 3, 12]) {
    const plan = { seed: 5, procs: 4, world, seedCount, settings };
    const report = await runTeam({ ...plan, coordination: "dynamic" });
    // The truth of the checks is what all seeds lead to.
    const isMissing = seedCount < world.siteCount ? "missing" : "";
    assert.deepEqual(
      judgeTeam(report).filter(({ rule }) => rule !== isMissing),
      [],
    );
    const pages = report.results.map((result) => result.pages);
    const mean = pages.reduce((sum, each) => sum + each, 0) / pages.length;
    assert.ok(mean > 100);
    const least = Math.min(...pages);
    assert.ok(least >= 0.6 * mean, `${seedCount} seeds: ${pages.join(" ")}`);
  }
});

test("a firewall drops links to others, and crossing over fetches pages more than once", async () => {
  const firewall = await runTeam({ seed: 3, procs: 3, world: WORLD, mode: "firewall" });
  assert.equal(firewall.urlsSent, 0);
  const crossing = await runTeam({ seed: 3, procs: 3, world: WORLD, mode: "cross-over" });
  const impolite = judgeTeam(crossing).filter(({ rule }) => !rule.endsWith("-twice"));
  assert.deepEqual(impolite, []);
  const downloads = crossing.results.reduce((sum, { pages }) => sum + pages, 0);
  assert.ok(downloads > pagesOf(crossing).size, "some pages were fetched by several");
});

test("a sample estimates what firewalls miss, and adds no pages", async () => {
  const plan = { seed: 6, procs: 4, world: WORLD, partition: "url-hash" as const };
  const walled = { ...plan, mode: "firewall" as const, settings: PATIENT };
  const all = pagesOf(await clean(plan)).size;
  const without = await runTeam(walled);
  for (const sampleShare of [1, 0.3]) {
    const sampled = await runTeam({ ...walled, sampleShare });
    assert.deepEqual(pagesOf(sampled), pagesOf(without));
    const impolite = judgeTeam(sampled).filter(({ rule }) => rule.includes("polite"));
    assert.deepEqual(impolite, []);
    // Pages two links behind a firewall are never seen, so the estimate is slightly high; and this
    // is a small web.
    const estimate = coverageInSample(sampled.books, sampleShare) ?? 0;
    const truth = pagesOf(without).size / all;
    assert.ok(truth < 0.5 && Math.abs(estimate - truth) < 0.15, `${estimate}, it is ${truth}`);
  }
});

test("under bus faults, kills and stops, nothing is lost and politeness is kept", async () => {
  for (let seed = 100; seed < 130; seed++) {
    const plan = {
      seed,
      procs: 2 + (seed % 4),
      world: WORLD,
      bus: seed % 3 === 0 ? NO_BUS_FAULTS : BAD_BUS,
      kills: seed % 4,
      pauses: seed % 3,
      partition: seed % 5 === 0 ? ("url-hash" as const) : ("site-hash" as const),
      coordination: seed % 7 === 0 ? ("dynamic" as const) : ("static" as const),
    };
    await clean(plan);
  }
});

test("popular addresses found on the way are sent less often, and nothing is missing", async () => {
  const world = { siteCount: 12, pagesMax: 60 };
  const plan = { seed: 4, procs: 6, world };
  const usual = await clean(plan);
  const sparing = await clean({ ...plan, popularFound: true });
  assert.deepEqual(pagesOf(sparing), pagesOf(usual));
  assert.ok(sparing.urlsSent < usual.urlsSent, `${sparing.urlsSent} of ${usual.urlsSent}`);
});

async function clean(plan: Partial<TeamPlan> & { readonly seed: number }): Promise<TeamReport> {
  const report = await runTeam({ settings: PATIENT, ...plan });
  assert.deepEqual(judgeTeam(report), [], `seed ${plan.seed}`);
  return report;
}

function pagesOf({ books }: TeamReport): Set<string> {
  const pages = new Set<string>();
  for (const one of books)
    for (const { url, id, reason } of one.urls())
      if (reason === "ok")
        pages.add(`${url} ${Buffer.from(one.page(id)?.digest ?? []).toString("hex")}`);
  return pages;
}
