import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import { editsBetween } from "../base/edit-distance.ts";
import { nearest } from "./nearest.ts";
import { SETTINGS } from "./schema.ts";

const KEYS = Object.values(SETTINGS).map((field) => field.key);

test("two letters swapped, one missing or one too many lead to the name that was meant", () => {
  assert.equal(nearest("dealy", KEYS), "delay");
  assert.equal(nearest("exclud", KEYS), "exclude");
  assert.equal(nearest("pagess", KEYS), "pages");
  assert.equal(nearest("user-agnet", KEYS), "userAgent");
});

test("nothing is suggested for a word that is like none, empty or endless", () => {
  assert.equal(nearest("zzzzzzzz", KEYS), undefined);
  assert.equal(nearest("", KEYS), undefined);
  assert.equal(nearest("delay".repeat(1000), KEYS), undefined);
});

test("one slip in any name of five letters or more still finds a name one slip away", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed);
    const key = pick(
      random,
      KEYS.filter((name) => name.length >= 5),
    );
    const at = below(random, key.length);
    const slip = key.slice(0, at) + pick(random, ["", "q", "qz"]) + key.slice(at + 1);
    const found = nearest(slip, KEYS);
    assert.ok(found !== undefined, `seed ${seed}: ${slip} found nothing`);
    assert.ok(
      editsBetween(slip.toLowerCase(), found.toLowerCase()) <=
        editsBetween(slip.toLowerCase(), key.toLowerCase()),
      `seed ${seed}: ${slip} led to ${found}, further than ${key}`,
    );
  }
});

test("distance is symmetric and zero only between equals", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed);
    const word = (): string =>
      Array.from({ length: below(random, 7) }, () => pick(random, ["a", "b", "c"])).join("");
    const [a, b] = [word(), word()];
    assert.equal(editsBetween(a, b), editsBetween(b, a), `seed ${seed}`);
    assert.equal(editsBetween(a, b) === 0, a === b, `seed ${seed}`);
  }
});
