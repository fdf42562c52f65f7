/** Processes that own topics crawl one simulated web over a bad bus, are killed and stopped, and are judged together. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { topicSetupFor } from "../../src/crawl/topics/setup.ts";
import { worldModel } from "../../src/lab/world-model.ts";
import { judgeTeam } from "../../src/lab/judge-team.ts";
import { runSim, type SimReport } from "../../src/lab/run-sim.ts";
import { runTeam, type TeamPlan, type TeamReport } from "../../src/lab/run-team.ts";
import { NO_BUS_FAULTS } from "../../src/lab/sim-bus.ts";

const WORLD = {
  siteCount: 12,
  pagesMin: 6,
  pagesMax: 14,
  bytesMedianMax: 2_500,
  bytesMax: 20_000,
  speedBpsMin: 100_000,
};
/** Some sites of these worlds are so slow that a page takes minutes. */
const PATIENT = { totalTimeoutMs: 3_600_000, idleTimeoutMs: 600_000, firstByteTimeoutMs: 600_000 };
const BAD_BUS = { lossShare: 0.15, repeatShare: 0.1, refusalShare: 0.1, delayMsMax: 300 };

test("processes that own topics end with the pages of one process, each with the owner of its topic", async () => {
  const expected = pagesOf(await clean({ seed: 1, procs: 1, world: WORLD }));
  assert.ok(expected.size > 60);
  for (const partition of ["topic", "content-hash"] as const) {
    const report = await clean({ seed: 1, procs: 4, world: WORLD, partition });
    assert.deepEqual(pagesOf(report), expected, partition);
    assert.ok(exportedIn(report) > 0, "some pages were handed over");
  }
});

test("by topic far fewer pages are handed over than by content hash", async () => {
  const plan = { seed: 2, procs: 4, world: WORLD };
  const byTopic = await clean({ ...plan, partition: "topic" });
  const byHash = await clean({ ...plan, partition: "content-hash" });
  const pages = pagesOf(byTopic).size;
  assert.ok(exportedIn(byTopic) < exportedIn(byHash) - pages / 2);
});

test("whatever the bus does and whoever is killed or stopped, no page is lost and every content has one owner", async () => {
  for (let seed = 200; seed < 220; seed++)
    await clean({
      seed,
      procs: 2 + (seed % 4),
      world: WORLD,
      bus: seed % 3 === 0 ? NO_BUS_FAULTS : BAD_BUS,
      kills: seed % 4,
      pauses: seed % 3,
      partition: seed % 3 === 1 ? "content-hash" : "topic",
    });
});

test("pages may stay where they were found, and their links go to the owner of their topic", async () => {
  for (const seed of [300, 301]) {
    const settings = { ...PATIENT, boundary: "links" as const };
    const plan = { seed, procs: 3, world: WORLD, settings, bus: BAD_BUS, kills: seed % 2 };
    const report = await clean({ ...plan, partition: "topic" });
    assert.equal(exportedIn(report), 0);
    assert.ok(report.urlsSent > 0);
  }
});

test("what the model is not sure of stays where it was found", async () => {
  const settings = { ...PATIENT, confidenceMin: 1 };
  const report = await clean({ seed: 4, procs: 3, world: WORLD, settings, partition: "topic" });
  const moved = report.books.flatMap((one) => [...one.pageTopics()]).filter(({ from }) => from);
  assert.ok(moved.every(({ confidence }) => confidence === 0 || confidence === 1));
});

test("a site that takes too much of a focused crawl waits while others have something to do", async () => {
  const world = { siteCount: 17, pagesMin: 20, pagesMax: 60, crawlDelayShare: 0 };
  const crawl = async (hostShareMax: number | undefined): Promise<SimReport> => {
    const focus = { order: "topic", topic: "arts", connectionsMax: 2, delayMs: 0 } as const;
    const report = await runSim({
      seed: 7,
      world,
      settings: { ...PATIENT, ...focus, hostShareMax },
      plant: (parts) => ({ ...parts, topics: topicSetupFor(parts.settings, worldModel()) }),
    });
    assert.deepEqual(report.violations, []);
    return report;
  };
  const [free, fair] = [await crawl(undefined), await crawl(0.1)];
  assert.equal(fair.totals.pages, free.totals.pages);
  assert.ok(mostAt(fair) < mostAt(free), `${mostAt(fair)}, and ${mostAt(free)} without the rule`);
});

/** Of the first hundred answers, the most that one site gave. */
function mostAt({ log }: SimReport): number {
  const first = log.toSorted((a, b) => a.endMs - b.endMs).slice(0, 100);
  return Math.max(...[...Map.groupBy(first, ({ site }) => site).values()].map((one) => one.length));
}

async function clean(plan: Partial<TeamPlan> & { readonly seed: number }): Promise<TeamReport> {
  const report = await runTeam({ settings: PATIENT, ...plan });
  assert.deepEqual(judgeTeam(report), [], `seed ${plan.seed}`);
  return report;
}

function exportedIn({ books }: TeamReport): number {
  return books.reduce((sum, { totals }) => sum + (totals.outcomes["exported"] ?? 0), 0);
}

function pagesOf({ books }: TeamReport): Set<string> {
  const pages = new Set<string>();
  for (const one of books)
    for (const { url, id, reason } of one.urls())
      if (reason === "ok")
        pages.add(`${url} ${Buffer.from(one.page(id)?.digest ?? []).toString("hex")}`);
  return pages;
}
