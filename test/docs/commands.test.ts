/**
 * Runs every command in the documents as it is written, in a folder of its own, on a web of its own.
 *
 * Names like example.org lead to that web; what the line takes for granted (a crawl in `weir-data/example.org`, a file of
 * examples) is put there before; crawls end after a second and a half. Nothing else is changed.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { ROOT, run, start, temporaryFolder } from "../cli/program.ts";
import { type AnyWeb, startAnyWeb } from "./any-web.ts";
import { type Chapter, chapters, NOT_RUN, whyNotRun } from "./lines.ts";

const CRAWL_TIME = "1500ms";
/** Ends a command that hangs. */
const COMMAND_MS_MAX = 900_000;
const COMPILED = join(ROOT, "node_modules/.cache/compiled");
/** A folder that holds a crawl, in a line that looks at one. */
const FOLDERS =
  /(?<![\w/.-])(weir-data\/[\w.-]+(?:\/proc-1)?|crawl-[12]|four-processes|one-process)(?![\w./-])/g;
const SITES = ["https://example.org/", "https://news.example/", "https://docs.example/"];
const TROUBLE = /\((?:USAGE|[A-Z]+_[A-Z_]+)\)|bug in Weir/;

interface Stage {
  readonly web: AnyWeb;
  /** What chapters may take for granted, ready to be copied. */
  readonly stock: string;
  readonly folder: string;
}

test("every command in the documents runs as it is written", async (t) => {
  await using web = await startAnyWeb();
  using stock = temporaryFolder();
  await fillStock({ web, stock: stock.path, folder: stock.path });
  const done = new Set<string>();
  let run = 0;
  let left = 0;
  const queue = chapters().toSorted((a, b) => b.lines.length - a.lines.length);
  const failures: string[] = [];
  const work = async (): Promise<void> => {
    for (let chapter = queue.shift(); chapter !== undefined; chapter = queue.shift()) {
      using folder = temporaryFolder();
      const stage = { web, stock: stock.path, folder: folder.path };
      furnish(stage, chapter);
      for (const line of chapter.lines) {
        if (whyNotRun(line) !== undefined) left += 1;
        if (whyNotRun(line) !== undefined || done.has(line)) continue;
        done.add(line);
        run += 1;
        if (chapter.isLoose && line.startsWith("weir crawl"))
          rmSync(join(folder.path, "weir-data"), { recursive: true, force: true });
        const fault = await tried(line, stage);
        if (fault !== undefined) failures.push(`${chapter.name}: ${line}\n${fault}`);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, work));
  t.diagnostic(`${run} commands run, ${left} lines not run`);
  assert.deepEqual(failures, []);
  assert.ok(run > 90, `only ${run} commands found`);
});

test("whatever is no command of Weir's is listed with the reason, and nothing is listed in vain", () => {
  const lines = chapters().flatMap((chapter) => chapter.lines);
  for (const line of lines)
    if (!/^(weir|npx node examples\/)/.test(line))
      assert.notEqual(whyNotRun(line), undefined, `nobody knows how to run: ${line}`);
  for (const [pattern] of NOT_RUN)
    assert.ok(
      lines.some((line) => pattern.test(line)),
      `${pattern} stands nowhere`,
    );
});

/** A crawl with an index, a model, and files of the kinds that are named. */
async function fillStock(stage: Stage): Promise<void> {
  const { web, folder } = stage;
  const examples = ["arts", "science"].flatMap((topic) =>
    Array.from({ length: 20 }, (_, number) => labelled(topic, number)),
  );
  const text = `${examples.join("\n")}\n`;
  writeFileSync(join(folder, "others.jsonl"), text);
  writeFileSync(join(folder, "pages.jsonl"), text);
  writeFileSync(join(folder, "pages.jsonl.gz"), gzipSync(text));
  writeFileSync(join(folder, "page.html"), `<title>A page</title><p>${text.slice(0, 2000)}`);
  writeFileSync(join(folder, "sites.txt"), web.here(`${SITES.join("\n")}\n`));
  writeFileSync(join(folder, "popular.txt"), web.here(`${SITES.join("\n")}\n`));
  const sites = SITES.map((url) => `  - url: ${web.here(url)}\n    size: 1MB\n    deadline: 10m\n`);
  writeFileSync(join(folder, "weir.yaml"), `limit: 1MB/s\nsites:\n${sites.join("")}`);
  const words = SITES.map((url) => web.here(url));
  const crawled = await run(["crawl", ...words, "--out", "crawl", "--search-index", "--quiet"], {
    folder,
    variables: { ...variablesOf(stage), WEIR_TIME: "" },
  });
  assert.equal(crawled.code, 0, crawled.stderr);
  const trained = await run(["topics", "train", "others.jsonl", "--out", "mine.model"], { folder });
  assert.equal(trained.code, 0, trained.stderr);
}

function labelled(topic: string, number: number): string {
  const text = `${`${topic} words about ${topic} `.repeat(15)} ${number}`;
  return JSON.stringify({ topic, text });
}

function furnish({ web, stock, folder }: Stage, { files }: Chapter): void {
  for (const name of ["others.jsonl", "pages.jsonl", "pages.jsonl.gz", "page.html", "mine.model"])
    cpSync(join(stock, name), join(folder, name));
  for (const name of ["sites.txt", "popular.txt", "weir.yaml"])
    cpSync(join(stock, name), join(folder, name));
  for (const [name, text] of files)
    if (name !== "") writeFileSync(join(folder, name), web.here(text));
  symlinkSync(join(ROOT, "examples"), join(folder, "examples"));
  mkdirSync(join(folder, "bin"));
  const program = join(folder, "bin/weir");
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${ROOT}src/cli/main.ts" "$@"\n`);
  chmodSync(program, 0o755);
}

function variablesOf({ folder }: Stage): Record<string, string> {
  return {
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? COMPILED,
    PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`,
    WEIR_ALLOW_PRIVATE: "127.0.0.0/8",
    WEIR_CONTACT: "tests@example.org",
    WEIR_TIME: CRAWL_TIME,
  };
}

/** undefined when it went well. */
async function tried(written: string, stage: Stage): Promise<string | undefined> {
  const { folder, stock, web } = stage;
  if (!written.startsWith("weir crawl"))
    for (const [, name = ""] of written.matchAll(FOLDERS)) {
      const place = join(folder, name);
      mkdirSync(dirname(place), { recursive: true });
      if (!existsSync(place)) cpSync(join(stock, "crawl"), place, { recursive: true });
    }
  const line = web.here(placed(written)).replace(/^npx node /, `"${process.execPath}" `);
  await using _ = written.startsWith("weir set ") ? await crawlBeside(written, stage) : undefined;
  const isEndless = written.startsWith("weir serve");
  const { code, told } = await (written.startsWith("weir demo")
    ? inTurn(() => shell(line, stage, isEndless))
    : shell(line, stage, isEndless));
  // 3 is a crawl that was ended by the time it had.
  const isFine = code === 0 || (code === 3 && /\b(crawl|demo)\b|^npx/.test(written));
  return isFine && !TROUBLE.test(told) ? undefined : `ended with ${code}: ${told.slice(-1500)}`;
}

/** The demo always has the same port, so that a stopped one goes on. */
let turn: Promise<unknown> = Promise.resolve();
function inTurn<T>(task: () => Promise<T>): Promise<T> {
  const mine = turn.then(task);
  turn = mine;
  return mine;
}

/** A crawl is kept where it would be if its site had the name that is written. */
function placed(line: string): string {
  const host = /^weir crawl .*?https?:\/\/([\w.-]+)/.exec(line)?.[1] ?? "seeds";
  const isPlaced = !/^weir crawl\b/.test(line) || /--(out|config)\b/.test(line);
  return isPlaced ? line : line.replace(/^weir crawl/, `weir crawl --out weir-data/${host}`);
}

function shell(
  line: string,
  stage: Stage,
  isEndless: boolean,
): Promise<{ code: number | null; told: string }> {
  const child = spawn("sh", ["-c", `exec ${line}`.replace(/^exec (?=.*(\||&&))/, "")], {
    cwd: stage.folder,
    env: {
      ...process.env,
      NODE_TEST_CONTEXT: "",
      ...variablesOf(stage),
      // A promise for later than the end would be refused.
      ...(line.includes("--strict") && { WEIR_TIME: "" }),
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: COMMAND_MS_MAX,
  });
  let told = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      told += text;
      if (isEndless && /http:\/\/127\.0\.0\.1:\d+\//.test(told)) interrupt(child);
    });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, told })));
}

function interrupt(child: ChildProcess): void {
  // Once is enough; a second one would mean to quit at once.
  if (!child.killed) child.kill("SIGINT");
}

/** What is to be changed must run. */
async function crawlBeside(written: string, stage: Stage): Promise<AsyncDisposable> {
  const name = /^weir set (\S+)/.exec(written)?.[1] ?? "";
  const place = join(stage.folder, name);
  rmSync(place, { recursive: true, force: true });
  const words = ["crawl", ...SITES.map((url) => stage.web.here(url)), "--out", name];
  const beside = start([...words, "--delay", "2s", "--deadline", "1h", "--limit", "1MB/s"], {
    folder: stage.folder,
    variables: { ...variablesOf(stage), WEIR_TIME: "60s" },
  });
  while (!existsSync(join(place, "status.json")))
    await new Promise((resolve) => setTimeout(resolve, 20));
  return {
    async [Symbol.asyncDispose]() {
      beside.process.kill("SIGKILL");
      await beside.ended;
      // Incomplete; the next reader finds a complete one.
      rmSync(place, { recursive: true, force: true });
    },
  };
}
