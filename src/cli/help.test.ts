import assert from "node:assert/strict";
import { test } from "node:test";
import { type FieldTable, flagOf } from "../config/field.ts";
import { GROUPS, SETTINGS } from "../config/schema.ts";
import { commandHelp, generalHelp, wrapped } from "./help.ts";
import { COMMANDS } from "./run.ts";

const page = commandHelp(
  { usage: "weir crawl", about: "x", examples: [], groups: GROUPS, common: ["delayMs"] },
  { topic: "all" },
);

test("help names every flag once, in its group, with its default", () => {
  for (const field of Object.values<FieldTable[string]>(SETTINGS)) {
    const flag = field.fallback === "true" ? `--no-${flagOf(field).slice(2)}` : flagOf(field);
    const lines = page.split("\n").filter((line) => /^ {2}(\S+)/.exec(line)?.[1] === flag);
    assert.equal(lines.length, 1, flag);
  }
  assert.match(page, /\nPoliteness:\n {2}--delay DURATION/);
  assert.match(page, /\[8MiB\]/);
});

test("help fits the terminal, and 80 columns where its width is not known", async () => {
  for (const [name, { load }] of Object.entries(COMMANDS)) {
    const { command } = await load();
    for (const columns of [40, 60, undefined, 100])
      for (const line of commandHelp(command.page, { columns }).split("\n"))
        // Commands are copied; a flag and its values, and a word, stay whole.
        assert.ok(
          line.length <= (columns ?? 80) || /^ {2}(weir |ssh |--)|^ *\S+$/.test(line),
          `${name}: ${line}`,
        );
  }
});

test("help on crawl shows at most 25 flags, and names where the others are", async () => {
  const { command } = (await COMMANDS["crawl"]?.load()) ?? assert.fail();
  const flagsIn = (text: string): number => text.match(/^ {2}--/gm)?.length ?? 0;
  assert.ok(flagsIn(commandHelp(command.page)) <= 25);
  assert.match(commandHelp(command.page), /weir crawl --help all/);
  const groups = Object.keys(GROUPS).map((title) =>
    flagsIn(commandHelp(command.page, { topic: title.toLowerCase() })),
  );
  assert.equal(
    groups.reduce((sum, count) => sum + count),
    Object.keys(SETTINGS).length,
  );
  assert.throws(() => commandHelp(command.page, { topic: "bandwith" }), /did you mean bandwidth/);
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
