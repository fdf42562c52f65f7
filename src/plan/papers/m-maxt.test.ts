import assert from "node:assert/strict";
import { test } from "node:test";
import { planMMaxt } from "./constant-rates.ts";
import {
  assertAsPrinted,
  finishesOf,
  planOf,
  ratesOf,
  taskOf,
  whyNot,
} from "./paper-task.suite.ts";

test("without deadlines all end together after ΣD / U", () => {
  const answer = planMMaxt(taskOf(10, [[100], [300], [600]]));
  assert.deepEqual(ratesOf(answer), [1, 3, 6]);
  assert.deepEqual(finishesOf(answer), [100, 100, 100]);
});

test("a deadline before the common end is kept to the second, and the others end together later", () => {
  // 100 bytes in 20 s take 5 of 10; 900 bytes at the other 5 take 180 s.
  const answer = planMMaxt(taskOf(10, [[300], [100, 20], [600]]));
  assert.deepEqual(finishesOf(answer), [180, 20, 180]);
});

test("a deadline that was far enough at first is looked at again when the others end later", () => {
  // All would end at 100 s. Then the others would end at 180 s, and 150 s is no longer far enough.
  const answer = planMMaxt(taskOf(10, [[300, 150], [100, 20], [600]]));
  assert.deepEqual(ratesOf(answer), [2, 5, 3]);
  assert.deepEqual(finishesOf(answer), [150, 20, 200]);
});

test("it says when the deadlines leave nothing for the others, or ask for more than there is", () => {
  const toOthers = whyNot(planMMaxt(taskOf(10, [[100, 10], [100]])));
  assert.match(toOthers, /1 of the deadlines need 10 B\/s of 10 B\/s.*nothing.*other 1/);
  const together = whyNot(
    planMMaxt(
      taskOf(1e6, [
        [10e6, 10],
        [10e6, 20],
      ]),
    ),
  );
  assert.match(together, /need 1\.00 MB\/s of 1\.00 MB\/s/);
  const alone = whyNot(planMMaxt(taskOf(10, [[300, 10]])));
  assert.match(alone, /need 30 B\/s of 10 B\/s$/);
});

test("deadlines that take the whole rate and leave no site over are kept", () => {
  assert.deepEqual(
    ratesOf(
      planMMaxt(
        taskOf(10, [
          [60, 10],
          [80, 20],
        ]),
      ),
    ),
    [6, 4],
  );
});

test("more sites than may be crawled at once are refused", () => {
  const why = whyNot(planMMaxt(taskOf(10, [[1], [1], [1]], { sitesMax: 2 })));
  assert.match(why, /3 sites .* 2 are the most/);
});

test("a share below the least rate is refused, and its site named", () => {
  const why = whyNot(planMMaxt(taskOf(1000, [[10_000], [100]], { rateMinBps: 20 })));
  assert.match(why, /site1 would get 10 B\/s, and the least is 20 B\/s/);
});

test("a start-up time is taken off every deadline, and a deadline within it cannot be kept", () => {
  const answer = planMMaxt(taskOf(10, [[100, 25], [500]], { startupSeconds: 5 }));
  assert.deepEqual(finishesOf(answer), [25, 105]);
  assert.match(whyNot(planMMaxt(taskOf(10, [[1, 5]], { startupSeconds: 5 }))), /site0, 5 s/);
});

test("a site with nothing left is done at once and takes nothing", () => {
  assert.deepEqual(finishesOf(planMMaxt(taskOf(10, [[0, 1], [100]], { sitesMax: 1 }))), [0, 10]);
});

test("no site at all is a plan", () => {
  assert.deepEqual(planOf(planMMaxt(taskOf(10, []))).sites, []);
});

test("the rates are those of the loop as it is printed, whatever the order of the sites", () => {
  assertAsPrinted(planMMaxt, (bytes) => bytes);
});
