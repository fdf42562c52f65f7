import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import type { Stemming } from "./index-file.ts";
import { type Passage, Passages } from "./passage.ts";
import { readQuery } from "./query.ts";

function passagesFor(text: string, stemming: Stemming = "english"): Passages {
  const query = readQuery(text);
  assert.ok(query !== undefined);
  return new Passages(query, stemming);
}

function marked({ text, marks }: Passage): string {
  let shown = "";
  let at = 0;
  for (const [start, end] of marks) {
    shown += `${text.slice(at, start)}[${text.slice(start, end)}]`;
    at = end;
  }
  return shown + text.slice(at);
}

function best(text: string, words: string, wordsMax = 30): string {
  using passages = passagesFor(words);
  const passage = passages.best(text, wordsMax);
  assert.ok(passage !== undefined);
  return marked(passage);
}

test("the passage with the most terms is shown, and its words are marked", () => {
  const far = "nothing here ".repeat(20);
  const text = `dam first. ${far} a weir is a low dam that regulates a river ${far}`;
  assert.match(best(text, "weir dam", 14), /^….* a \[weir\] is a low \[dam\] .*…$/);
});

test("passages mark what the index finds: stems, accents, case, phrases, prefixes, characters", () => {
  assert.equal(best("Le Caf\u00e9 du Nord", "cafe"), "Le [Caf\u00e9] du Nord");
  assert.equal(best("two Professors", "professor"), "two [Professors]");
  assert.equal(best("low dam, dam low", '"low dam"'), "[low dam], dam low");
  assert.equal(best("mills and Millers", "mill*"), "[mills] and [Millers]");
  assert.equal(
    best("\u5927\u962a\u57ce\u516c\u5712", "\u5927\u962a"),
    "[\u5927\u962a]\u57ce\u516c\u5712",
  );
  using passages = passagesFor("weir");
  assert.deepEqual(passages.whole("The Weir"), { text: "The Weir", marks: [[4, 8]] });
});

test("without stemming only the word itself is marked", () => {
  using passages = passagesFor("professor", "none");
  assert.deepEqual(passages.whole("professors, professor").marks, [[12, 21]]);
});

test("a text without the words is shown from its beginning, and an empty one not at all", () => {
  assert.equal(best("one two three", "weir"), "one two three");
  assert.equal(best("one two three", "weir", 2), "one two…");
  using passages = passagesFor("weir");
  assert.equal(passages.best(" \n ", 80), undefined);
});

test("passages are bounded and well-formed, their marks in order, over many texts", () => {
  using passages = passagesFor("dam weir", "none");
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed);
    const vocabulary = [
      "dam",
      "Weir",
      "d\u00e4m",
      "x".repeat(90),
      "\ud83d\ude00",
      "\u0001",
      "\u6f22",
    ];
    const words = Array.from({ length: below(random, 300) }, () => pick(random, vocabulary));
    const passage = passages.best(words.join(" "), 12);
    if (passage === undefined) continue;
    assert.ok(passage.text.isWellFormed(), `seed ${seed}`);
    assert.ok(passage.text.length <= 501, `seed ${seed}: ${passage.text.length}`);
    assert.doesNotMatch(passage.text, /[\u0001\u0002\u200b]/, `seed ${seed}`);
    let last = 0;
    for (const [start, end] of passage.marks) {
      assert.ok(start >= last && end > start, `seed ${seed}`);
      assert.match(passage.text.slice(start, end), /^(dam|weir|d\u00e4m)$/i, `seed ${seed}`);
      last = end;
    }
  }
});
