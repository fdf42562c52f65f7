import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { seeds } from "../capped-task.suite.ts";
import { SiteHeap } from "./index-heap.ts";

test("the least comes out first, and a changed number counts", () => {
  const heap = new SiteHeap(3);
  assert.deepEqual([heap.first, heap.firstKey, heap.take()], [undefined, Infinity, undefined]);
  heap.put(0, 5);
  heap.put(1, 3);
  heap.put(2, 4);
  heap.put(1, 6);
  assert.deepEqual([heap.first, heap.firstKey, heap.keyOf(1)], [2, 4, 6]);
  assert.deepEqual([heap.take(), heap.take(), heap.take(), heap.take()], [2, 0, 1, undefined]);
});

test("whatever is put, changed and removed, it agrees with a list that is searched", () => {
  for (const seed of seeds(200)) {
    const random = randomFrom(seed);
    const count = 1 + below(random, 40);
    const heap = new SiteHeap(count);
    const known = new Map<number, number>();
    for (let step = 0; step < 300; step++) {
      const site = below(random, count);
      const what = random.next();
      if (what < 0.6) {
        const key = below(random, 50) - 25;
        heap.put(site, key);
        known.set(site, key);
      } else if (what < 0.75) {
        heap.remove(site);
        known.delete(site);
      } else if (what < 0.99) {
        const least = Math.min(...known.values());
        const taken = heap.take();
        assert.equal(taken === undefined ? Infinity : known.get(taken), least, `seed ${seed}`);
        if (taken !== undefined) known.delete(taken);
      } else {
        heap.clear();
        known.clear();
      }
      assert.equal(heap.firstKey, Math.min(...known.values()), `seed ${seed}`);
      assert.deepEqual([...heap.sites].toSorted(), [...known.keys()].toSorted(), `seed ${seed}`);
      for (const [one, key] of known) assert.equal(heap.keyOf(one), key, `seed ${seed}`);
    }
  }
});
