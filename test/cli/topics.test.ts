import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { randomFrom } from "../../src/base/random.ts";
import { drawnPages, drawnText } from "../../src/topics/example-pages.suite.ts";
import { run, temporaryFolder } from "./program.ts";

interface EvalResult {
  readonly model: string;
  readonly classes: readonly string[];
  readonly accuracy: number;
  readonly macroF1: number;
  readonly perClass: Readonly<Record<string, { precision: number; recall: number; f1: number }>>;
  readonly confusion: readonly (readonly number[])[];
  readonly pagesPerSecond: number;
  readonly bytesPerSecond: number;
  readonly pages: number;
  readonly leftOut: {
    readonly broken: number;
    readonly small: number;
    readonly unknownTopic: number;
  };
}

function linesOf(seed: number, pagesPerTopic: number): string[] {
  return drawnPages(randomFrom(seed), pagesPerTopic).map(([topic, text], index) =>
    JSON.stringify(index % 2 === 0 ? { topic, text } : { topic, html: `<p>${text}</p>` }),
  );
}

function fileIn(folder: string, name: string, lines: readonly string[]): string {
  const file = join(folder, name);
  const text = `${lines.join("\n")}\n`;
  writeFileSync(file, name.endsWith(".gz") ? gzipSync(text) : text);
  return file;
}

test("a model is trained from packed lines, tested, and tells what a page is about", async () => {
  using folder = temporaryFolder();
  const examples = fileIn(folder.path, "examples.jsonl.gz", linesOf(1, 30));
  const model = join(folder.path, "mine.model");
  const trained = await run(["topics", "train", examples, "--out", model, "--json"]);
  assert.equal(trained.code, 0, trained.stderr);
  const made = JSON.parse(trained.stdout) as { classes: string[]; pages: Record<string, number> };
  assert.deepEqual(made.classes, ["topic a", "topic b", "topic c"]);
  assert.equal(made.pages["topic b"], 30);

  const others = fileIn(folder.path, "others.jsonl", linesOf(2, 20));
  const svg = join(folder.path, "confusion.svg");
  const tested = await run(["topics", "eval", others, "--model", model, "--svg", svg, "--json"]);
  assert.equal(tested.code, 0, tested.stderr);
  const result = JSON.parse(tested.stdout) as EvalResult;
  assert.equal(result.model, model);
  assert.deepEqual(result.classes, made.classes);
  assert.equal(result.pages, 60);
  assert.ok(result.accuracy > 0.85, String(result.accuracy));
  assert.ok(result.macroF1 > 0.85 && result.pagesPerSecond > 0 && result.bytesPerSecond > 0);
  assert.equal(
    result.confusion.flat().reduce((sum, count) => sum + count, 0),
    60,
  );
  assert.ok((result.perClass["topic a"]?.f1 ?? 0) > 0.8);
  assert.match(readFileSync(svg, "utf8"), /^<svg/);
  const told = await run(["topics", "eval", others, "--model", model]);
  assert.match(told.stdout, /% of 60 pages right/);

  const page = join(folder.path, "page.html");
  writeFileSync(page, `<html><body>${drawnText(randomFrom(3), 2, 3, 0.9)}</body></html>`);
  const small = join(folder.path, "small.txt");
  writeFileSync(small, "only this");
  const asked = await run(["topics", "classify", page, small, "--model", model, "--json"]);
  assert.equal(asked.code, 0, asked.stderr);
  const { pages } = JSON.parse(asked.stdout) as {
    pages: {
      topic: string | null;
      confidence: number | null;
      language: string | null;
      kind: string;
    }[];
  };
  assert.equal(pages[0]?.topic, "topic c");
  assert.equal(pages[0]?.language, "en");
  assert.deepEqual([pages[1]?.topic, pages[1]?.kind], [null, "small"]);
});

test("a method is tested on halves of its own examples", async () => {
  using folder = temporaryFolder();
  const examples = fileIn(folder.path, "examples.jsonl", linesOf(1, 40));
  for (const method of ["naive-bayes", "lewis", "rocchio", "linear"]) {
    const tested = await run(["topics", "eval", examples, "--split", method, "--json"]);
    assert.equal(tested.code, 0, tested.stderr);
    const result = JSON.parse(tested.stdout) as EvalResult;
    assert.equal(result.pages, 60, method);
    assert.ok(result.accuracy > 0.75, `${method}: ${result.accuracy}`);
  }
});

test("a few broken lines are counted and named, many are refused", async () => {
  using folder = temporaryFolder();
  const model = join(folder.path, "m.model");
  const good = linesOf(1, 30);
  const some = fileIn(folder.path, "some.jsonl", [...good, "{broken", '{"text":"no topic"}']);
  const trained = await run(["topics", "train", some, "--out", model]);
  assert.equal(trained.code, 0, trained.stderr);
  assert.match(trained.stderr, /2 of 92 lines cannot be used/);
  assert.match(trained.stderr, /some\.jsonl:91: no JSON/);
  assert.match(trained.stderr, /some\.jsonl:92: no "topic"/);
  const many = fileIn(folder.path, "many.jsonl", [
    ...good,
    ...Array.from({ length: 10 }, () => "[]"),
  ]);
  const refused = await run(["topics", "train", many, "--out", model]);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /10 of 100 lines cannot be used/);
});

test("what nothing can be learned from is refused with the reason", async () => {
  using folder = temporaryFolder();
  const why = async (lines: readonly string[]): Promise<string> => {
    const file = fileIn(folder.path, "bad.jsonl", lines);
    const ended = await run(["topics", "train", file, "--out", join(folder.path, "m")]);
    assert.equal(ended.code, 2, ended.stdout);
    return ended.stderr;
  };
  assert.match(await why([]), /The files have no lines/);
  const one = linesOf(1, 20).filter((line) => line.includes("topic a"));
  assert.match(await why(one), /all examples are of one topic, "topic a"/);
  const other = linesOf(1, 1).find((line) => line.includes("topic b")) ?? "";
  assert.match(await why([...one, other]), /topic b has 1/);
  assert.match((await run(["topics", "train", join(folder.path, "none")])).stderr, /Cannot read/);
});

test("a model of another version, a foreign file and unknown topics have clear answers", async () => {
  using folder = temporaryFolder();
  const examples = fileIn(folder.path, "e.jsonl", linesOf(1, 20));
  const model = join(folder.path, "m.model");
  await run(["topics", "train", examples, "--out", model]);
  const newer = join(folder.path, "newer.model");
  const bytes = readFileSync(model);
  writeFileSync(newer, Buffer.concat([Buffer.from("weir-topics 9"), bytes.subarray(13)]));
  const refused = await run(["topics", "eval", examples, "--model", newer]);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /version 9, and this Weir reads version 1/);
  assert.match(
    (await run(["topics", "eval", examples, "--model", examples])).stderr,
    /not a topic model/,
  );
  const foreign = fileIn(
    folder.path,
    "f.jsonl",
    linesOf(1, 5).map((line) => line.replace("topic ", "odd ")),
  );
  const unknown = await run(["topics", "eval", foreign, "--model", model]);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /topics the model does not have/);
  assert.match((await run(["topics", "tran"])).stderr, /did you mean train\?/);
});

test("the model that comes with Weir knows a match report from a recipe, and garbage from both", async () => {
  using folder = temporaryFolder();
  const texts = {
    "match.txt":
      "The striker scored twice in the second half as the home team won the match at the stadium on Saturday. The coach said that his players had trained very hard for the league season, and that they were happy with the goal of their captain. The referee gave a penalty and a red card before the end of the game.",
    "recipe.txt":
      "Preheat the oven and butter a baking dish. Mix the flour with the sugar and a pinch of salt, then beat in the eggs and the milk until the batter is smooth. Pour it over the sliced apples, sprinkle with cinnamon, and bake for half an hour until the cake is golden. Serve it warm with cream or vanilla sauce.",
    "garbage.txt": Array.from(
      { length: 300 },
      (_, index) => `x${((index * 7919) % 997).toString(36)}q`,
    ).join(" "),
    "one-word.txt": "word ".repeat(200_000),
    "german.txt":
      "Der Stürmer traf in der zweiten Halbzeit zweimal, und die Mannschaft hat das Spiel am Samstag gewonnen. Der Trainer sagte, dass die Spieler für die neue Saison sehr hart gearbeitet haben und sich nun auf das nächste Spiel freuen, das sie auch noch gewinnen wollen, wenn alle wieder gesund sind.",
  };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder.path, name), text);
  const files = Object.keys(texts).map((name) => join(folder.path, name));
  const asked = await run(["topics", "classify", ...files, "--json"]);
  assert.equal(asked.code, 0, asked.stderr);
  const { pages } = JSON.parse(asked.stdout) as {
    pages: { topic: string | null; language: string | null }[];
  };
  assert.deepEqual(
    pages.map(({ topic }) => topic),
    ["sports", "home", null, null, null],
  );
  assert.deepEqual(
    pages.map(({ language }) => language),
    ["en", "en", null, null, "de"],
  );
});
