import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import { matchOf, readQuery, type Term } from "./query.ts";

test("words, phrases, prefixes, alternatives and exclusions are read", () => {
  const query = readQuery('weir "low dam" mill* OR miller -beaver NOT "old mill" -"new mill"');
  assert.deepEqual(query, {
    wanted: [
      [plain("weir")],
      [plain("low dam")],
      [{ text: "mill", isPrefix: true }, plain("miller")],
    ],
    unwanted: [plain("beaver"), plain("old mill"), plain("new mill")],
  });
});

test("a query becomes one expression in which every term is a string", () => {
  const query = readQuery("weir dam OR mill* -beaver");
  assert.ok(query !== undefined);
  assert.equal(matchOf(query), '(("weir") AND ("dam" OR "mill" *)) NOT ("beaver")');
});

test("words in a row are a phrase only in quotes, and AND is the default", () => {
  assert.deepEqual(readQuery("low AND dam")?.wanted, [[plain("low")], [plain("dam")]]);
  assert.deepEqual(readQuery("OR low OR")?.wanted, [[plain("low")]]);
});

test("a query without letters or digits, or without a wanted term, is not a query", () => {
  for (const text of ["", '*** - "" +-+', "-beaver", "NOT beaver", "a ".repeat(40)])
    assert.equal(readQuery(text), undefined, text);
  assert.deepEqual(readQuery("&& dam")?.wanted, [[plain("dam")]]);
});

test("terms have letters or digits and are bounded, for any input", () => {
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
    const query = readQuery(words.join(" "));
    if (query === undefined) continue;
    read += 1;
    for (const { text } of [...query.wanted.flat(), ...query.unwanted]) {
      assert.match(text, /[\p{L}\p{N}]/u, `seed ${seed}`);
      assert.ok(text.isWellFormed() && text.length <= 200, `seed ${seed}`);
    }
  }
  assert.ok(read > 1000, `${read} queries`);
});

function plain(text: string): Term {
  return { text, isPrefix: false };
}
