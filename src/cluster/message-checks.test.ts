import assert from "node:assert/strict";
import { test } from "node:test";
import { messageIn } from "./message-checks.ts";

const LICENCE = {
  kind: "licence",
  life: "a",
  answers: 1_000,
  forMs: 3_000,
  aloneMs: 0,
  turnsAloneMs: 0,
  aloneBps: null,
  leader: 0,
  term: 1,
  grant: 1,
  limitBps: null,
  wholeBps: null,
  pagesMax: null,
  division: null,
  wave: 1,
  granted: [{ key: "site https://a.example", wish: 1, afterMs: 0 }],
  recalled: [],
  popular: [[1, 2]],
  held: "",
  changes: [{ id: "a", key: "limit", value: "1MB/s", number: 1, message: "" }],
  outcomes: [],
  end: "no",
  why: "",
};

test("a whole message passes, with fields of later versions too", () => {
  assert.equal(messageIn(LICENCE), LICENCE);
  assert.equal(typeof messageIn({ ...LICENCE, more: 1 }), "object");
});

test("a message without any one of its fields is refused, and the field is named", () => {
  for (const key of Object.keys(LICENCE)) {
    const rest = Object.fromEntries(Object.entries(LICENCE).filter(([name]) => name !== key));
    assert.equal(messageIn(rest), key);
  }
});

test("a field of another type or beyond its bounds is refused with its path", () => {
  const wrong: readonly (readonly [change: object, path: string])[] = [
    [{ forMs: 86_400_000 }, "forMs"],
    [{ grant: 2 ** 60 }, "grant"],
    [{ grant: -1 }, "grant"],
    [{ limitBps: "1" }, "limitBps"],
    [{ end: "later" }, "end"],
    [{ held: "x".repeat(10_000) }, "held"],
    [{ granted: [{ key: "a", wish: 1 }] }, "granted.0.afterMs"],
    [{ granted: {} }, "granted"],
    [{ popular: [[1]] }, "popular.0"],
    [{ changes: [null] }, "changes.0"],
  ];
  for (const [change, path] of wrong) assert.equal(messageIn({ ...LICENCE, ...change }), path);
});

test("an object without a known kind is refused, whatever its prototype has", () => {
  for (const kind of [undefined, null, "toString", "constructor", "__proto__", 1, {}])
    assert.equal(messageIn({ kind }), "kind");
});
