/**
 * A crawl by several real processes of a world whose truth is known, in which things go wrong; then what servers
 * saw and what all stores hold together is judged from outside.
 *
 * The world is served by the process that runs the trial, so that its log and the moments of faults have one
 * clock. Sites share an address, so that manners need all processes to agree.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { CrawlResult } from "../../src/control/snapshot.ts";
import { defaultSettings } from "../../src/config/sources.ts";
import { checkAccounts, checkTruth } from "../../src/lab/checkers/accounts.ts";
import { checkOnce } from "../../src/lab/checkers/once.ts";
import { checkPoliteness } from "../../src/lab/checkers/politeness.ts";
import type { Violation } from "../../src/lab/violation.ts";
import { groundTruth } from "../../src/lab/ground-truth.ts";
import { politenessRulesOf } from "../../src/lab/judge.ts";
import { serveWorld, type WorldServer } from "../../src/lab/serve.ts";
import { seedUrls } from "../../src/lab/world.ts";
import { joinStores } from "../../src/store/joined/joined-view.ts";
import { openReadOnly } from "../../src/store/joined/open-read-only.ts";
import { type Ended, type Running, start } from "../cli/program.ts";
import { LagWatch } from "./lag-watch.ts";

export interface TrialPlan {
  readonly seed: number;
  readonly sites: number;
  readonly pagesPerSite: number;
  readonly delayMs: number;
  readonly addressDelayMs: number;
  readonly patienceMs: number;
}

/** What two event loops add to, or take from, the time between two requests; for more see `lag-watch.ts`. */
const TOLERANCE_MS = 12;
const CONNECTIONS = 8;
const LOOK_MS = 50;

export class FaultTrial implements AsyncDisposable {
  readonly faultsAtMs: number[] = [];
  readonly #plan: TrialPlan;
  readonly #web: WorldServer;
  readonly #lag = new LagWatch();

  constructor(plan: TrialPlan, web: WorldServer) {
    this.#plan = plan;
    this.#web = web;
  }

  static async start(plan: TrialPlan): Promise<FaultTrial> {
    const { seed, sites: siteCount, pagesPerSite } = plan;
    const pages = { pagesMin: pagesPerSite, pagesMax: pagesPerSite };
    const bytes = { bytesMedianMin: 1_000, bytesMedianMax: 8_000 };
    const world = { seed, siteCount, ...pages, ...bytes, crawlDelayShare: 0 };
    return new FaultTrial(plan, await serveWorld(world, { by: "port" }));
  }

  /** Requests that servers have seen so far. */
  get requests(): number {
    return this.#web.log.entries.length;
  }

  /** Pages that there are to be had. */
  get pages(): number {
    let pages = 0;
    for (const { fate } of groundTruth(this.#web.world)) if (fate === "stored") pages += 1;
    return pages;
  }

  crawl(folder: string, ...more: readonly string[]): Running {
    const { delayMs, addressDelayMs } = this.#plan;
    const manners = ["--delay", `${delayMs}ms`, "--address-delay", `${addressDelayMs}ms`];
    const words = ["crawl", ...seedUrls(this.#web.world), ...this.#own(folder), ...manners];
    return start([...words, "--connections", String(CONNECTIONS), ...more], this.#place);
  }

  node(folder: string, ...more: readonly string[]): Running {
    return start(["node", ...this.#own(folder), ...more], this.#place);
  }

  /** Something is about to go wrong. */
  note(): void {
    this.faultsAtMs.push(performance.now());
  }

  async requestsReach(count: number): Promise<void> {
    while (this.requests < count) await wait(LOOK_MS);
  }

  /** Milliseconds from now until servers are asked again. */
  async untilAsked(patienceMs: number): Promise<number> {
    const [before, fromMs] = [this.requests, performance.now()];
    while (this.requests === before && performance.now() - fromMs < patienceMs) await wait(LOOK_MS);
    return performance.now() - fromMs;
  }

  /** Judges what is left in the folders, of crawls or of single processes, and what servers saw. */
  judge(folders: readonly string[], mayRepeat = false): Violation[] {
    const { world, log } = this.#web;
    const { delayMs, addressDelayMs } = this.#plan;
    const stores = folders.map((folder) => ({ name: folder, store: openReadOnly(folder) }));
    const together = joinStores(stores);
    const settings = { ...defaultSettings(), delayMs, addressDelayMs };
    const violations = [
      ...checkAccounts(together),
      ...checkTruth(together, world),
      ...checkPoliteness(
        this.#lag.charitable(log.entries, { delayMs, addressDelayMs }),
        politenessRulesOf({ world, settings, toleranceMs: TOLERANCE_MS }),
      ),
      ...(mayRepeat ? [] : this.#repeats()),
    ];
    for (const { store } of stores) store.close();
    return violations;
  }

  /** How many pages servers delivered a second time. */
  get repeats(): number {
    const once = { log: this.#web.log.entries, stored: [], uncommittedMax: Infinity };
    const none = { crashedAtMs: [], mayRepeat: isErrand };
    return checkOnce({ ...once, ...none }).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lag[Symbol.dispose]();
    await this.#web.close();
  }

  /** The longest time that this process, and its servers, could not run. */
  get lagMsMax(): number {
    return this.#lag.longestMs;
  }

  #repeats(): Violation[] {
    return checkOnce({
      log: this.#web.log.entries,
      stored: [],
      crashedAtMs: this.faultsAtMs,
      uncommittedMax: 3 * CONNECTIONS,
      mayRepeat: isErrand,
    });
  }

  #own(folder: string): string[] {
    return ["--allow-private", "127.0.0.0/8", "--out", folder, "--json"];
  }

  get #place(): { readonly patienceMs: number } {
    return { patienceMs: this.#plan.patienceMs };
  }
}

function isErrand(path: string): boolean {
  return path === "/robots.txt" || path.startsWith("/sitemap");
}

export function resultIn({ stdout }: Ended): CrawlResult {
  return JSON.parse(stdout) as CrawlResult;
}

/** Processes that a process has started. */
export function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(join("/proc", `${pid}/task/${pid}/children`), "utf8");
    return text.split(" ").flatMap((word) => (word === "" ? [] : Number(word)));
  } catch {
    return [];
  }
}

/**
 * A server on a busy machine sees requests late, and so too close to the next: times between them are judged in
 * the simulation, where they are exact, and in the bench.
 */
export function besidesTimes(violations: readonly Violation[]): Violation[] {
  return violations.filter(({ rule }) => !rule.endsWith("-delay"));
}
