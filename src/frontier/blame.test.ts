import assert from "node:assert/strict";
import { test } from "node:test";
import { Blame } from "./blame.ts";

const SITE = 1;

test("a failure between good responses is its URL's own, each time", () => {
  const blame = new Blame();
  for (let attempt = 0; attempt < 3; attempt++) {
    blame.failed(SITE, blame.now(), 7);
    assert.deepEqual(blame.responded(SITE, blame.now()), [7]);
    assert.deepEqual(blame.responded(SITE, blame.now()), [], "charged once");
  }
  assert.equal(blame.size, 0);
});

test("during an outage no URL is charged but the last, if it was the only one that failed", () => {
  const blame = new Blame();
  for (let urlId = 1; urlId <= 50; urlId++) blame.failed(SITE, blame.now(), urlId);
  blame.failed(SITE, blame.now(), undefined);
  assert.deepEqual(blame.responded(SITE, blame.now()), []);
});

test("requests that were open at the same time tell nothing", () => {
  const blame = new Blame();
  const [first, second, third] = [blame.now(), blame.now(), blame.now()];
  blame.failed(SITE, first, 1);
  assert.deepEqual(blame.responded(SITE, second), []);
  blame.failed(SITE, third, 3);
  assert.deepEqual(blame.responded(SITE, blame.now()), [1, 3]);
});

test("the failures of one site tell nothing about another", () => {
  const blame = new Blame();
  blame.failed(SITE, blame.now(), 1);
  assert.deepEqual(blame.responded(2, blame.now()), []);
  assert.deepEqual(blame.responded(SITE, blame.now()), [1]);
});
