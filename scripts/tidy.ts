/**
 * Checks the layout (imports between folders and inside them, purity of the mind, names, headers, exports without a
 * reader, files without a test) and the words: no banned word in documents, comments and strings of the program, no
 * line of prose above 120 characters.
 *
 * Reads the lines of every source file; no parser is needed because imports are relative, end in `.ts` and stand on
 * lines of their own. Prints each breach with its place and exits with 1 if there is one. The linter checks the sizes of
 * files and functions.
 */

import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { bannedWordIn, COLUMNS_MAX, proseLines } from "./prose.ts";

/** What a folder may import besides itself. A folder that is not here does not exist. */
const LANGUAGE = ["base", "url", "page"];
const MIND = ["topics", "bandwidth", "plan", "partition", "frontier"];
const HANDS = ["fetch", "store", "output", "search", "exchange"];
const BODY = ["config", "control", "results", "solver", "crawl", "cluster"];
const FACE = ["report", "dashboard", "lab", "cli"];
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  url: ["base"],
  page: ["base", "url"],
  ...each(MIND, [...LANGUAGE, ...MIND]),
  ...each(HANDS, LANGUAGE),
  config: [...LANGUAGE, ...MIND, ...HANDS],
  control: [...LANGUAGE, ...MIND, ...HANDS, "config"],
  results: [...LANGUAGE, ...MIND, ...HANDS, "config", "control"],
  solver: [...LANGUAGE, ...MIND],
  crawl: [...LANGUAGE, ...MIND, ...HANDS, "config", "control", "results", "solver"],
  cluster: [...LANGUAGE, ...MIND, ...HANDS, ...BODY],
  ...each(FACE, [...LANGUAGE, ...MIND, ...HANDS, ...BODY]),
  ...each(["dashboard", "lab"], [...LANGUAGE, ...MIND, ...HANDS, ...BODY, "report"]),
  cli: [...LANGUAGE, ...MIND, ...HANDS, ...BODY, ...FACE],
};

/**
 * The inside of folders that have sub-folders, as groups from the ground up. A member may import only members of
 * earlier groups, so there is no cycle, and the members of one group never import each other. A member is a sub-folder,
 * a file of the folder, or "." for all its other files.
 */
const INSIDE: Readonly<Record<string, readonly (readonly string[])[]>> = {
  bandwidth: [["."], ["history"], ["clock"], ["paced"], ["papers"]],
  plan: [["."], ["schedule"], ["feasible", "papers"], ["optimum"], ["promise"]],
  store: [["."], ["seen"], ["sqlite"], ["joined"]],
  output: [["."], ["warc"], ["lines"], ["parquet"]],
  crawl: [
    ["."],
    ["deadlines", "limit", "peers", "recrawl", "search", "topics"],
    ["wire.ts"],
    ["make-snapshot.ts"],
    ["crawl.ts"],
    ["open.ts"],
    ["library.ts"],
  ],
  dashboard: [["."], ["page"]],
  cluster: [["."], ["local", "nats"]],
  exchange: [["."], ["local", "nats"]],
  cli: [["."], ["commands"], ["run.ts"], ["main.ts"]],
};
/** Folders without groups: the lab's world, simulation and checkers share types. */
const UNGROUPED = ["lab"];
/** Files whose comments and exports are not yet checked. */
const UNCONVERTED = /^src\/(crawl\/(deadlines|peers)|bandwidth\/paced)\//;

/** Files that need a test beside them, unless they contain only types. */
const TESTED = /^src\/crawl\/(?!deadlines|limit|peers)/;

/** What deciding code must not contain: waiting, clocks, chance, the world. */
const IMPURE: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/\basync\b|\bawait\b|\bPromise\b/, "waits"],
  [/\bsetTimeout\b|\bsetInterval\b|\bsetImmediate\b|\bqueueMicrotask\b/, "sets a timer"],
  [/\bDate\.now\b|\bnew Date\(\)|\bperformance\b|\bsystemClock\b/, "reads a clock"],
  [/\bMath\.random\b|\bcrypto\b|\bsystemRandom\b/, "asks chance"],
  [/\bprocess\b|\bconsole\b|\bfetch\(/, "touches the world"],
  [/from "node:/, "imports from Node"],
];
const NAMES_BANNED = /^(utils?|helpers?|types?|manager|common|misc|shared|constants|index)\.ts$/;
const TEST = /\.(test|suite|child)\.ts$/;

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly dependencies: Readonly<Record<string, string>>;
};
const breaches: string[] = [];
const files = globSync("src/**/*.ts").toSorted();
const outside = globSync("{scripts,test,bench,examples}/**/*.{ts,sh}", {
  exclude: ["**/node_modules"],
});
const texts = new Map([...files, ...outside].map((file) => [file, readFileSync(file, "utf8")]));
for (const file of files) {
  const text = texts.get(file) ?? "";
  const folder = file.split("/")[1] ?? "";
  checkName(file, folder);
  if (!TEST.test(file)) checkHeader(file, text);
  // A suite may bring several folders together; a test of the language may use what it likes.
  if (!TEST.test(file) && folder !== "index.ts") checkImports(file, folder, text);
  if (!TEST.test(file) && MIND.includes(folder)) checkPurity(file, text);
  if (!TEST.test(file)) checkStrings(file, text);
  if (TESTED.test(file) && !TEST.test(file)) checkTest(file, text);
}
for (const [file, text] of texts) if (!UNCONVERTED.test(file)) checkComments(file, text);
checkExports();
for (const file of globSync(["*.md", ".github/**/*.md", "{docs,examples,src}/**/*.md"]).toSorted())
  checkProse(file, readFileSync(file, "utf8"));
for (const breach of breaches) console.error(breach);
console.error(`${files.length} files, ${breaches.length} breaches`);
process.exitCode = breaches.length === 0 ? 0 : 1;

function checkName(file: string, folder: string): void {
  if (file !== "src/index.ts" && NAMES_BANNED.test(basename(file)))
    breaches.push(`${file}: a name that means nothing attracts everything`);
  if (folder !== "index.ts" && MAY_IMPORT[folder] === undefined)
    breaches.push(`${file}: no folder of that name in the architecture`);
}

function checkHeader(file: string, text: string): void {
  if (!/^(#!.*\n)?\/\*\*/.test(text)) breaches.push(`${file}:1: begins without its header comment`);
}

function checkTest(file: string, text: string): void {
  const hasCode = /^(export )?(async )?(function|class|const)\b/m.test(text);
  if (hasCode && !texts.has(file.replace(/\.ts$/, ".test.ts")))
    breaches.push(`${file}: has no test beside it`);
}

function checkImports(file: string, folder: string, text: string): void {
  for (const [line, path] of importsOf(text)) {
    if (!path.startsWith(".")) {
      if (!isOurs(path)) breaches.push(`${file}:${line}: ${path} is no dependency of the package`);
      continue;
    }
    const target = normalize(join(dirname(file), path)).split("/")[1] ?? "";
    if (!path.endsWith(".ts")) breaches.push(`${file}:${line}: write the whole name, ${path}.ts`);
    if (target !== folder && !(MAY_IMPORT[folder] ?? []).includes(target))
      breaches.push(`${file}:${line}: ${folder} must not import ${target}`);
    if (target === folder && !isAllowedInside(folder, file, normalize(join(dirname(file), path))))
      breaches.push(`${file}:${line}: must not import ${path}, see INSIDE in scripts/tidy.ts`);
  }
}

function isAllowedInside(folder: string, from: string, to: string): boolean {
  if (UNGROUPED.includes(folder)) return true;
  const groups = INSIDE[folder] ?? [["."]];
  const [importing, imported] = [from, to].map((file) =>
    memberOf(groups, file.split("/").slice(2)),
  );
  const placeOf = (member = ""): number => groups.findIndex((group) => group.includes(member));
  if (placeOf(importing) < 0 || placeOf(imported) < 0) return false;
  return importing === imported || placeOf(imported) < placeOf(importing);
}

function memberOf(groups: readonly (readonly string[])[], [name = "", inner]: string[]): string {
  if (inner !== undefined) return name;
  return groups.flat().includes(name) ? name : ".";
}

/**
 * An export needs a reader: another file that names it, or, if only tests do, use in its own file. Any mention of
 * the name counts, so a common name can hide an unused export.
 */
function checkExports(): void {
  const namesIn = new Map(
    [...texts].map(([file, text]) => [
      file,
      withoutComments(text, true)
        .match(/[\w$]+/g)
        ?.toSorted() ?? [],
    ]),
  );
  const filesWith = new Map<string, string[]>();
  for (const [file, names] of namesIn)
    for (const name of new Set(names)) filesWith.set(name, [...(filesWith.get(name) ?? []), file]);
  for (const file of files) {
    if (TEST.test(file) || UNCONVERTED.test(file) || file === "src/index.ts") continue;
    const exported = (texts.get(file) ?? "").matchAll(
      /^export (?:async )?(?:const|function\*?|class|interface|type) ([\w$]+)/gm,
    );
    for (const [, name = ""] of exported) {
      const readers = (filesWith.get(name) ?? []).filter((other) => other !== file);
      const ownUses = namesIn.get(file)?.filter((own) => own === name).length ?? 0;
      if (readers.length === 0)
        breaches.push(`${file}: ${name} is exported, and no file imports it`);
      else if (ownUses === 1 && !file.startsWith("src/lab/") && readers.every(isForTests))
        breaches.push(`${file}: only tests use ${name}`);
    }
  }
}

function isForTests(file: string): boolean {
  return TEST.test(file) || !file.startsWith("src/");
}

/** What only development brings in is missing where the package is installed. */
function isOurs(specifier: string): boolean {
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  return specifier.startsWith("node:") || Object.hasOwn(manifest.dependencies, name);
}

function checkPurity(file: string, text: string): void {
  for (const [index, line] of withoutComments(text, false).split("\n").entries()) {
    for (const [pattern, what] of IMPURE)
      if (pattern.test(line)) breaches.push(`${file}:${index + 1}: the mind ${what}`);
  }
}

function checkComments(file: string, text: string): void {
  const comments = file.endsWith(".sh") ? /^\s*#.*$/gm : /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;
  for (const { 0: comment, index } of text.matchAll(comments)) {
    const word = bannedWordIn(comment);
    if (word === undefined) continue;
    const line = text.slice(0, index).split("\n").length;
    breaches.push(`${file}:${line}: plain words instead of "${word}" in a comment`);
  }
}

/** Strings of several words are shown to users. */
function checkStrings(file: string, text: string): void {
  for (const [index, line] of withoutComments(text, true).split("\n").entries()) {
    if (/\bassert\(|^\s*import\b|\bfrom "/.test(line)) continue;
    for (const [literal] of line.matchAll(/"(?:[^"\\]|\\.)*"|`[^`]*`/g)) {
      if (!literal.includes(" ")) continue;
      const word = bannedWordIn(literal.replaceAll(/\$\{[^}]*\}/g, ""));
      if (word !== undefined)
        breaches.push(`${file}:${index + 1}: plain words instead of "${word}"`);
    }
  }
}

function checkProse(file: string, text: string): void {
  for (const [number, line] of proseLines(text)) {
    const word = bannedWordIn(line.replaceAll(/`[^`]*`/g, ""));
    if (word !== undefined) breaches.push(`${file}:${number}: plain words instead of "${word}"`);
    if (line.length > COLUMNS_MAX)
      breaches.push(`${file}:${number}: longer than ${COLUMNS_MAX} characters`);
  }
}

function* importsOf(text: string): Generator<[line: number, path: string]> {
  for (const [index, line] of text.split("\n").entries()) {
    const match = /(?:\bfrom|\bimport\(?)\s*"([^"]+)"/.exec(line);
    if (match?.[1] !== undefined && !/^\s*(\*|\/\/)/.test(line)) yield [index + 1, match[1]];
  }
}

/** Keeps the lines where they are, so that a breach can be found again. */
function withoutComments(text: string, keepsStrings: boolean): string {
  const code = text
    .replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ""))
    .replaceAll(/(^|\s)\/\/.*$/gm, "$1");
  if (keepsStrings) return code;
  return code.replaceAll(/"(?:[^"\\\n]|\\.)*"/g, (literal) =>
    literal.startsWith('"node:') ? literal : '""',
  );
}

function each(
  folders: readonly string[],
  allowed: readonly string[],
): Record<string, readonly string[]> {
  return Object.fromEntries(folders.map((folder) => [folder, allowed]));
}
