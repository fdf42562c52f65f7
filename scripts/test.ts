/**
 * Runs the checks and the tests of `npm test`, one line each, and a count at the end.
 *
 * First the checks (types, lint, format, layout, generated pages), then every test file in its own
 * process, one more than cores at a time. Words after `npm test --` select test files by part of their path
 * and leave out the checks. `--checks-only` leaves out the tests, `--watch` runs the files again after
 * each change, `--coverage` adds the share of covered lines per folder.
 */

import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { run } from "node:test";
import { inspect } from "node:util";
import { writeSettingOptions } from "./setting-options.ts";

const ROOT = new URL("..", import.meta.url).pathname;
/** Ends a test that hangs; a busy machine needs several times as long as an idle one. */
const TEST_MS_MAX = 1_800_000;
/** Files beyond one per core: tests with servers wait for a third of their time. */
const WAITING_FILES = 1;
const STDERR_CHARACTERS_MAX = 4_000;
const CHECKS: readonly (readonly [name: string, program: string, ...args: string[]])[] = [
  ["types", "tsc", "-p", ".", ...incremental("types")],
  ["types of the page", "tsc", "-p", "src/dashboard/page", ...incremental("page-types")],
  ["lint", "oxlint", "src", "test", "scripts"],
  ["format", "oxfmt", "--check", "src", "test", "scripts"],
  ["layout", "node", "scripts/tidy.ts"],
  ["objects of a crawl", "node", "scripts/object-graph.ts", "--check"],
  ["generated pages", "node", "scripts/docs.ts", "--check"],
  ["links of the pages", "node", "scripts/site.ts", "--check"],
];

/** The files that take longest, longest first. They begin first, so that no core waits at the end for one of them. */
const LONGEST: readonly string[] = [
  "test/cluster/cluster.test.ts",
  "test/docs/commands.test.ts",
  "test/hostile/crawl-everything.test.ts",
  "test/sim/outages.test.ts",
  "test/sim/cluster.test.ts",
  "test/cli/crawl.test.ts",
  "test/cluster/changes.test.ts",
  "test/pack/pack.test.ts",
  "test/cluster/procs.test.ts",
  "test/sim/rounds.test.ts",
  "test/cli/parallel.test.ts",
  "test/docs/cluster.test.ts",
  "test/hostile/crawl-robots.test.ts",
  "test/sim/team.test.ts",
];

type Kind = "passed" | "failed" | "skipped";

/** The part of the runner's events that is used here. */
interface Ended {
  readonly name: string;
  /** Where the test is written: a suite, perhaps, that several files run. */
  readonly file?: string | undefined;
  /** The file that runs it. */
  readonly entryFile?: string | undefined;
  readonly skip?: string | boolean | undefined;
  readonly details: {
    readonly type?: string | undefined;
    readonly duration_ms: number;
    readonly error?: Error & { readonly failureType?: string };
  };
}

const counts: Record<Kind, number> = { passed: 0, failed: 0, skipped: 0 };
const countsByFile = new Map<string, Record<Kind, number>>();
const stderrByFile = new Map<string, string>();
const failures: string[] = [];
/** What they said before they fell comes only after they have. */
const filesFallen: string[] = [];
const skips: string[] = [];

const words = process.argv.slice(2);
const chosen = words.filter((word) => !word.startsWith("--"));
const isWatching = words.includes("--watch");
const isCovering = words.includes("--coverage");
process.chdir(ROOT);
// The types of the checks and of some tests.
writeSettingOptions();
if (chosen.length === 0 && !isWatching && !isCovering) for (const check of CHECKS) runCheck(check);
if (!words.includes("--checks-only")) await runTests();
report();

/** Lets the compiler check only what has changed since its last run. */
function incremental(name: string): string[] {
  const file = `node_modules/.cache/${name}.tsbuildinfo`;
  return ["--incremental", "--tsBuildInfoFile", file];
}

function runCheck([name, program, ...args]: (typeof CHECKS)[number]): void {
  const startedMs = performance.now();
  const ended = spawnSync(`node_modules/.bin/${program}`, args, { encoding: "utf8" });
  const kind = ended.status === 0 ? "passed" : "failed";
  counts[kind]++;
  if (kind === "failed")
    failures.push(`check: ${name}\n${indent(`${ended.stdout}${ended.stderr}`.trim())}`);
  showLine(kind, performance.now() - startedMs, `check: ${name}`);
}

async function runTests(): Promise<void> {
  const files = globSync(["src/**/*.test.ts", "test/**/*.test.ts"])
    .filter((file) => chosen.length === 0 || chosen.some((part) => file.includes(part)))
    .toSorted((a, b) => rankOf(a) - rankOf(b) || a.localeCompare(b));
  process.env["NODE_COMPILE_CACHE"] ??= `${ROOT}node_modules/.cache/compiled`;
  const isBrowser = (file: string): boolean => file.startsWith("test/page/");
  // Code is never generated from text, and no code uses `__proto__`.
  const strict = ["--disallow-code-generation-from-strings", "--disable-proto=throw"];
  await runFiles(
    files.filter((file) => !isBrowser(file)),
    strict,
  );
  // The browser's driver, which is none of ours, does both.
  await runFiles(files.filter(isBrowser), []);
}

/** Tests of the whole program take longer than those beside the code. */
function rankOf(file: string): number {
  const place = LONGEST.indexOf(file);
  if (place >= 0) return place;
  return file.startsWith("test/") ? LONGEST.length : LONGEST.length + 1;
}

async function runFiles(files: readonly string[], execArgv: readonly string[]): Promise<void> {
  if (files.length === 0) return;
  const events = run({
    files: files.map((file) => ROOT + file),
    concurrency: availableParallelism() + WAITING_FILES,
    timeout: TEST_MS_MAX,
    execArgv: [...execArgv],
    watch: isWatching,
    coverage: isCovering,
    coverageIncludeGlobs: ["src/**/*.ts"],
    coverageExcludeGlobs: ["src/**/*.{test,suite,child}.ts"],
  });
  // `test:complete` comes as soon as a test has ended; `test:pass` and `test:fail` wait for earlier files.
  events.on("test:complete", (event: Ended) => {
    if (isFileItself(event)) closeFile(event);
    else count(event);
  });
  events.on("test:stderr", ({ file, message }) => {
    const told = (stderrByFile.get(file) ?? "") + message;
    stderrByFile.set(file, told.slice(-STDERR_CHARACTERS_MAX));
  });
  events.on("test:watch:drained", () => {
    report();
    clear();
  });
  events.on("test:coverage", ({ summary }) => showCoverage(summary.files));
  // Nothing runs unless the events are read to their end.
  for await (const _ of events);
}

function count(event: Ended): void {
  // A suite or a test that failed only by its parts would count them twice.
  if (event.details.type === "suite" || event.details.error?.failureType === "subtestsFailed")
    return;
  const file = relative(ROOT, event.entryFile ?? event.file ?? "");
  const kind = kindOf(event);
  counts[kind]++;
  countsOf(file)[kind]++;
  const why = typeof event.skip === "string" && event.skip !== "" ? ` (${event.skip})` : "";
  if (kind === "skipped") skips.push(`${file}: ${event.name}${why}`);
  if (kind === "failed")
    failures.push(
      `${file}: ${event.name}\n${indent(inspect(event.details.error?.cause ?? event.details.error, { depth: 4 }))}`,
    );
}

/** A file has ended; when it failed and none of its tests did, it fell over by itself. */
function closeFile(event: Ended): void {
  const file = relative(ROOT, event.file ?? "");
  const own = countsOf(file);
  if (event.details.error !== undefined && own.failed === 0) {
    own.failed++;
    counts.failed++;
    filesFallen.push(event.file ?? "");
  }
  const skipped = own.skipped > 0 ? `, ${own.skipped} skipped` : "";
  const failed = own.failed > 0 ? `, ${own.failed} FAILED` : "";
  showLine(
    own.failed > 0 ? "failed" : "passed",
    event.details.duration_ms,
    `${file}: ${own.passed} passed${skipped}${failed}`,
  );
}

function countsOf(file: string): Record<Kind, number> {
  const own = countsByFile.get(file) ?? { passed: 0, failed: 0, skipped: 0 };
  countsByFile.set(file, own);
  return own;
}

function kindOf(event: Ended): Kind {
  if (event.skip !== undefined && event.skip !== false) return "skipped";
  return event.details.error === undefined ? "passed" : "failed";
}

function isFileItself(event: Ended): boolean {
  return event.file !== undefined && event.name === event.file;
}

function showLine(kind: Kind, durationMs: number, text: string): void {
  const seconds = (durationMs / 1000).toFixed(1).padStart(6);
  console.log(`${kind === "passed" ? "ok    " : "FAILED"} ${seconds} s  ${text}`);
}

function report(): void {
  for (const file of filesFallen) {
    const told = stderrByFile.get(file) ?? "ended without output";
    failures.push(`${relative(ROOT, file)}: the file itself\n${indent(told)}`);
  }
  for (const failure of failures) console.log(`\nFAILED ${failure}`);
  if (skips.length > 0) console.log(`\nSKIPPED, so not tested here:\n${indent(skips.join("\n"))}`);
  console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
}

/** For the next run in watch mode. */
function clear(): void {
  counts.passed = counts.failed = counts.skipped = 0;
  countsByFile.clear();
  stderrByFile.clear();
  failures.length = filesFallen.length = skips.length = 0;
}

interface CoveredFile {
  readonly path: string;
  readonly totalLineCount: number;
  readonly coveredLineCount: number;
}

function showCoverage(files: readonly CoveredFile[]): void {
  const folders = Map.groupBy(files, ({ path }) => relative(ROOT, path).split("/")[1] ?? "");
  for (const [folder, own] of [...folders].toSorted(([a], [b]) => a.localeCompare(b))) {
    const lines = own.reduce((sum, { totalLineCount }) => sum + totalLineCount, 0);
    const covered = own.reduce((sum, { coveredLineCount }) => sum + coveredLineCount, 0);
    const share = ((100 * covered) / lines).toFixed(1).padStart(5);
    console.log(`${share} %  src/${folder}: ${covered} of ${lines} lines, ${own.length} files`);
  }
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
