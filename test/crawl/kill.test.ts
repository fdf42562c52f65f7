/** The short version of `bench/kill.ts`: the real program, killed and resumed, loses nothing. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../cli/program.ts";
import { killTrial } from "./kill-trial.ts";

const KILLS = Number(process.env["WEIR_KILLS"] ?? 8);

test(`${KILLS} times kill -9 and the same command again: every page once, every count exact`, async () => {
  using folder = temporaryFolder();
  const report = await killTrial({
    seed: 1,
    kills: KILLS,
    pages: 1_500,
    folder: join(folder.path, "out"),
    gracefulEvery: 4,
  });
  assert.deepEqual(report.violations, []);
  assert.equal(report.lives.filter(({ wasKilled }) => wasKilled).length, KILLS);
  assert.equal(report.result?.urls.known, 1_504);
});
