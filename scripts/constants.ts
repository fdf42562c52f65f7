/**
 * Doubles and halves each tuning constant of the limit, one at a time, and shows which fast test fails.
 *
 *   node scripts/constants.ts [PART OF A NAME | --units]
 *
 * For a constant between 0.75 and 1.5, its distance from 1 is doubled and halved. The changes are made in a copy of
 * the repository, and each runs the unit tests of the area and then the simulated cells (not with `--units`), until one fails. A constant
 * that no test notices is not known to be needed: give it a test, or remove it. Exits with 1 if there is one.
 */

import { spawnSync } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const ROOT = new URL("..", import.meta.url).pathname;
const SOURCES = ["src/bandwidth/paced/*.ts", "src/crawl/limit/*.ts"];
const TESTS = ["src/bandwidth/paced/*.test.ts", "src/crawl/limit/*.test.ts"];
const SIMULATED = ["test/sim/limit-cells.test.ts"];
const RUN_MS_MAX = 60_000;
const CONSTANT = /^(?:export )?const ([A-Z][A-Z0-9_]+) = ([\d_.e]+);$/gm;
/** Not tuned: a fact of the network, or a unit. */
const FACTS = new Set(["PACKET_BYTES", "SYSTEM_WINDOW_BYTES", "SAVE_EVERY_MS"]);
const NEAR_ONE = { least: 0.75, most: 1.5 };

interface Constant {
  readonly file: string;
  readonly name: string;
  readonly text: string;
  readonly value: number;
}

const isQuick = process.argv.includes("--units");
const part = process.argv[2]?.replace("--units", "") ?? "";
const copy = mkdtempSync(join(tmpdir(), "weir-constants-"));
process.once("exit", () => rmSync(copy, { recursive: true, force: true }));
for (const folder of ["src", "test", "models", "package.json"])
  cpSync(join(ROOT, folder), join(copy, folder), { recursive: true });
symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));

const unnoticed: string[] = [];
console.log("| constant | file | doubled | halved |\n|---|---|---|---|");
for (const constant of constants()) {
  const { name, file, text, value } = constant;
  if (!name.includes(part)) continue;
  const isNearOne = value > NEAR_ONE.least && value < NEAR_ONE.most;
  const doubled = isNearOne ? 1 + 2 * (value - 1) : 2 * value;
  const halved = isNearOne ? 1 + (value - 1) / 2 : value / 2;
  const results = [doubled, halved].map((other) => failingTest(constant, other) ?? "**none**");
  console.log(`| ${name} = ${text} | ${basename(file)} | ${results.join(" | ")} |`);
  if (results.includes("**none**")) unnoticed.push(name);
}
console.log(`\n${unnoticed.length} constants that no test notices: ${unnoticed.join(", ")}`);
process.exitCode = unnoticed.length === 0 ? 0 : 1;

function constants(): Constant[] {
  const files = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).toSorted();
  return files
    .filter((file) => !/\.(test|suite)\.ts$/.test(file))
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), "utf8").matchAll(CONSTANT)].map(
        ([, name = "", text = ""]) => ({
          file,
          name,
          text,
          value: Number(text.replaceAll("_", "")),
        }),
      ),
    )
    .filter(({ name }) => !FACTS.has(name));
}

/** The first test that fails with another value; undefined if none does. */
function failingTest({ file, name, text }: Constant, value: number): string | undefined {
  const path = join(copy, file);
  const original = readFileSync(path, "utf8");
  writeFileSync(path, original.replace(`${name} = ${text};`, `${name} = ${value};`));
  try {
    const units = TESTS.flatMap((pattern) => globSync(pattern, { cwd: copy })).toSorted();
    const [slow = [], quick = []] = [true, false].map((isSlow) =>
      units.filter((unit) => unit.endsWith("governor.test.ts") === isSlow),
    );
    return failureOf(quick) ?? failureOf(slow) ?? failureOf(isQuick ? [] : SIMULATED);
  } finally {
    writeFileSync(path, original);
  }
}

function failureOf(files: readonly string[]): string | undefined {
  if (files.length === 0) return undefined;
  const { status, stdout } = spawnSync(
    process.execPath,
    ["--test", "--test-reporter=tap", ...files],
    { cwd: copy, encoding: "utf8", timeout: RUN_MS_MAX },
  );
  // A run that takes too long shows nothing: the machine may be busy.
  if (status === 0 || status === null) return undefined;
  // The first line of a failure that is no file.
  const names = [...(stdout ?? "").matchAll(/^ *not ok \d+ - (.*)$/gm)].map(
    ([, name = ""]) => name,
  );
  return names.find((name) => !name.endsWith(".ts")) ?? "the program ends";
}
