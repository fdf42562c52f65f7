import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../../base/random.ts";
import { planMMaxt, planMSumt } from "./constant-rates.ts";
import {
  assertAsPrinted,
  assertNear,
  finishesOf,
  planOf,
  randomTask,
  ratesOf,
  taskOf,
  whyNot,
} from "./paper-task.suite.ts";
import { figuresOf } from "../plan.ts";

test("without deadlines the rates are as the roots of the sizes, and Σt is (Σ√D)² / U", () => {
  const task = taskOf(60, [[100], [400], [900]]);
  const answer = planMSumt(task);
  assert.deepEqual(ratesOf(answer), [10, 20, 30]);
  assert.deepEqual(finishesOf(answer), [10, 20, 30]);
  assert.equal(figuresOf(task, planOf(answer)).sumSeconds, (10 + 20 + 30) ** 2 / 60);
});

test("a site that would be late gets what its deadline needs, and the others divide the rest", () => {
  // 900 bytes in 20 s take 45 of 60; the other 15 go to 100 and 400 bytes as 1 to 2.
  const answer = planMSumt(taskOf(60, [[100], [400], [900, 20]]));
  assert.deepEqual(ratesOf(answer), [5, 10, 45]);
});

test("a later deadline can bind before an earlier one, so all are looked at again", () => {
  // With 10, 20 and 30 the large site is late (30 s against 25 s) and the small one is not (10 s
  // against 12 s); with what is left when the large one has its 36, 8 and 16, the small one is.
  const answer = planMSumt(taskOf(60, [[100, 12], [400], [900, 25]]));
  const [small, middle, large] = ratesOf(answer);
  assertNear(small ?? 0, 100 / 12, "small");
  assertNear(large ?? 0, 36, "large");
  assertNear(middle ?? 0, 60 - 36 - 100 / 12, "middle");
});

test("a site without a deadline is never late (the erratum in line 12)", () => {
  assert.deepEqual(ratesOf(planMSumt(taskOf(3, [[1e6], [4e6]]))), [1, 2]);
});

test("it says when the deadlines leave nothing for the others", () => {
  assert.match(
    whyNot(planMSumt(taskOf(10, [[100, 10], [100]]))),
    /nothing is left for the other 1/,
  );
});

test("the rates are those of the loop as it is printed, whatever the order of the sites", () => {
  assertAsPrinted(planMSumt, Math.sqrt);
});

test("no other constant rates that keep the deadlines have a smaller sum, or for M-MAXT an earlier end", () => {
  for (let seed = 1; seed <= 400; seed++) {
    const task = randomTask(seed, 6);
    const [bySum, byMax] = [planMSumt(task), planMMaxt(task)];
    if (bySum.kind === "impossible" || byMax.kind === "impossible") continue;
    const least = figuresOf(task, bySum.plan).sumSeconds;
    const earliest = figuresOf(task, byMax.plan).maxSeconds;
    for (const rates of [ratesOf(bySum), ratesOf(byMax)]) {
      const random = randomFrom(seed);
      for (let trial = 0; trial < 50; trial++) {
        const times = otherTimes(task, rates, () => random.next());
        if (times === undefined) continue;
        const sum = times.reduce((total, seconds) => total + seconds, 0);
        assert.ok(sum >= least * (1 - 1e-9), `seed ${seed}: sum ${sum} below ${least}`);
        const end = Math.max(...times);
        assert.ok(end >= earliest * (1 - 1e-9), `seed ${seed}: end ${end} before ${earliest}`);
      }
    }
  }
});

/** Moves some rate from one site to another; undefined when that makes a site late. */
function otherTimes(
  { sites }: ReturnType<typeof taskOf>,
  rates: readonly number[],
  next: () => number,
): number[] | undefined {
  const from = Math.floor(next() * sites.length);
  const to = Math.floor(next() * sites.length);
  const moved = (rates[from] ?? 0) * next() ** 4;
  const changed = rates.with(from, (rates[from] ?? 0) - moved);
  const times = changed
    .with(to, (changed[to] ?? 0) + moved)
    .map((rateBps, index) => (sites[index]?.bytes ?? 0) / rateBps);
  const isKept = times.every(
    (seconds, index) => seconds <= (sites[index]?.deadlineSeconds ?? Infinity),
  );
  return isKept ? times : undefined;
}
