import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { PageSlices } from "./page-slices.ts";

/** How many pages of such a length were read before the line was served, time after time. */
async function readBetweenServings(pages: number, pageMs: number): Promise<number[]> {
  let nowMs = 0;
  const turns = new PageSlices({ ...systemClock, nowMs: () => nowMs });
  const read: number[] = [];
  let isServed = true;
  await Promise.all(
    Array.from({ length: pages }, async () => {
      await turns.next();
      nowMs += pageMs;
      if (isServed) read.push(0);
      read.push((read.pop() ?? 0) + 1);
      isServed = false;
      setImmediate(() => (isServed = true));
    }),
  );
  return read;
}

test("the line is served after every long page", async () => {
  assert.deepEqual(await readBetweenServings(4, 0.5), [1, 1, 1, 1]);
});

test("short pages are read for a moment before the line is served", async () => {
  assert.deepEqual(await readBetweenServings(7, 0.125), [3, 3, 1]);
});

test("however short they are, the line is served", async () => {
  assert.deepEqual(await readBetweenServings(20, 0), [8, 8, 4]);
});

test("pages are read in the order in which they came", async () => {
  const turns = new PageSlices(systemClock);
  const read: number[] = [];
  const pages = Array.from({ length: 5 }, async (_, page) => {
    await turns.next();
    read.push(page);
  });
  await Promise.all(pages);
  assert.deepEqual(read, [0, 1, 2, 3, 4]);
});
