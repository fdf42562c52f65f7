import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import { matchOf, matchOfTerm, readQuery, type Term } from "./search-query.ts";

const NO_FACETS = { site: undefined, language: undefined, topic: undefined };

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

test("SQLite takes every query, whatever was typed", () => {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE VIRTUAL TABLE words USING fts5(title, url, text, facet, content = '')");
  const ask = database.prepare("SELECT count(*) FROM words WHERE words MATCH ?");
  const pieces = ['"', "'", "*", "-", "AND", "OR", "NOT", "NEAR(", ")", "{title", ":", "^", "+"];
  pieces.push(" ", "a", "\u00e9", "\u6f22\u5b57", "\0", "\ud800", "\\", ";--", "\u201c", "(", "}");
  let asked = 0;
  for (let seed = 1; seed <= 3000; seed++) {
    const random = randomFrom(seed);
    const words = Array.from({ length: 1 + below(random, 4) }, () =>
      Array.from({ length: 1 + below(random, 6) }, () => pick(random, pieces)).join(""),
    );
    const query = readQuery(words);
    if (query === undefined) continue;
    asked += 1;
    const site = random.next() < 0.5 ? words[0] : undefined;
    assert.doesNotThrow(
      () => {
        ask.get(matchOf(query, { ...NO_FACETS, site }));
        for (const term of query.wanted) ask.get(matchOfTerm(term));
      },
      `seed ${seed}: ${JSON.stringify(words)}`,
    );
  }
  assert.ok(asked > 1000, `${asked} queries`);
});

function plain(text: string): Term {
  return { text, isPrefix: false };
}
