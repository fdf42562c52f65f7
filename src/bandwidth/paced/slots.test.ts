import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../../base/random.ts";
import { DueList, Slots } from "./slots.ts";

const PROJECTION = { bytes: 0, mostBytes: 1000, leastBytes: 0, rateBps: 10_000 };

test("the last second is known to a slot of 25 ms", () => {
  const slots = new Slots();
  slots.receive(10, 100);
  slots.receive(510, 50);
  assert.equal(slots.secondBytes(999), 150);
  assert.equal(slots.secondBytes(1000), 50);
  assert.equal(slots.secondBytes(1524), 0);
  slots.receive(90_000, 7);
  assert.equal(slots.secondBytes(90_000), 7, "also after a long silence");
});

test("the bytes of the last second are those of a plain sum", () => {
  const random = randomFrom(1);
  const slots = new Slots();
  const all: { slot: number; bytes: number }[] = [];
  for (let nowMs = 0; nowMs < 100_000; nowMs += Math.floor(random.next() ** 8 * 3000)) {
    const slot = Math.floor(nowMs / 25);
    all.push({ slot, bytes: 1 });
    slots.receive(nowMs, 1);
    slots.reserve(nowMs, nowMs + 5000 * random.next(), 1);
    const known = all.filter((entry) => entry.slot > slot - 40).length;
    assert.equal(slots.secondBytes(nowMs), known, `at ${nowMs} ms`);
    if (all.length > 5000) break;
  }
});

test("a response fits if the balance lasts at its time and at those of all later ones", () => {
  const slots = new Slots();
  // 250 bytes are earned in each slot: 750 by 75 ms, of which 400 are reserved at 75.
  slots.reserve(0, 75, 400);
  const fits = (atMs: number, bytes: number): boolean => slots.fits(0, atMs, bytes, PROJECTION);
  assert.deepEqual([fits(50, 350), fits(50, 351)], [true, false], "it takes from the later one");
  assert.deepEqual([fits(100, 600), fits(100, 601)], [true, false]);
  const slot = slots.reserve(0, 50, 350);
  assert.equal(fits(50, 1), false);
  slots.release(slot, 350);
  assert.equal(fits(50, 350), true);
});

test("the projection saves its most bytes for a later response, and no more", () => {
  const slots = new Slots();
  assert.equal(slots.fits(0, 2000, 1000, PROJECTION), true);
  assert.equal(slots.fits(0, 2000, 1001, PROJECTION), false);
});

test("responses later than 4 s share the last slot, and a slot that has passed holds nothing", () => {
  const slots = new Slots();
  assert.equal(slots.reserve(0, 60_000, 100), 159);
  assert.equal(slots.reserve(0, 3975, 100), 159);
  const slot = slots.reserve(0, 50, 100);
  assert.equal(slots.fits(50, 50, 1000, { ...PROJECTION, bytes: 1000 }), false);
  assert.equal(slots.fits(75, 75, 1000, { ...PROJECTION, bytes: 1000 }), true);
  slots.release(slot, 100);
  assert.equal(slots.fits(75, 75, 1001, { ...PROJECTION, bytes: 1000 }), false);
});

test("entries are due once, in order, at the last time that was given for them", () => {
  const due = new DueList<string>();
  due.add(500, "late");
  due.add(100, "early");
  due.add(100, "moved");
  due.add(300, "moved");
  due.add(200, "deleted");
  due.delete("deleted");
  assert.deepEqual(due.take(99), []);
  assert.deepEqual(due.take(450), ["early", "moved"]);
  due.add(100, "past");
  assert.deepEqual(due.take(60_000), ["past", "late"]);
  assert.deepEqual(due.take(60_001), []);
});
