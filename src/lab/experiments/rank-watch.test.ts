import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { RankWatch } from "./rank-watch.ts";

test("a request overtakes the URLs before it that were not requested yet", () => {
  const watch = new RankWatch(["a", "b", "c", "d"]);
  for (const url of ["a", "d", "b", "c"]) watch.begin(url);
  assert.deepEqual([watch.requests, watch.waiting, watch.meanInversion], [4, 0, 2 / 4]);
});

test("retries and URLs outside the queue are not counted", () => {
  const watch = new RankWatch(["a", "b", "c"]);
  for (const url of ["b", "b", "robots.txt"]) watch.begin(url);
  assert.deepEqual([watch.requests, watch.waiting, watch.meanInversion], [1, 2, 1]);
  watch.forget();
  assert.equal(watch.meanInversion, 0);
  watch.begin("c");
  assert.deepEqual([watch.requests, watch.waiting, watch.meanInversion], [1, 1, 1]);
});

test("inversions equal a count over every pair", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = randomFrom(seed);
    const queue = Array.from({ length: 40 }, (_, rank) => String(rank));
    const order = queue.toSorted(() => random.next() - 0.5).slice(0, 1 + below(random, 40));
    const watch = new RankWatch(queue);
    for (const url of order) watch.begin(url);
    let inversions = 0;
    for (const [at, url] of order.entries())
      for (const before of queue.slice(0, Number(url)))
        if (!order.slice(0, at).includes(before)) inversions += 1;
    assert.equal(watch.meanInversion, inversions / order.length, `seed ${seed}`);
  }
});
