import assert from "node:assert/strict";
import { test } from "node:test";
import { type Promised, StoredPromises } from "./stored-promises.ts";

function storeWith(text?: string): {
  recall: (key: string) => string | undefined;
  remember: (key: string, value: string) => void;
} {
  let stored = text;
  return {
    recall: () => stored,
    remember: (_, value) => {
      stored = value;
    },
  };
}

const SURE: Promised = { certainty: "sure", finishMs: 1000 };
const LATE: Promised = { certainty: "late", finishMs: 9000 };

test("the first promise of a site is kept over restarts, until its deadline changes", () => {
  const store = storeWith();
  new StoredPromises(store).make(new Map([["https://a.example", SURE]]));
  const again = new StoredPromises(store);
  again.make(new Map([["https://a.example", LATE]]));
  assert.deepEqual(again.of("https://a.example"), SURE);
  again.forget("https://a.example");
  again.make(new Map([["https://a.example", LATE]]));
  assert.deepEqual(new StoredPromises(store).of("https://a.example"), LATE);
});

test("damaged facts are no promises", () => {
  for (const text of [
    "{",
    "7",
    '[["a"]]',
    '[["a",{"certainty":"x","finishMs":1}]]',
    "[[1,2],null]",
  ])
    assert.equal(new StoredPromises(storeWith(text)).of("a"), undefined, text);
});
