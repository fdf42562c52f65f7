import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { Members } from "./members.ts";
import type { Report } from "./messages.ts";

function word(life: string, sentAtMs: number): Report {
  return { life, sentAtMs } as Report;
}

test("overtaken reports, and those of an earlier life, are not news", () => {
  const members = new Members(systemClock);
  const member = members.add("a");
  assert.ok(members.isNews(member, word("first", 100)));
  assert.ok(members.isNews(member, word("first", 300)));
  assert.ok(!members.isNews(member, word("first", 200)), "it was overtaken");
  assert.ok(members.isNews(member, word("second", 5)), "another life has another clock");
  assert.ok(!members.isNews(member, word("first", 400)), "that one is over");
  assert.ok(members.isNews(member, word("second", 6)));
});
