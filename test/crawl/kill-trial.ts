/**
 * Kills the real program with -9, again and again, during one crawl of a world whose truth is known;
 * resumes it with the same command each time, and judges everything that is left behind.
 *
 * After every death the store is read from outside: sums and rows must agree, the archive must be
 * whole up to the committed mark, and `weir status` must tell the same numbers. Which URLs may be asked
 * for again is worked out from two witnesses: the servers' log and the rows. A URL that was asked for
 * and had not ended in the store when the program died was in flight; any other second request is a
 * breach. At the end the crawl must equal the truth, page by page and byte by byte.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { CrawlError } from "../../src/base/errors.ts";
import { below, type Random, randomFrom } from "../../src/base/random.ts";
import type { CrawlResult } from "../../src/control/snapshot.ts";
import { checkAccounts, checkTruth } from "../../src/lab/checkers/accounts.ts";
import { checkArchive } from "../../src/lab/checkers/archive.ts";
import type { Violation } from "../../src/lab/violation.ts";
import { digestOf, groundTruth } from "../../src/lab/ground-truth.ts";
import type { RequestEntry } from "../../src/lab/request-log.ts";
import { seedUrls } from "../../src/lab/world.ts";
import { DECOY_PATH } from "../../src/lab/world/html.ts";
import type { Marks } from "../../src/output/warc/warc-files.ts";
import { readRecord } from "../../src/output/warc/warc-read.ts";
import type { ReadableStore } from "../../src/store/store.ts";
import { openReadOnly } from "../../src/store/joined/open-read-only.ts";
import { type Ended, run, start } from "../cli/program.ts";
import { checkArchiveFiles, checkUpTo } from "./archive-witness.ts";
import { runAndKill } from "./doomed-program.ts";
import { type Aim, type Kill, killSchedule } from "./kill-schedule.ts";
import { type ServedWeb, serveWeb } from "./served-web.ts";

export interface TrialPlan {
  readonly seed: number;
  readonly kills: number;
  readonly pages: number;
  /** Where the crawl is kept; must not exist. */
  readonly folder: string;
  /** One life in so many is ended by Ctrl-C instead, so that `--json` speaks in between. */
  readonly gracefulEvery: number;
  readonly variables?: Readonly<Record<string, string>>;
  /** Called at the end of every process. */
  readonly onLife?: (life: Life) => void;
}

export interface Life {
  readonly number: number;
  readonly how: Aim | "Ctrl-C" | "to the end";
  readonly wasKilled: boolean;
  readonly requests: number;
  /** Asked for and not ended when it died: what the next life may ask for again. */
  readonly inFlight: number;
  readonly repeats: number;
  readonly known: number;
  readonly pages: number;
  readonly violations: readonly Violation[];
}

export interface TrialReport {
  readonly lives: readonly Life[];
  readonly violations: readonly Violation[];
  readonly result: CrawlResult | undefined;
  readonly archiveFiles: number;
}

const SITES = 8;
const CONNECTIONS = 8;
/** Small files, so that a new one is begun every few dozen pages. */
const WARC_SIZE = "128KiB";
/** What a start takes before one has been measured. */
const START_MS_GUESS = 800;
const START_MS_MIN = 300;

export async function killTrial(plan: TrialPlan): Promise<TrialReport> {
  const pagesPerSite = Math.ceil(plan.pages / SITES);
  await using web = await serveWeb({
    seed: plan.seed,
    siteCount: SITES,
    pagesMin: pagesPerSite,
    pagesMax: pagesPerSite,
    bytesMedianMin: 1_000,
    bytesMedianMax: 8_000,
    crawlDelayShare: 0,
  });
  return await new Trial(plan, web).run();
}

class Trial {
  readonly #plan: TrialPlan;
  readonly #web: ServedWeb;
  readonly #random: Random;
  readonly #words: readonly string[];
  readonly #forbidden = new Set<string>();
  readonly #lives: Life[] = [];
  /** URLs ever asked for, and those that had ended when the store was last looked at. */
  readonly #asked = new Set<string>();
  #ended: ReadonlySet<string> = new Set();
  #known = 0;
  #pages = 0;
  #marks: Marks = {};
  #startMs = START_MS_GUESS;

  constructor(plan: TrialPlan, web: ServedWeb) {
    this.#plan = plan;
    this.#web = web;
    this.#random = randomFrom(plan.seed);
    for (const { url, fate } of groundTruth(web.world))
      if (fate === "forbidden") this.#forbidden.add(url);
    const manners = `--allow-private 127.0.0.0/8 --delay 0ms --connections ${CONNECTIONS}`;
    const keeping = ["--out", plan.folder, "--json", "--warc-size", WARC_SIZE];
    this.#words = ["crawl", ...seedUrls(web.world), ...manners.split(" "), ...keeping];
  }

  async run(): Promise<TrialReport> {
    const schedule = killSchedule(this.#random, this.#plan.kills);
    for (const [index, kill] of schedule.entries()) {
      await this.#dieOnce(kill, schedule.length - index);
      if ((index + 1) % this.#plan.gracefulEvery === 0)
        await this.#stopOnce(schedule.length - index);
    }
    const result = await this.#finish();
    return {
      lives: this.#lives,
      violations: this.#lives.flatMap(({ violations }) => violations),
      result,
      archiveFiles: Object.keys(this.#marks).length,
    };
  }

  async #dieOnce(kill: Kill, livesLeft: number): Promise<void> {
    const words = this.#words;
    const { folder, variables = {} } = this.#plan;
    const isDue = this.#dueAfter(kill.afterShare, livesLeft);
    const startMs = this.#startMs;
    const death = await runAndKill({ words, variables, folder, kill, isDue, startMs });
    await this.#lookAt(kill.aim, death.wasKilled ? undefined : death.ended);
  }

  /** Ends one life as people do. */
  async #stopOnce(livesLeft: number): Promise<void> {
    const isDue = this.#dueAfter(this.#random.next(), livesLeft);
    const program = start(this.#words, this.#place);
    const look = setInterval(
      () => {
        if (!isDue()) return;
        clearInterval(look);
        program.process.kill("SIGINT");
      },
      1 + below(this.#random, 20),
    );
    const ended = await program.ended;
    clearInterval(look);
    await this.#lookAt("Ctrl-C", ended);
  }

  async #finish(): Promise<CrawlResult | undefined> {
    const ended = await run(this.#words, this.#place);
    const { folder } = this.#plan;
    const { world } = this.#web;
    const found: Violation[] = [];
    const store = openReadOnly(folder);
    const result = resultIn(ended);
    try {
      if (result?.complete !== true) found.push({ rule: "incomplete", detail: ended.stderr });
      const archive = join(folder, "archive");
      found.push(
        ...checkTruth(store, world),
        ...this.#checkStrangers(store),
        ...checkArchive(store, (place) => readRecord(archive, place).fields.get("warc-target-uri")),
        ...(await checkArchiveFiles(folder, store.marks, world)),
      );
      const exact = exactCopiesIn(this.#web);
      if (result?.duplicates.exact !== exact)
        found.push({ rule: "copies", detail: `${result?.duplicates.exact}, not ${exact}` });
    } finally {
      await store.close();
    }
    await this.#lookAt("to the end", ended, found);
    return result;
  }

  get #place(): { readonly variables: Readonly<Record<string, string>> } {
    return { variables: this.#plan.variables ?? {} };
  }

  /** A life ends after its share of what is left to do, as the servers count it. */
  #dueAfter(share: number, livesLeft: number): () => boolean {
    const web = this.#web;
    const before = web.begun;
    const left = this.#plan.pages - this.#ended.size;
    const wanted = 1 + Math.floor((share * left) / (livesLeft + 1));
    const startedAtMs = performance.now();
    let isStarted = false;
    return () => {
      if (!isStarted && web.begun > before) {
        isStarted = true;
        this.#startMs = Math.max(START_MS_MIN, performance.now() - startedAtMs);
      }
      return web.begun - before >= wanted;
    };
  }

  /** Reads everything the last life left behind; `ended` is undefined when it was killed. */
  async #lookAt(
    how: Life["how"],
    ended: Ended | undefined,
    found: readonly Violation[] = [],
  ): Promise<void> {
    const entries = await this.#web.newEntries();
    const violations = [...found];
    const { asked, repeats } = this.#judgeRequests(entries, violations);
    const { folder } = this.#plan;
    const store = storeIn(folder);
    if (store !== undefined) {
      try {
        violations.push(...checkAccounts(store), ...this.#checkMarks(store.marks));
        violations.push(...(await this.#checkStatus(store)), ...checkEnding(ended, store));
        this.#marks = store.marks;
        this.#known = store.totals.known;
        this.#pages = store.totals.pages;
        this.#ended = endedIn(store);
      } finally {
        await store.close();
      }
    }
    const life: Life = {
      number: this.#lives.length + 1,
      how,
      wasKilled: ended === undefined,
      requests: entries.length,
      inFlight: asked.difference(this.#ended).size,
      repeats,
      known: this.#known,
      pages: this.#pages,
      violations,
    };
    this.#lives.push(life);
    this.#plan.onLife?.(life);
  }

  /** What this life asked the servers for. Only what was in flight at an earlier death may come again. */
  #judgeRequests(
    entries: readonly RequestEntry[],
    violations: Violation[],
  ): { asked: ReadonlySet<string>; repeats: number } {
    const asked = new Set<string>();
    let repeats = 0;
    for (const { site, path } of entries) {
      if (path === "/robots.txt" || path.startsWith("/sitemap")) continue;
      const url = site + path;
      if (this.#forbidden.has(url) || path === DECOY_PATH)
        violations.push({ rule: "forbidden", detail: url });
      if (asked.has(url)) violations.push({ rule: "twice-in-one-life", detail: url });
      if (this.#ended.has(url)) violations.push({ rule: "asked-after-its-end", detail: url });
      if (this.#asked.has(url)) repeats += 1;
      asked.add(url);
      this.#asked.add(url);
    }
    return { asked, repeats };
  }

  #checkMarks(marks: Marks): Violation[] {
    const violations: Violation[] = [];
    for (const [file, end] of Object.entries(marks))
      if (this.#marks[file] !== end)
        violations.push(...checkUpTo(join(this.#plan.folder, "archive", file), end));
    for (const file of Object.keys(this.#marks))
      if (marks[file] === undefined) violations.push({ rule: "forgotten", detail: file });
    return violations;
  }

  /** What the program says of the crawl must be what its rows say. */
  async #checkStatus(store: ReadableStore): Promise<Violation[]> {
    const { code, stdout, stderr } = await run(
      ["status", this.#plan.folder, "--json"],
      this.#place,
    );
    if (code !== 0) return [{ rule: "status", detail: stderr }];
    return compareCounts("status", JSON.parse(stdout) as Told, store);
  }

  #checkStrangers(store: ReadableStore): Violation[] {
    const truth = new Set<string>();
    for (const { url } of groundTruth(this.#web.world)) truth.add(url);
    const violations: Violation[] = [];
    for (const { url } of store.urls())
      if (!truth.has(url)) violations.push({ rule: "stranger", detail: url });
    return violations;
  }
}

/** A life that was not killed must have ended well, and with the right counts on its lips. */
function checkEnding(ended: Ended | undefined, store: ReadableStore): Violation[] {
  if (ended === undefined) return [];
  const result = resultIn(ended);
  const isWell = ended.code === (result?.complete === true ? 0 : 3);
  if (result === undefined || !isWell)
    return [{ rule: "exit", detail: `${ended.code}: ${ended.stderr || ended.stdout}` }];
  return compareCounts("result", result, store);
}

type Told = Pick<CrawlResult, "urls" | "pages" | "outcomes" | "duplicates">;

function compareCounts(rule: string, told: Told, store: ReadableStore): Violation[] {
  const { totals } = store;
  const { known, done, failed, skipped } = told.urls;
  const rows = { known: 0, pending: 0 };
  for (const { reason } of store.urls()) {
    rows.known += 1;
    if (reason === undefined) rows.pending += 1;
  }
  const pairs = [
    ["known", known, rows.known],
    ["pending", told.urls.pending, rows.pending],
    ["sum", done + failed + skipped + told.urls.pending, rows.known],
    ["done", done, totals.done],
    ["failed", failed, totals.failed],
    ["skipped", skipped, totals.skipped],
    ["pages", told.pages, totals.pages],
    ["exact copies", told.duplicates.exact, totals.duplicatesExact],
    ...Object.entries(told.outcomes).map(
      ([reason, count]) => [reason, count, totals.outcomes[reason]] as const,
    ),
  ] as const;
  return pairs
    .filter(([, said, is]) => said !== is)
    .map(([what, said, is]) => ({ rule, detail: `${what}: says ${said}, is ${is}` }));
}

/** undefined when the program died before there was a store. */
function storeIn(folder: string): ReadableStore | undefined {
  if (!existsSync(folder)) return undefined;
  try {
    return openReadOnly(folder);
  } catch (error) {
    if (error instanceof CrawlError && error.code === "FOLDER_MISSING") return undefined;
    throw error;
  }
}

function endedIn(store: ReadableStore): ReadonlySet<string> {
  const ended = new Set<string>();
  for (const { url, reason } of store.urls()) if (reason !== undefined) ended.add(url);
  return ended;
}

function resultIn({ stdout }: Ended): CrawlResult | undefined {
  return stdout === "" ? undefined : (JSON.parse(stdout) as CrawlResult);
}

/** Pages with the same bytes as another, which is counted as the original. */
function exactCopiesIn({ world }: ServedWeb): number {
  const digests = new Set<string>();
  let pages = 0;
  for (const truth of groundTruth(world)) {
    if (truth.fate !== "stored") continue;
    pages += 1;
    digests.add(Buffer.from(digestOf(world, truth)).toString("hex"));
  }
  return pages - digests.size;
}
