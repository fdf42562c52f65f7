import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import { readQuery } from "./search-query.ts";
import type { Query } from "./search-query.ts";
import { marksIn, snippetOf } from "./search-snippet.ts";

function query(...words: string[]): Query {
  const read = readQuery(words);
  assert.ok(read !== undefined);
  return read;
}

function marked(text: string, wanted: Query, charactersMax = 80): string {
  const snippet = snippetOf(text, wanted, charactersMax);
  assert.ok(snippet !== undefined);
  let shown = "";
  let at = 0;
  for (const [start, end] of snippet.marks) {
    shown += `${snippet.text.slice(at, start)}[${snippet.text.slice(start, end)}]`;
    at = end;
  }
  return shown + snippet.text.slice(at);
}

test("the passage with the most terms is shown, and its words are marked", () => {
  const far = "nothing here ".repeat(20);
  const text = `dam first. ${far} a weir is a low dam that regulates a river ${far}`;
  assert.equal(
    marked(text, query("weir", "dam")),
    "… here nothing here a [weir] is a low [dam] that regulates a river nothing here …",
  );
});

test("accents and case do not matter, phrases and beginnings are found", () => {
  assert.equal(marked("Le Caf\u00e9 du Nord", query("cafe")), "Le [Caf\u00e9] du Nord");
  assert.equal(marked("low dam, dam low", query("low dam")), "[low dam], dam low");
  assert.equal(marked("mills and Millers", query("mill*")), "[mills] and [Millers]");
  assert.equal(
    marked("\u5927\u962a\u57ce\u516c\u5712", query("\u5927\u962a")),
    "[\u5927\u962a]\u57ce\u516c\u5712",
  );
  assert.deepEqual(marksIn("The Weir", query("weir")), [[4, 8]]);
});

test("a text without the words is shown from its beginning, and an empty one not at all", () => {
  assert.equal(marked("one two three", query("weir")), "one two three");
  assert.equal(snippetOf(" \n ", query("weir"), 80), undefined);
});

test("marks lie in order inside the passage and hold what was wanted, over many texts", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed);
    const vocabulary = [
      "dam",
      "Weir",
      "d\u00e4m",
      "x".repeat(50),
      "\ud83d\ude00",
      "\n",
      "-",
      "\u6f22",
    ];
    const words = Array.from({ length: below(random, 300) }, () => pick(random, vocabulary));
    const snippet = snippetOf(words.join(" "), query("dam", "weir"), 60);
    if (snippet === undefined) continue;
    assert.ok(snippet.text.isWellFormed(), `seed ${seed}`);
    assert.ok(snippet.text.length <= 60 + 4, `seed ${seed}: ${snippet.text.length}`);
    let last = 0;
    for (const [start, end] of snippet.marks) {
      assert.ok(start >= last && end > start, `seed ${seed}`);
      assert.match(snippet.text.slice(start, end), /^(dam|weir|d\u00e4m)$/i, `seed ${seed}`);
      last = end;
    }
  }
});
