import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import { readQuery, type Term } from "./search-query.ts";

test("words, phrases, beginnings and what is not wanted are told apart", () => {
  const query = readQuery(["weir", "low dam", "mill*", "-beaver", '"old mill" -"new mill"']);
  assert.deepEqual(query, {
    wanted: [plain("weir"), plain("low dam"), { text: "mill", isPrefix: true }, plain("old mill")],
    unwanted: [plain("beaver"), plain("new mill")],
  });
});

test("what says nothing is left out, and nothing but that is no query", () => {
  assert.equal(readQuery([]), undefined);
  assert.equal(readQuery(["***", "-", '""', "+-+"]), undefined);
  assert.equal(readQuery(["-beaver"]), undefined);
  assert.deepEqual(readQuery(["&&", "dam"])?.wanted, [{ text: "dam", isPrefix: false }]);
  assert.equal(readQuery(Array.from({ length: 40 }, () => "a")), undefined);
});

test("whatever is typed, terms say something and are bounded", () => {
  const pieces = ['"', "'", "*", "-", "AND", "OR", "NOT", "NEAR(", ")", "{title", ":", "^", "+"];
  pieces.push(
    " ",
    "a",
    "\u00e9",
    "\u6f22\u5b57",
    "\0",
    "\ud800",
    "\\",
    ";--",
    "\u201c",
    "x".repeat(500),
  );
  let read = 0;
  for (let seed = 1; seed <= 3000; seed++) {
    const random = randomFrom(seed);
    const words = Array.from({ length: 1 + below(random, 4) }, () =>
      Array.from({ length: 1 + below(random, 6) }, () => pick(random, pieces)).join(""),
    );
    const query = readQuery(words);
    if (query === undefined) continue;
    read += 1;
    for (const { text } of [...query.wanted, ...query.unwanted]) {
      assert.match(text, /[\p{L}\p{N}]/u, `seed ${seed}`);
      assert.ok(text.isWellFormed() && text.length <= 200, `seed ${seed}`);
    }
  }
  assert.ok(read > 1000, `${read} queries`);
});

function plain(text: string): Term {
  return { text, isPrefix: false };
}
