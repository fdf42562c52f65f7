import assert from "node:assert/strict";
import { test } from "node:test";
import { anyWishes, cappedTask, seeds } from "../capped-task.suite.ts";
import { planOptimal } from "../optimum/optimal.ts";
import { taskOf } from "../papers/paper-task.suite.ts";
import { isLate, type PlanTask } from "../plan.ts";
import { serverLeastBps, type SiteEvidence, type Verdict, verdictsOf } from "./certainty.ts";

const FACTS: SiteEvidence = {
  hasSize: true,
  hasServer: true,
  serverLeastBps: 50_000,
  isTooMany: false,
};

function judged(
  task: PlanTask,
  evidence: readonly Partial<SiteEvidence>[] = [],
  isLineMeasured = true,
): (Verdict | undefined)[] {
  const { plan } = planOptimal(task, "min-sum");
  const finishes = plan.sites.map(({ finishSeconds }) => finishSeconds);
  const sites = task.sites.map((_, index) => ({ ...FACTS, ...evidence[index] }));
  return verdictsOf(task, finishes, { sites, isLineMeasured });
}

const likely = (...dependsOn: Verdict["dependsOn"]): Verdict => ({
  certainty: "likely",
  dependsOn,
});

test("the estimate on which a deadline depends is named", () => {
  const task = taskOf(1e6, [[1e6, 10], [1e6]]);
  assert.deepEqual(judged(task), [{ certainty: "sure", dependsOn: [] }, undefined]);
  assert.deepEqual(judged(task, [{ hasServer: false }])[0], likely("server"));
  assert.deepEqual(judged(task, [{ hasSize: false }])[0], likely("size"));
  // 1 MB at 400 KB/s fits into 7 s, and 3 MB do not.
  assert.equal(judged(task, [], false)[0]?.certainty, "sure");
  assert.deepEqual(judged(taskOf(1e6, [[3e6, 9]]), [], false)[0], likely("line"));
  // 40 pages at their delay are too many, whatever their size.
  assert.equal(judged(task, [{ hasSize: false, isTooMany: true }])[0]?.certainty, "late");
});

test("on a line that was never measured a deadline is sure only if all sites may share the line", () => {
  // At 400 KB/s: 1 MB after 2.5 s alone, and after 7.5 s beside two larger sites.
  const crowded = (deadlineSeconds: number): PlanTask =>
    taskOf(1e6, [[1e6, deadlineSeconds], [5e6], [5e6]]);
  assert.deepEqual(judged(crowded(8), [], false)[0], likely("line"));
  assert.equal(judged(crowded(12), [], false)[0]?.certainty, "sure");
});

test("a late site is certainly late only with a configured size", () => {
  const task = taskOf(1e6, [[20e6, 10]]);
  assert.equal(judged(task)[0]?.certainty, "late");
  assert.equal(judged(task, [{ hasSize: false }])[0]?.certainty, "unlikely");
});

test("without estimates a deadline is sure or late, and late where the plan is late", () => {
  for (const seed of seeds(100)) {
    const task = cappedTask(seed, { ...anyWishes(seed, 12), dated: 0.7 });
    const { plan } = planOptimal(task, "min-sum");
    for (const [index, verdict] of judged(task).entries()) {
      const site = task.sites[index];
      if (site?.deadlineSeconds === undefined) continue;
      const late = isLate(site, plan.sites[index]?.finishSeconds ?? 0);
      assert.equal(verdict?.certainty, late ? "late" : "sure", `seed ${seed}`);
    }
  }
});

test("a site of unknown size makes no deadline of another site late", () => {
  for (const seed of seeds(60)) {
    const task = cappedTask(seed, { count: 8, dated: 0.7, tight: 1.5, caps: [0.1, 1] });
    const before = judged(task);
    const after = judged(task, [{ hasSize: false, hasServer: false }]);
    for (let index = 1; index < 8; index++)
      if (before[index]?.certainty === "sure")
        assert.notEqual(after[index]?.certainty, "late", `seed ${seed}`);
  }
});

test("a far server is slow through a narrow window, and never above the least rate", () => {
  const narrow = { pageBytes: 30_000, windowBytes: 2304, concurrency: 2 };
  assert.ok(Math.abs(serverLeastBps(narrow) - 14_258) < 1000, `${serverLeastBps(narrow)}`);
  assert.equal(serverLeastBps({ ...narrow, windowBytes: undefined, concurrency: 8 }), 50_000);
});
