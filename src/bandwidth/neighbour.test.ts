import assert from "node:assert/strict";
import { test } from "node:test";
import { Neighbour } from "./neighbour.ts";

test("a longer round trip than the way needs makes it yield at once, and come back slowly", () => {
  const neighbour = new Neighbour(0);
  neighbour.saw(0, "192.0.2.1", 20);
  assert.equal(neighbour.share(1000), 1);
  for (let at = 1000; at < 6000; at += 100) neighbour.saw(at, "192.0.2.1", 120);
  const yielded = neighbour.share(6000);
  assert.ok(yielded < 0.8, `took ${yielded}`);
  for (let at = 6100; at < 9000; at += 100) neighbour.saw(at, "192.0.2.1", 21);
  const later = neighbour.share(9000);
  assert.ok(later > yielded && later <= yielded + 0.16, `took ${later}`);
});

test("ways of different length are no queue", () => {
  const neighbour = new Neighbour(0);
  for (let at = 0; at < 10_000; at += 100) {
    neighbour.saw(at, "192.0.2.1", 5);
    neighbour.saw(at, "192.0.2.2", 300);
    assert.equal(neighbour.share(at), 1);
  }
});

test("it never yields all, and a way that became longer for good is believed after a while", () => {
  const neighbour = new Neighbour(0);
  neighbour.saw(0, "192.0.2.1", 10);
  let least = 1;
  for (let at = 0; at < 20 * 60_000; at += 1000) {
    neighbour.saw(at, "192.0.2.1", 90);
    least = Math.min(least, neighbour.share(at));
  }
  assert.equal(least, 0.05);
  assert.equal(neighbour.share(20 * 60_000), 1);
});
