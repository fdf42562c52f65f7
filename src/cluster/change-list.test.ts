import assert from "node:assert/strict";
import { test } from "node:test";
import { ChangeList, CHANGES_MAX, VALUE_CHARS_MAX } from "./change-list.ts";

test("changes are numbered in order, and a repeated request is known by its id", () => {
  const list = new ChangeList();
  list.add({ id: "a", key: "limit", value: "1KB/s" }, "at most 1 KB/s");
  list.add({ id: "b", key: "delay", value: "2s" }, "");
  assert.deepEqual(
    list.all.map(({ number }) => number),
    [1, 2],
  );
  assert.ok(list.has("a") && !list.has("c"));
  const next = new ChangeList(list.all);
  next.renumberAbove(7);
  assert.equal(next.last, 9);
  assert.equal(list.last, 2);
});

test("a full list drops what a later change replaced, and refuses what would drop anything else", () => {
  const list = new ChangeList();
  const request = (site: number): { id: string; key: string; value: string } => {
    return { id: `${site}`, key: "priority", value: `https://${site}.example=2` };
  };
  for (let site = 0; site < CHANGES_MAX; site++) list.add(request(site), "");
  assert.equal(list.whyNot(request(3)), undefined);
  list.add({ ...request(3), id: "again" }, "");
  assert.ok(list.has("again") && !list.has("3"));
  assert.equal(list.all.length, CHANGES_MAX);
  assert.match(list.whyNot({ key: "limit", value: "1MB/s" }) ?? "", /at most/);
});

test("a value that does not fit into the list is refused", () => {
  const value = "x".repeat(VALUE_CHARS_MAX + 1);
  assert.match(new ChangeList().whyNot({ key: "limit-at", value }) ?? "", /characters/);
});
