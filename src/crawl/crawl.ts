/**
 * Starts the loops, pauses, drains and stops them. It moves nothing itself: see `intake` (the gate),
 * `refill` (the waiting hall), `fetch-loop` (the meter) and `record` (the reading room).
 */

import type { Calendar } from "../bandwidth/clock/calendar.ts";
import { Meter } from "../bandwidth/history/meter.ts";
import type { Quota } from "../bandwidth/clock/quota.ts";
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { CrawlError, type ErrorCode } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { showDuration } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import type { Random } from "../base/random.ts";
import type { Settings } from "../config/schema.ts";
import type { Fetcher } from "../fetch/fetcher.ts";
import type { Resolver } from "../fetch/resolver.ts";
import type { Output } from "../output/output.ts";
import type { Traces } from "../output/traces.ts";
import type { PageIndex } from "../search/index-thread.ts";
import type { Store } from "../store/store.ts";
import type { Spellings } from "../config/seeds.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { assemble } from "./wire.ts";
import type { Loops } from "./loops.ts";
import { checkPromises } from "./deadlines/check-promises.ts";
import { rememberBegun, sinceBegun } from "./deadlines/deadlines.ts";
import { PAGES_USED_UP } from "./recrawl/recrawls.ts";
import type { Changing } from "../control/live-settings.ts";
import type { CrawlHooks } from "./hooks.ts";
import type { LineMeans } from "./limit/link-budget.ts";
import { resultOf, snapshotOf } from "./make-snapshot.ts";
import type { CrawlResult, CrawlState, Snapshot } from "../control/snapshot.ts";
import type { Team, TeamMeans } from "./peers/peer.ts";
import type { TopicMeans } from "./topics/setup.ts";
import { couldNotBeReached } from "./patience.ts";
import type { Fingerprint } from "../url/fingerprint.ts";

/** The sockets and sinks of one crawl, and what it was asked to do. */
export interface CrawlParts {
  readonly settings: Settings;
  readonly seeds: readonly CanonicalUrl[];
  readonly spellings?: Spellings;
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly fetcher: Fetcher;
  /** undefined behind a proxy, which looks names up itself. */
  readonly resolver: Resolver | undefined;
  readonly output: Output | undefined;
  /** undefined when pages are not made searchable while they come. */
  readonly index?: PageIndex | undefined;
  readonly log: Log;
  readonly hooks: CrawlHooks;
  readonly line: LineMeans;
  /** What one process of several needs; undefined for one that is alone. */
  readonly team?: TeamMeans;
  readonly traces?: Traces | undefined;
  /** What tells topics; undefined where nobody asks. */
  readonly topics?: TopicMeans | undefined;
}

export interface CrawlHandle extends Changing {
  /** Resolves when the crawl has ended and everything is stored. */
  readonly done: Promise<CrawlResult>;
  snapshot(): Snapshot;
  /** Of one process of several: what it shares with the others. */
  readonly team: Team | undefined;
  /** Nothing is under way, and nothing here can begin. */
  readonly isIdle: boolean;
  /** It has as many pages as it may have. */
  readonly isSated: boolean;
  /** Only sites that cannot be reached are left, and the crawl has waited for them long enough. */
  readonly isOutOfPatience: boolean;
  /** A few figures, cheap enough to be asked for ten times a second. */
  pulse(): Pulse;
  /** Of its pages, once it has ended: see `Store.leastPages`. Empty for a crawl without others. */
  readonly leastPages: readonly Fingerprint[];
  /** All processes are done: this one may end when it is, too. */
  finish(): void;
}

export interface Pulse {
  readonly known: number;
  readonly pending: number;
  /** Sites that could not be reached when they were last probed. */
  readonly unreachable: number;
  /** Those that count towards --pages. */
  readonly pages: number;
  /** On the wire, since it was started. */
  readonly receivedBytes: number;
  readonly waitingReaders: number;
  /** What it takes to keep its deadlines. */
  readonly neededBps: number;
}

/** Why a crawl pauses while there is no room for more. */
const LACKS: ReadonlyMap<ErrorCode, string> = new Map([
  ["DISK_FULL", "the disk is full"],
  ["DESCRIPTORS_USED_UP", "the limit of open files is reached"],
]);
/** How long requests under way may take once the crawl was told to stop. */
const GRACE_MS = 1500;
/** How often a crawl whose patience may be over looks whether a site is left that responds. */
const PATIENCE_LOOK_MS = 1000;
/** Deadlines may be set while it waits. */
const PATIENCE_SLEEP_MS_MAX = 60_000;
/** By so many fingerprints different pages of several processes are counted to 3.1 %. */
const SAMPLED_PAGES = 1024;

export function startCrawl(parts: CrawlParts): CrawlHandle {
  const crawl = new Crawl(parts);
  crawl.start();
  return crawl;
}

/** Only a program can refuse all of them: patterns that do so are refused with the settings. */
function noSeedAdmitted({ seeds }: CrawlParts): CrawlError {
  const first = seeds.slice(0, 3).map((seed) => visible(seed, 200));
  return new CrawlError("SEED_REFUSED", `onLink refused every seed: ${first.join(", ")}`);
}

class Crawl implements CrawlHandle {
  readonly done: Promise<CrawlResult>;
  readonly #parts: CrawlParts;
  readonly #loops: Loops;
  readonly #meter: Meter;
  readonly #startedAtMs: number;
  readonly #resumed: boolean;
  leastPages: readonly Fingerprint[] = [];
  readonly #holds = new Set<string>();
  readonly #settle: PromiseWithResolvers<CrawlResult>;
  readonly #cutOff = new AbortController();
  #state: CrawlState = "starting";
  #stoppedBy = "";
  #wasToldToStop = false;
  /** Why nothing can be stored at present. */
  #trouble: CrawlError | undefined;
  #pagesMax: number;
  /** One of several ends when all are done, and somebody else knows when that is. */
  #mayFinish: boolean;
  #cancelTimers: (() => void)[] = [];
  #cancelPatience: (() => void) | undefined;

  constructor(parts: CrawlParts) {
    this.#parts = parts;
    const { clock, settings, store } = parts;
    this.#startedAtMs = clock.nowMs();
    this.#resumed = store.totals.known > 0;
    this.#pagesMax = settings.pagesMax ?? Infinity;
    this.#mayFinish = parts.team === undefined;
    this.#meter = new Meter(this.#startedAtMs);
    this.#settle = Promise.withResolvers();
    this.done = this.#settle.promise;
    const beganAtMs = this.#startedAtMs - sinceBegun(store, clock.wallMs());
    this.#loops = assemble(parts, {
      meter: this.#meter,
      signal: this.#cutOff.signal,
      resumed: this.#resumed,
      beganAtMs: ({ round }) => (round.number > 1 ? round.startedAtMs : beganAtMs),
      allowance: () =>
        this.#loops.team?.isLicensed === false
          ? 0
          : this.#pagesMax - this.#loops.tally.pagesCounted,
      onPause: (isPaused) => this.hold("the calendar allows nothing now", isPaused),
      onQuotaUsedUp: (what) => this.stop(what),
      onTrouble: (trouble) => this.#onTrouble(trouble),
      onIdle: () => this.#onIdle(),
      onFault: (fault) => this.#fail(fault),
    });
  }

  start(): void {
    const { settings, clock, store } = this.#parts;
    this.#loops.team?.start();
    if (settings.refresh && settings.strict && this.#loops.team === undefined)
      try {
        const { speeds } = this.#parts.line;
        checkPromises({ ...this.#parts, speeds, limitBps: this.#loops.line.limitBps });
      } catch (refusal) {
        return this.#fail(refusal);
      }
    this.#loops.admitSeeds();
    if (this.#isEmpty) return this.#fail(noSeedAdmitted(this.#parts));
    this.#loops.rounds.start();
    this.#loops.refill.wakeSites();
    // Stored before anything is asked: a restart must know that it is one.
    this.#loops.batch.commit();
    this.#state = "running";
    this.#loops.line.start();
    this.#loops.ordering?.start();
    try {
      this.#loops.replan.start();
    } catch (refusal) {
      return this.#fail(refusal);
    }
    rememberBegun(store, clock.wallMs());
    if (settings.timeMaxMs !== undefined)
      this.#cancelTimers.push(clock.after(settings.timeMaxMs, () => this.stop("time limit")));
    if (this.#holds.size === 0 && this.#state === "running") this.#loops.fetchLoop.run();
    if (this.#parts.team === undefined) this.#watchPatience();
  }

  /** One of several ends when all are out of patience. */
  #watchPatience(): void {
    const { clock } = this.#parts;
    const inMs = Math.max(PATIENCE_LOOK_MS, this.#loops.patience.endsAtMs - clock.nowMs());
    this.#cancelPatience = clock.after(Math.min(inMs, PATIENCE_SLEEP_MS_MAX), () => {
      if (this.isOutOfPatience) this.stop(couldNotBeReached(this.#loops.unreachable.sites().count));
      else if (this.#state === "running") this.#watchPatience();
    });
  }

  get isOutOfPatience(): boolean {
    const { rounds, patience } = this.#loops;
    if (this.#state !== "running" || this.#holds.size > 0 || rounds.goesOn) return false;
    return patience.isOver;
  }

  /** Several processes each know a part of the seeds, so that one of them may have none. */
  get #isEmpty(): boolean {
    return this.#parts.team === undefined && this.#loops.tally.known === 0;
  }

  get team(): Team | undefined {
    return this.#loops.team;
  }

  get isIdle(): boolean {
    const { fetchLoop, workbench, batch } = this.#loops;
    const isQuiet = fetchLoop.isQuiet && this.#loops.errandsUnderWay() === 0;
    return isQuiet && batch.isEmpty && (workbench.entries === 0 || this.isSated);
  }

  get isSated(): boolean {
    return this.#loops.tally.pagesCounted >= this.#pagesMax;
  }

  pulse(): Pulse {
    const { tally, controller } = this.#loops;
    return {
      known: tally.known,
      pending: tally.pending,
      unreachable: this.#loops.unreachable.size,
      pages: tally.pagesCounted,
      receivedBytes: this.#meter.bytes,
      waitingReaders: controller.waiting,
      neededBps: this.#loops.replan.neededBps,
    };
  }

  finish(): void {
    this.#mayFinish = true;
    if (this.isOutOfPatience) return this.stop(couldNotBeReached(this.#loops.unreachable.size));
    this.#onIdle();
  }

  snapshot(): Snapshot {
    return snapshotOf({
      loops: this.#loops,
      meter: this.#meter,
      nowMs: this.#parts.clock.nowMs(),
      startedAtMs: this.#startedAtMs,
      ...this.#doing(),
      resumed: this.#resumed,
    });
  }

  /** What it does, and why when that is nothing. */
  #doing(): { state: CrawlState; because: string } {
    const state = this.#state;
    if (state !== "running") return { state, because: "" };
    if (this.#holds.size > 0) return { state: "paused", because: [...this.#holds].join("; ") };
    if (this.#loops.patience.waits) return { state: "paused", because: this.#whatItWaitsFor() };
    const next = this.#loops.tally.pending > 0 ? undefined : this.#loops.rounds.next();
    if (next === undefined) return { state, because: "" };
    const because = `next round of ${next.site} in ${showDuration(next.inMs)}`;
    return { state: "waiting", because };
  }

  #whatItWaitsFor(): string {
    const { unreachable, patience, rounds } = this.#loops;
    const what = `${couldNotBeReached(unreachable.size)}; trying again`;
    if (rounds.goesOn || this.#parts.team !== undefined) return what;
    const leftMs = Math.max(0, patience.endsAtMs - this.#parts.clock.nowMs());
    return `${what}, and stopping in ${showDuration(leftMs)} (--patience)`;
  }

  stop(why: string): void {
    if (this.#state !== "running") return;
    this.#state = "stopping";
    this.#stoppedBy = why;
    this.#wasToldToStop = true;
    this.#loops.rounds.stop();
    this.#loops.fetchLoop.pause();
    this.#cancelTimers.push(this.#parts.clock.after(GRACE_MS, () => this.#cutOff.abort()));
    this.#onIdle();
  }

  hold(why: string, isHeld: boolean): void {
    const wasHeld = this.#holds.size > 0;
    if (isHeld) this.#holds.add(why);
    else this.#holds.delete(why);
    if (wasHeld && this.#holds.size === 0) this.#loops.patience.renew();
    if (this.#holds.size > 0) this.#loops.fetchLoop.pause();
    else if (this.#state === "running") this.#loops.fetchLoop.run();
  }

  setConnections(connectionsMax: number): void {
    this.#loops.fetchLoop.setConnectionsMax(connectionsMax);
  }

  setDelay(delayMs: number): void {
    this.#loops.setDelay(delayMs);
  }

  setPages(pagesMax: number): void {
    this.#pagesMax = pagesMax;
    this.#loops.fetchLoop.pump();
  }

  setLimit(limitBps: number | undefined, wholeBps = limitBps): void {
    this.#loops.line.setLimit(limitBps, wholeBps);
    this.#loops.replan.soon();
  }

  setCalendar(calendar: Calendar | undefined): void {
    this.#loops.line.setCalendar(calendar);
  }

  setSiteLimit(limitBps: number | undefined): void {
    this.#loops.line.setSiteLimit(limitBps);
  }

  setQuota(quota: Quota | undefined): void {
    this.#loops.line.setQuota(quota);
  }

  setDeadline(site: string, deadlineMs: number | undefined): void {
    this.#loops.promised.setDeadline(site, deadlineMs);
    this.#loops.replan.changed();
  }

  setPriority(site: string, priority: number): void {
    this.#loops.promised.setPriority(site, priority);
    this.#loops.replan.changed();
  }

  #onTrouble(trouble: CrawlError | undefined): void {
    // Every page that finds no room reports it.
    const isNew = trouble !== undefined && trouble.code !== this.#trouble?.code;
    this.#trouble = trouble;
    if (isNew)
      this.#parts.log.write({
        level: "warn",
        message: trouble.message,
        values: { code: trouble.code },
      });
    for (const [code, why] of LACKS) this.hold(why, trouble?.code === code);
  }

  /** Nothing is under way. Is there nothing left to do, or nothing that may still be done? */
  #onIdle(): void {
    if (this.#state !== "running" && this.#state !== "stopping") return;
    if (!this.#loops.fetchLoop.isQuiet || this.#loops.errandsUnderWay() > 0) return;
    const { tally, workbench } = this.#loops;
    const isStopping = this.#state === "stopping";
    const isSated = this.isSated;
    // Beside URLs there may be errands: a sitemap that waits for its turn can still name some.
    if (!isStopping && !isSated && (tally.pending > 0 || workbench.entries > 0)) {
      this.#loops.refill.wakeSites();
      this.#loops.team?.onIdle();
      return;
    }
    if (!isStopping && this.#loops.rounds.goesOn) return;
    const { team } = this.#loops;
    // One that ends before the others has nothing left that they need.
    const mayFinish = this.#mayFinish && (team?.isQuiet ?? true);
    if (!isStopping && !mayFinish) return team?.onIdle();
    team?.close();
    if (isSated && tally.pending > 0 && !isStopping) {
      this.#stoppedBy = "pages limit";
      this.#parts.store.remember(PAGES_USED_UP, "yes");
    }
    // Ends in a moment of its own, when whoever called this has noted all it had to.
    this.#state = "stopping";
    this.#loops.fetchLoop.pause();
    this.#cancelTimers.push(this.#parts.clock.after(0, () => this.#finish()));
  }

  #finish(): void {
    if (this.#state !== "stopping" || !this.#loops.fetchLoop.isQuiet) return;
    if (!this.#loops.batch.commit()) {
      // Whoever was told to stop waits for nothing: what is not stored will be asked for again.
      if (this.#wasToldToStop) return this.#fail(this.#trouble);
      this.#cancelTimers.push(this.#parts.clock.after(GRACE_MS, () => this.#finish()));
      return;
    }
    const isOver = this.#loops.tally.pending === 0 && !this.#isWatchEnded;
    this.#state = isOver ? "done" : "stopped";
    this.#cancelPatience?.();
    this.#loops.unreachable.stop();
    for (const cancel of this.#cancelTimers) cancel();
    this.#close().then(
      (result) => this.#settle.resolve(result),
      (fault) => this.#settle.reject(fault),
    );
  }

  /** Who watches is never done: it was told to stop, and the same command goes on. */
  get #isWatchEnded(): boolean {
    return this.#parts.settings.watch && this.#wasToldToStop;
  }

  async #close(): Promise<CrawlResult> {
    const { output, store, clock } = this.#parts;
    this.#loops.line.stop();
    this.#loops.ordering?.stop();
    this.#loops.team?.stop();
    this.#loops.replan.stop();
    await output?.sync();
    await store.sync();
    assert(this.#loops.tally.pending >= 0, "invariant 4");
    if (this.#loops.team !== undefined) this.leastPages = store.leastPages(SAMPLED_PAGES);
    return resultOf({
      loops: this.#loops,
      store,
      meter: this.#meter,
      nowMs: clock.nowMs(),
      startedAtMs: this.#startedAtMs,
      resumed: this.#resumed,
      // Of several processes the whole is told, and by who has all of it.
      modelDigest: this.#loops.team === undefined ? this.#parts.topics?.modelDigest : undefined,
      stoppedBy: this.#loops.tally.pending === 0 && !this.#isWatchEnded ? "" : this.#stoppedBy,
    });
  }

  /** Our own mistake, or a store that no longer answers: what is committed stays, the rest is cut off. */
  #fail(fault: unknown): void {
    if (this.#state === "done" || this.#state === "stopped") return;
    this.#state = "stopped";
    this.#loops.fetchLoop.pause();
    this.#loops.batch.abandon();
    this.#cutOff.abort();
    this.#loops.line.stop();
    this.#loops.ordering?.stop();
    this.#loops.team?.stop();
    this.#loops.replan.stop();
    this.#loops.rounds.stop();
    this.#loops.unreachable.stop();
    this.#cancelPatience?.();
    for (const cancel of this.#cancelTimers) cancel();
    this.#settle.reject(fault);
  }
}
