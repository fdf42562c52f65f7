import assert from "node:assert/strict";
import { test } from "node:test";
import { mostSlack, pagesToTry, withSlack } from "./slack.ts";
import type { PlanTask } from "../plan.ts";

/** A site of 10 MB at 1 MB/s, due after so many seconds. */
function due(...deadlines: readonly (number | undefined)[]): PlanTask {
  return {
    sites: deadlines.map((deadlineSeconds, index) => ({
      key: `s${index}`,
      bytes: 10e6,
      deadlineSeconds,
      capBps: Infinity,
      weight: 1,
    })),
    rateBps: 1e6,
    sitesMax: Infinity,
    rateMinBps: 0,
    startupSeconds: 0,
  };
}

function deadlinesOf({ sites }: PlanTask): (number | undefined)[] {
  return sites.map(({ deadlineSeconds }) => deadlineSeconds);
}

test("a slack moves deadlines by its share and by the tail, of a short time by a tenth", () => {
  const slack = { share: 0.5, tailSeconds: 1 };
  const short = { ...due(40, 4, undefined), rateBps: 10e6 };
  assert.deepEqual(deadlinesOf(withSlack(short, slack)), [19, 1.6, undefined]);
  assert.deepEqual(deadlinesOf(withSlack(due(40), { ...slack, share: -0.5 })), [60]);
});

test("a deadline that is out of reach takes nothing from what the others have in hand", () => {
  const slack = { share: 0.1, tailSeconds: 0 };
  const task = due(3, 40);
  assert.equal(mostSlack(task, slack, 0), slack);
  const [hopeless = 0, other] = deadlinesOf(withSlack(task, slack));
  assert.ok(hopeless > 10 && hopeless < 11);
  assert.equal(other, 36);
});

test("as much slack is taken as can be had, and none where not even the least is enough", () => {
  const wanted = { share: 0.4, tailSeconds: 0 };
  assert.equal(mostSlack(due(20), wanted, 0), wanted);
  // 20 MB by 25 s: a fifth of the time can be kept in hand.
  const some = mostSlack(due(12.5, 25), wanted, 0);
  assert.ok(some !== undefined && Math.abs(some.share - 0.2) < 0.001, `${some?.share}`);
  // 20 MB by 16 s: the time must be stretched by a quarter.
  assert.equal(mostSlack(due(16, 16), wanted, -0.2), undefined);
  const stretched = mostSlack(due(16, 16), wanted, -1);
  assert.ok(stretched !== undefined && Math.abs(stretched.share + 0.25) < 0.002);
});

test("deadlines of some sites can be stretched while the others stay", () => {
  const slack = { share: 0, tailSeconds: 0, only: new Set(["s1"]) };
  const stretched = mostSlack(due(10, 15), slack, -3);
  assert.ok(stretched !== undefined && Math.abs(stretched.share + 1 / 3) < 0.003);
  assert.deepEqual(deadlinesOf(withSlack(due(10, 15), { ...slack, share: -1 })), [10, 30]);
});

test("many promised sites are tried with few pages each, few with as many as it takes", () => {
  assert.equal(pagesToTry(due(30, 40), 10_000, 8), 8);
  assert.equal(pagesToTry(due(30, 40), 33_000, 8), 3);
  assert.equal(pagesToTry(due(30, 40), 1e9, 8), 1);
});
