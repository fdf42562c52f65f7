/** Several processes on one machine that are killed, with their supervisor too: the same pages, politely. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { below, randomFrom } from "../../src/base/random.ts";
import { temporaryFolder } from "../cli/program.ts";
import { besidesTimes, childrenOf, FaultTrial, resultIn } from "./fault-trial.ts";

const PLAN = {
  seed: 5,
  sites: 6,
  pagesPerSite: 35,
  delayMs: 200,
  addressDelayMs: 60,
  patienceMs: 900_000,
};

test("processes and their supervisor are killed, and nothing is lost or repeated, and politeness is kept", async () => {
  using folder = temporaryFolder();
  await using trial = await FaultTrial.start(PLAN);
  const out = join(folder.path, "out");
  const random = randomFrom(PLAN.seed);
  const first = trial.crawl(out, "--procs", "3");
  for (let kill = 0; kill < 6; kill++) {
    await trial.requestsReach((kill + 1) * 18);
    const children = childrenOf(first.process.pid as number);
    const child = children[below(random, children.length)];
    if (child === undefined) continue;
    trial.note();
    process.kill(child, "SIGKILL");
  }
  await trial.requestsReach(130);
  const orphans = childrenOf(first.process.pid as number);
  trial.note();
  first.process.kill("SIGKILL");
  await first.ended;

  const second = await trial.crawl(out, "--procs", "3").ended;
  assert.equal(second.code, 0, second.stderr);
  assert.doesNotMatch(second.stderr, /invalid messages/);
  const result = resultIn(second);
  assert.equal(result.pages, trial.pages);
  assert.equal(result.urls.pending, 0);
  assert.equal(result.complete, true);
  assert.equal(result.resumed, true);
  assert.equal(result.parallel?.procs, 3);
  assert.deepEqual(besidesTimes(trial.judge([out])), []);
  await wait(100);
  assert.deepEqual(orphans.filter(isAlive), [], "whoever has no supervisor ends");
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
