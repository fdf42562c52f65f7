import assert from "node:assert/strict";
import { test } from "node:test";
import type { CrawlResult } from "../control/snapshot.ts";
import { runSim } from "../lab/run-sim.ts";
import { summaryOf } from "./summary.ts";
import { paletteFor } from "./terminal.ts";

const PALETTE = paletteFor({ isTTY: false }, {});

async function resultWith(secondsCpuBound: number, met: boolean): Promise<string> {
  const world = { siteCount: 1, pagesMin: 3, pagesMax: 5 };
  const { result } = await runSim({ seed: 1, world, settings: { delayMs: 0 } });
  assert.ok(result !== undefined);
  const changed: CrawlResult = {
    ...result,
    seconds: 100,
    bandwidth: { ...result.bandwidth, secondsCpuBound },
    sites: result.sites.map((site) => ({ ...site, deadlineSeconds: 5, met })),
  };
  return summaryOf(changed, { sites: [], elapsedMs: 100_000 }, "out", PALETTE).join("\n");
}

test("missed deadlines have a reason where this machine had no processor time for a tenth of the crawl", async () => {
  const reason =
    /reason, where not reported at the start: this machine had no processor time to fill the limit for 10 s/;
  assert.match(await resultWith(10, false), reason);
  assert.doesNotMatch(await resultWith(9, false), /reason:/);
  assert.doesNotMatch(await resultWith(50, true), /reason:/);
});

test("pages that need scripts and walls are counted", async () => {
  const world = { siteCount: 1, pagesMin: 3, pagesMax: 5 };
  const { result } = await runSim({ seed: 1, world, settings: { delayMs: 0 } });
  assert.ok(result !== undefined);
  const remarks = { needs_scripts: 3, login_wall: 1, challenge_wall: 2, noindex: 9 };
  const lines = summaryOf({ ...result, remarks }, { sites: [], elapsedMs: 1_000 }, "out", PALETTE);
  const text = lines.join("\n");
  assert.match(text, /\n {2}3 pages without text until scripts run\n/);
  assert.match(text, /\n {2}3 walls instead of a page: login_wall 1, challenge_wall 2\n/);
  const none = summaryOf(result, { sites: [], elapsedMs: 1_000 }, "out", PALETTE).join("\n");
  assert.doesNotMatch(none, /scripts|wall/);
});
