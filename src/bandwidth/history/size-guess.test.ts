import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../../base/random.ts";
import { type Asked, SizeGuess } from "./size-guess.ts";

const LIMITS = { sitesMax: 100, bytesMax: 1_000_000 };
const KINDS: readonly Asked[] = ["page", "robots", "sitemap"];
const FIRST_GUESS = { page: 25_000, robots: 1_500, sitemap: 3_000 };

test("a site's own answers outweigh those of all sites, which stand in with the weight of two", () => {
  const sizes = new SizeGuess(LIMITS);
  assert.equal(sizes.expectedBytes(1, "page"), 25_000);
  sizes.learn(1, "page", 5_000);
  sizes.learn(1, "page", 5_000);
  // All sites: (25,000 + 5,000 + 5,000) / 3; this one: half its own 5,000, half that.
  const world = 35_000 / 3;
  assert.equal(Math.round(sizes.expectedBytes(1, "page")), Math.round((5_000 + world) / 2));
  assert.equal(Math.round(sizes.expectedBytes(2, "page")), Math.round(world));
  assert.equal(sizes.expectedBytes(1, "robots"), 1_500);
});

test("equal answers end in that guess, without spread; unequal ones have theirs", () => {
  const sizes = new SizeGuess(LIMITS);
  for (let answer = 0; answer < 2_000; answer++) {
    sizes.learn(1, "page", 8_000);
    sizes.learn(2, "sitemap", answer % 2 === 0 ? 10_000 : 30_000);
  }
  assert.equal(Math.round(sizes.expectedBytes(1, "page")), 8_000);
  assert.ok(sizes.spreadBytes(1, "page") < 1);
  assert.ok(Math.abs(sizes.expectedBytes(2, "sitemap") - 20_000) < 1_000);
  assert.ok(Math.abs(sizes.spreadBytes(2, "sitemap") - 10_000) < 500);
});

test("one film among pages moves the guess by no more than the cap allows", () => {
  const sizes = new SizeGuess({ sitesMax: 100, bytesMax: 100_000 });
  for (let answer = 0; answer < 100; answer++) sizes.learn(1, "page", 10_000);
  const before = sizes.expectedBytes(1, "page");
  sizes.learn(1, "page", 2e9);
  assert.ok(sizes.expectedBytes(1, "page") - before < 90_000 / 32 + 100);
});

test("a guess lies between the least and the greatest answer of its kind", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    const sizes = new SizeGuess(LIMITS);
    const hulls = {
      page: [FIRST_GUESS.page, FIRST_GUESS.page],
      robots: [FIRST_GUESS.robots, FIRST_GUESS.robots],
      sitemap: [FIRST_GUESS.sitemap, FIRST_GUESS.sitemap],
    };
    for (let step = 0; step < 500; step++) {
      const asked = pick(random, KINDS);
      const bytes = Math.floor(10 ** (random.next() * 7));
      const counted = Math.min(bytes, LIMITS.bytesMax);
      const [least = 0, most = 0] = hulls[asked];
      hulls[asked] = [Math.min(least, counted), Math.max(most, counted)];
      sizes.learn(below(random, 10), asked, bytes);
      for (const kind of KINDS) {
        const guess = sizes.expectedBytes(below(random, 12), kind);
        const [from = 0, to = 0] = hulls[kind];
        assert.ok(guess >= from - 1e-6 && guess <= to + 1e-6, `seed ${seed}: ${kind} ${guess}`);
      }
    }
  }
});

test("sites without end are forgotten, the longest unheard of first", () => {
  const sizes = new SizeGuess({ ...LIMITS, sitesMax: 3 });
  for (const site of [1, 2, 3, 1, 4]) sizes.learn(site, "page", site === 2 ? 9_000 : 1_000);
  assert.equal(sizes.size, 3);
  for (let step = 0; step < 200; step++) sizes.learn(9, "robots", FIRST_GUESS.robots);
  const stranger = sizes.expectedBytes(77, "page");
  assert.equal(sizes.expectedBytes(2, "page"), stranger, "2 was forgotten");
  for (const site of [1, 4]) assert.ok(sizes.expectedBytes(site, "page") < stranger, `${site}`);
});
