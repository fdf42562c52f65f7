/**
 * The functions through which one URL passes, from seed to archive. A function belongs to the walk if it is on the
 * stack when the URL changes hands: when it becomes known, is queued, requested, archived and ended, and when all of
 * that is committed. Functions that only look something up have returned by then. `crawl.ts`, which starts and stops
 * the loops, and callbacks without a name are not counted.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Fetcher } from "../fetch/fetcher.ts";
import { Workbench } from "../frontier/workbench.ts";
import { Batch } from "./batch.ts";
import { pageWith, SmallCrawl } from "./small-crawl.suite.ts";

const FUNCTIONS_MAX = 15;
const FILES_MAX = 8;
const PAGE = "http://one.example/page";
const ARCHITECTURE = new URL("../../ARCHITECTURE.md", import.meta.url);

test("the walk of a URL in ARCHITECTURE.md is the one that a URL takes", async () => {
  const walk = await tracedWalk();
  assert.deepEqual(walk, walkInArchitecture());
  assert.ok(walk.length <= FUNCTIONS_MAX, `${walk.length} functions`);
  const files = new Set(walk.map((step) => step.split(" ")[0]));
  assert.ok(files.size <= FILES_MAX, `${files.size} files: ${[...files].join(", ")}`);
});

/** Steps such as "admit.ts admit", in the order in which the URL first reaches them. */
async function tracedWalk(): Promise<string[]> {
  const crawl = new SmallCrawl({ web: { [PAGE]: pageWith() } });
  const { output, store } = crawl.parts;
  assert.ok(output !== undefined);
  const steps = new Set<string>();
  /** The last argument says which URL a call concerns; a request for robots.txt has no row. */
  const followIf =
    (concerns: (argument: object) => boolean = () => true) =>
    (argument: unknown): void => {
      if (argument instanceof Object && concerns(argument))
        for (const step of stepsOnStack()) steps.add(step);
    };
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 200;
  const restored = [
    observe(Batch.prototype, "addUrl", followIf()),
    observe(
      Workbench.prototype,
      "put",
      followIf((entry) => "row" in entry && entry.row !== undefined),
    ),
    observe(
      Fetcher.prototype,
      "fetch",
      followIf((asked) => "url" in asked && asked.url === PAGE),
    ),
    observe(output, "write", followIf()),
    observe(Batch.prototype, "endUrl", followIf()),
    observe(Object.getPrototypeOf(store) as object, "commit", followIf(hasPages)),
  ];
  try {
    const result = await crawl.run();
    assert.deepEqual([result.complete, result.pages], [true, 1]);
  } finally {
    for (const restore of restored) restore();
    Error.stackTraceLimit = stackTraceLimit;
  }
  return [...steps];
}

/** Calls `follow` before each call of a method, and returns a function that undoes it. */
function observe(object: object, name: string, follow: (argument: unknown) => void): () => void {
  const original: unknown = Reflect.get(object, name);
  assert.ok(typeof original === "function");
  Reflect.set(object, name, function observed(this: unknown, ...values: unknown[]): unknown {
    follow(values.at(-1));
    return Reflect.apply(original, this, values);
  });
  return () => void Reflect.set(object, name, original);
}

function hasPages(batch: object): boolean {
  return "pages" in batch && Array.isArray(batch.pages) && batch.pages.length > 0;
}

/** The named functions of the body on the stack, outermost first. */
function stepsOnStack(): string[] {
  const frames = new Error("stack").stack?.split("\n") ?? [];
  return frames.toReversed().flatMap((frame) => {
    const match = /at (?:async )?(?:\w+\.)?(#?\w+) \(.*\/src\/crawl\/([\w/-]+\.ts):/.exec(frame);
    const [, name = "", file = ""] = match ?? [];
    const isCounted = match !== null && !/\.(suite|test)\.ts$|^crawl\.ts$/.test(file);
    return isCounted && name !== "callBack" ? [`${file} ${name}`] : [];
  });
}

/** The numbered list under the heading. */
function walkInArchitecture(): string[] {
  const text = readFileSync(ARCHITECTURE, "utf8");
  const section = text.split("## The walk of one URL\n")[1]?.split("\n## ")[0] ?? "";
  return Array.from(
    section.matchAll(/^\d+\. `([\w/-]+\.ts)` `(#?\w+)`/gm),
    ([, file, name]) => `${file} ${name}`,
  );
}
