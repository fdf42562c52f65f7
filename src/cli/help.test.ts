import assert from "node:assert/strict";
import { test } from "node:test";
import { type FieldTable, flagOf } from "../config/field.ts";
import { GROUPS, SETTINGS } from "../config/schema.ts";
import { commandHelp, generalHelp, wrapped } from "./help.ts";
import { COMMANDS } from "./run.ts";

const page = commandHelp({ usage: "weir crawl", about: "x", examples: [], groups: GROUPS });

test("help names every flag once, in its group, with its default", () => {
  for (const field of Object.values<FieldTable[string]>(SETTINGS)) {
    const flag = field.fallback === "true" ? `--no-${flagOf(field).slice(2)}` : flagOf(field);
    const lines = page.split("\n").filter((line) => line.trim().split(" ")[0] === flag);
    assert.equal(lines.length, 1, flag);
  }
  assert.match(page, /\nManners:\n {2}--delay DURATION/);
  assert.match(page, /\[8MiB\]/);
});

test("help fits a terminal of a hundred columns", () => {
  for (const line of page.split("\n")) assert.ok(line.length <= 100, line);
});

test("the general help fits a screen of 24 lines and 80 columns", () => {
  const commands = Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary] as const);
  const lines = generalHelp(commands).trimEnd().split("\n");
  assert.ok(lines.length < 24, `${lines.length} lines`);
  for (const line of lines) assert.ok(line.length <= 80, line);
});

test("wrapping loses no word", () => {
  const text = "one two three four five six seven";
  for (let columns = 1; columns < 40; columns++)
    assert.equal(wrapped(text, columns).join(" "), text, `at ${columns}`);
});
