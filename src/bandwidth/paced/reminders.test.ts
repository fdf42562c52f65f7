import assert from "node:assert/strict";
import { test } from "node:test";
import { Reminders } from "./reminders.ts";

test("each is named once its time has come, in the order in which they were added last", () => {
  const reminders = new Reminders<string>(50);
  reminders.add(0, "a");
  reminders.add(10, "b");
  reminders.add(20, "c");
  reminders.add(30, "a");
  assert.deepEqual([...reminders.take(59)], []);
  assert.deepEqual([...reminders.take(70)], ["b", "c"], "a was put off by being added again");
  assert.deepEqual([...reminders.take(80)], ["a"]);
  assert.deepEqual([...reminders.take(1000)], [], "and nobody twice");
});

test("who was taken off the list is not named, and who is added meanwhile is not named at once", () => {
  const reminders = new Reminders<string>(50);
  for (const name of ["a", "b", "c"]) reminders.add(0, name);
  reminders.delete("b");
  const named: string[] = [];
  for (const name of reminders.take(60)) {
    named.push(name);
    reminders.add(60, name);
  }
  assert.deepEqual(named, ["a", "c"]);
});
