import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../../base/random.ts";
import { subjectToken } from "./names.ts";

test("plain names stay readable, and nothing that means something in a subject gets through", () => {
  assert.equal(subjectToken("node-1"), "node-1");
  assert.equal(subjectToken("a.b *>"), "a_2eb_20_2a_3e");
  assert.equal(subjectToken("_é"), "_5f_c3_a9");
});

test("two names never share a token, and every token is one safe word of bounded length", () => {
  const names = new Map<string, string>();
  const characters = [..."ab_-.*> \u0000\n2eh5f_hé漢😀/\\$"];
  for (let seed = 1; seed <= 20_000; seed++) {
    const random = randomFrom(seed);
    const length = 1 + below(random, seed % 10 === 0 ? 120 : 6);
    let name = "";
    for (let count = 0; count < length; count++)
      name += characters[below(random, characters.length)] ?? "";
    const token = subjectToken(name);
    assert.match(token, /^[A-Za-z0-9_-]{1,100}$/, `seed ${seed}`);
    assert.equal(names.get(token) ?? name, name, `seed ${seed}`);
    names.set(token, name);
  }
});
