import assert from "node:assert/strict";
import { test } from "node:test";
import highsModule from "highs";
import { anyWishes, cappedTask, seeds } from "../capped-task.suite.ts";
import { endingBy, isFeasible, keepsDeadlines, leastEndSeconds } from "./feasible.ts";
import { taskOf } from "../papers/paper-task.suite.ts";
import type { PlanTask } from "../plan.ts";
import { workOf } from "../schedule/columns.ts";

// The types give the loader as `default` of what is the loader itself.
const loadHighs = highsModule as unknown as (typeof highsModule)["default"];
const solver = await loadHighs();

test("two sites of 10 MB by 10 s and 20 s fit into 1 MB/s, and not by 9 s and 20 s", () => {
  assert.ok(
    isFeasible(
      taskOf(1e6, [
        [10e6, 10],
        [10e6, 20],
      ]),
    ),
  );
  assert.ok(
    !isFeasible(
      taskOf(1e6, [
        [10e6, 9],
        [10e6, 20],
      ]),
    ),
  );
  assert.ok(
    !isFeasible(
      taskOf(1e6, [
        [10e6, 10],
        [10e6, 19.9],
      ]),
    ),
  );
});

test("a cap makes a site begin early", () => {
  const slow = { key: "slow", bytes: 10, deadlineSeconds: 10, capBps: 1, weight: 1 };
  const wide = { key: "wide", bytes: 5, deadlineSeconds: 5, capBps: Infinity, weight: 1 };
  const task = taskOf(2, []);
  // The slow one needs half of the line all the time, so that 5 bytes are left in 5 seconds.
  assert.ok(isFeasible({ ...task, sites: [slow, wide] }));
  assert.ok(!isFeasible({ ...task, sites: [slow, { ...wide, bytes: 5.1 }] }));
});

test("the answer is that of a linear program", () => {
  let kept = 0;
  for (const seed of seeds(3000)) {
    const task = cappedTask(seed, { ...anyWishes(seed, 7), dated: 0.8 });
    const missing = bytesMissing(task);
    const allBytes = task.sites.reduce((sum, { bytes }) => sum + bytes, 0);
    // A hair's breadth from the edge the solver itself is not sure.
    if (missing > 0 && missing < 1e-6 * allBytes) continue;
    if (missing === 0) kept++;
    assert.equal(keepsDeadlines(workOf(task)), missing === 0, `seed ${seed}: ${missing} missing`);
  }
  assert.ok(kept > 500, `only ${kept} can be kept`);
});

test("nothing is done earlier than the least end, and everything can be done by it", () => {
  let looked = 0;
  for (const seed of seeds(500)) {
    const task = cappedTask(seed, { ...anyWishes(seed, 12), dated: 0.5 });
    if (!isFeasible(task)) continue;
    looked++;
    const endSeconds = leastEndSeconds(workOf(task));
    const by = (seconds: number) => keepsDeadlines(endingBy(workOf(task), seconds));
    assert.ok(by(endSeconds), `seed ${seed}`);
    assert.ok(!by(endSeconds * (1 - 1e-6)), `seed ${seed}`);
  }
  assert.ok(looked > 100, `only ${looked} can be kept`);
});

/** Sites with a deadline take bytes in each stretch between deadlines; how many do not fit. */
function bytesMissing({ sites, rateBps }: PlanTask): number {
  const dated = sites.filter(({ deadlineSeconds }) => deadlineSeconds !== undefined);
  if (dated.length === 0) return 0;
  const ends = [...new Set(dated.map(({ deadlineSeconds }) => deadlineSeconds as number))].sort(
    (a, b) => a - b,
  );
  const lengths = ends.map((end, index) => end - (ends[index - 1] ?? 0));
  const names: string[] = [];
  const rows: string[] = [];
  const bounds: string[] = [];
  const ofStretch = ends.map((): string[] => []);
  for (const [index, site] of dated.entries()) {
    const own: string[] = [];
    for (const [stretch, end] of ends.entries()) {
      if (end > (site.deadlineSeconds as number)) break;
      const name = `x${index}_${stretch}`;
      own.push(name);
      ofStretch[stretch]?.push(name);
      const most = Math.min(site.capBps, rateBps) * (lengths[stretch] as number);
      bounds.push(` 0 <= ${name} <= ${most}`);
    }
    names.push(...own);
    rows.push(` s${index}: ${own.join(" + ")} <= ${site.bytes}`);
  }
  for (const [stretch, own] of ofStretch.entries())
    rows.push(` t${stretch}: ${own.join(" + ")} <= ${rateBps * (lengths[stretch] as number)}`);
  const text = `Maximize\n obj: ${names.join(" + ")}\nSubject To\n${rows.join("\n")}\nBounds\n${bounds.join("\n")}\nEnd\n`;
  const { ObjectiveValue } = solver.solve(text);
  const wanted = dated.reduce((sum, { bytes }) => sum + bytes, 0);
  const missing = wanted - ObjectiveValue;
  return missing > 1e-9 * wanted ? missing : 0;
}
