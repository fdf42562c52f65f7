/**
 * The life cycle of a crawl: starts the loops, pauses, drains and stops them.
 *
 * It moves no URL itself; ARCHITECTURE.md lists the functions through which a URL passes.
 */

import type { Calendar } from "../bandwidth/clock/calendar.ts";
import type { Quota } from "../bandwidth/clock/quota.ts";
import { unreachable } from "../base/assert.ts";
import { CrawlError, type ErrorCode } from "../base/errors.ts";
import { showDuration } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import type { Changing } from "../control/live-settings.ts";
import type { CrawlResult, CrawlState, Snapshot } from "../control/snapshot.ts";
import { rememberPagesUsedUp } from "../results/last-run.ts";
import type { Fingerprint } from "../url/fingerprint.ts";
import type { CrawlContext, CrawlParts } from "./context.ts";
import { resultOf, snapshotOf } from "./make-snapshot.ts";
import { couldNotBeReached } from "./unreachable.ts";
import { checkRecrawl, type LifeEvent, wire, type Wired } from "./wire.ts";

export interface CrawlHandle extends Changing {
  /** Resolves when the crawl has ended and everything is stored. */
  readonly done: Promise<CrawlResult>;
  snapshot(): Snapshot;
  /** What one process of several shares with the others. */
  readonly team: Wired["peer"];
  /** Whether no request is in progress and none can start. */
  readonly isIdle: boolean;
  /** Whether it has as many pages as the limit of pages allows. */
  readonly isSated: boolean;
  /** Only sites that cannot be reached are left, and the crawl has waited for them long enough. */
  readonly isOutOfPatience: boolean;
  /** A few figures, cheap enough for ten calls per second. */
  pulse(): Pulse;
  /** The least fingerprints of its pages, at the end: see `Store.leastPages`. Empty for a process that crawls alone. */
  readonly leastPages: readonly Fingerprint[];
  /** All processes are done: this one may end as soon as it is done. */
  finish(): void;
}

interface Pulse {
  readonly known: number;
  readonly pending: number;
  /** Sites that could not be reached when they were last probed. */
  readonly unreachable: number;
  /** Pages that count towards --pages. */
  readonly pages: number;
  /** Received since the start, by the meter of the link. */
  readonly receivedBytes: number;
  readonly waitingReaders: number;
  /** The rate that its deadlines need. */
  readonly neededBps: number;
}

/** Shortages that pause a crawl, and how they are shown. */
const LACKS: ReadonlyMap<ErrorCode, string> = new Map([
  ["DISK_FULL", "the disk is full"],
  ["DESCRIPTORS_USED_UP", "the limit of open files is reached"],
]);
/** How long requests in progress may take once the crawl stops. */
const GRACE_MS = 1500;
/** Least time between two checks whether the patience with unreachable sites is over. */
const PATIENCE_LOOK_MS = 1000;
/** Most time between two checks: a deadline may be set meanwhile. */
const PATIENCE_SLEEP_MS_MAX = 60_000;
/** Fingerprints by which the different pages of several processes are counted with an error of 3.1 %. */
const SAMPLED_PAGES = 1024;

export function startCrawl(parts: CrawlParts): CrawlHandle {
  const crawl = new Crawl(parts);
  crawl.start();
  return crawl;
}

/** Only a hook can refuse all seeds here: patterns that do so are refused with the settings. */
function noSeedAdmitted({ seeds }: CrawlParts): CrawlError {
  const first = seeds.slice(0, 3).map((seed) => visible(seed, 200));
  return new CrawlError("SEED_REFUSED", `onLink refused every seed: ${first.join(", ")}`);
}

class Crawl implements CrawlHandle {
  readonly done: Promise<CrawlResult>;
  readonly #parts: CrawlParts;
  readonly #wired: Wired;
  readonly #context: CrawlContext;
  readonly #startedAtMs: number;
  leastPages: readonly Fingerprint[] = [];
  readonly #holds = new Set<string>();
  readonly #settle: PromiseWithResolvers<CrawlResult>;
  readonly #cutOff = new AbortController();
  #state: CrawlState = "starting";
  #stoppedBy = "";
  #wasToldToStop = false;
  /** Why nothing can be stored now. */
  #trouble: CrawlError | undefined;
  /** Whether the crawl may end when it is done. One process of several waits for `finish`. */
  #mayFinish: boolean;
  #cancelTimers: (() => void)[] = [];
  #cancelPatience: (() => void) | undefined;

  constructor(parts: CrawlParts) {
    this.#parts = parts;
    this.#startedAtMs = parts.clock.nowMs();
    this.#mayFinish = parts.team === undefined;
    this.#settle = Promise.withResolvers();
    this.done = this.#settle.promise;
    this.#wired = wire(parts, this.#cutOff.signal, (event) => this.#on(event));
    this.#context = this.#wired.context;
  }

  #on(event: LifeEvent): void {
    switch (event.kind) {
      case "pause":
        return this.hold("the calendar allows nothing now", event.isPaused);
      case "quotaUsedUp":
        return this.stop(event.what, 0);
      case "storage":
        return this.#onTrouble(event.trouble);
      case "idle":
        return this.#onIdle();
      case "fault":
        return this.#fail(event.fault);
      default:
        return unreachable(event);
    }
  }

  start(): void {
    const { settings, clock } = this.#parts;
    this.#wired.peer?.start();
    if (settings.refresh && settings.strict && this.#wired.peer === undefined)
      try {
        checkRecrawl(this.#wired);
      } catch (refusal) {
        return this.#fail(refusal);
      }
    this.#wired.admission.admitSeeds();
    if (this.#isEmpty) return this.#fail(noSeedAdmitted(this.#parts));
    this.#wired.recrawls.start();
    this.#wired.queue.wakeSites();
    // Stored before the first request: a restart must know that it is one.
    this.#context.batch.commit();
    this.#state = "running";
    this.#wired.link.start();
    this.#wired.ordering?.start?.();
    try {
      this.#wired.replanner.start();
    } catch (refusal) {
      return this.#fail(refusal);
    }
    this.#wired.deadlines.begin();
    if (settings.timeMaxMs !== undefined)
      this.#cancelTimers.push(clock.after(settings.timeMaxMs, () => this.stop("time limit")));
    if (this.#holds.size === 0 && this.#state === "running") this.#wired.fetchLoop.run();
    if (this.#parts.team === undefined) this.#watchPatience();
  }

  /** Only for a process that crawls alone: one of several ends when all are out of patience. */
  #watchPatience(): void {
    const { clock } = this.#parts;
    const inMs = Math.max(PATIENCE_LOOK_MS, this.#wired.patience.endsAtMs - clock.nowMs());
    this.#cancelPatience = clock.after(Math.min(inMs, PATIENCE_SLEEP_MS_MAX), () => {
      if (this.isOutOfPatience) this.stop(couldNotBeReached(this.#wired.unreachable.sites().count));
      else if (this.#state === "running") this.#watchPatience();
    });
  }

  get isOutOfPatience(): boolean {
    const { recrawls, patience } = this.#wired;
    if (this.#state !== "running" || this.#holds.size > 0 || recrawls.goesOn) return false;
    return patience.isOver;
  }

  /** Several processes each know a part of the seeds, so that one of them may have none. */
  get #isEmpty(): boolean {
    return this.#parts.team === undefined && this.#context.counters.known === 0;
  }

  get team(): Wired["peer"] {
    return this.#wired.peer;
  }

  get isIdle(): boolean {
    const { requests, workbench, batch } = this.#context;
    const isQuiet = requests.isQuiet && this.#wired.siteSetup.underWay === 0;
    return isQuiet && batch.isEmpty && (workbench.entries === 0 || this.isSated);
  }

  get isSated(): boolean {
    return this.#context.counters.pagesCounted >= this.#context.requests.pagesMax;
  }

  pulse(): Pulse {
    const { counters, sites, meter } = this.#context;
    return {
      known: counters.known,
      pending: counters.pending,
      unreachable: sites.outages.size,
      pages: counters.pagesCounted,
      receivedBytes: meter.bytes,
      waitingReaders: this.#wired.controller.waiting,
      neededBps: this.#wired.replanner.neededBps,
    };
  }

  finish(): void {
    this.#mayFinish = true;
    if (this.isOutOfPatience) return this.stop(couldNotBeReached(this.#context.sites.outages.size));
    this.#onIdle();
  }

  snapshot(): Snapshot {
    return snapshotOf({
      wired: this.#wired,
      nowMs: this.#parts.clock.nowMs(),
      startedAtMs: this.#startedAtMs,
      ...this.#doing(),
    });
  }

  /** Its state, and the reason for a pause. */
  #doing(): { state: CrawlState; because: string } {
    const state = this.#state;
    if (state !== "running") return { state, because: "" };
    if (this.#holds.size > 0) return { state: "paused", because: [...this.#holds].join("; ") };
    if (this.#wired.patience.waits) return { state: "paused", because: this.#whatItWaitsFor() };
    const next = this.#context.counters.pending > 0 ? undefined : this.#wired.recrawls.next();
    if (next === undefined) return { state, because: "" };
    const because = `next recrawl of ${next.site} in ${showDuration(next.inMs)}`;
    return { state: "waiting", because };
  }

  #whatItWaitsFor(): string {
    const { patience, recrawls } = this.#wired;
    const what = `${couldNotBeReached(this.#context.sites.outages.size)}; trying again`;
    if (recrawls.goesOn || this.#parts.team !== undefined) return what;
    const leftMs = Math.max(0, patience.endsAtMs - this.#parts.clock.nowMs());
    return `${what}, --patience ends in ${showDuration(leftMs)}`;
  }

  /** `graceMs`: the time that downloads in progress have to end. */
  stop(why: string, graceMs = GRACE_MS): void {
    if (this.#state !== "running") return;
    this.#state = "stopping";
    this.#stoppedBy = why;
    this.#wasToldToStop = true;
    this.#wired.recrawls.stop();
    this.#wired.fetchLoop.pause();
    this.#cancelTimers.push(this.#parts.clock.after(graceMs, () => this.#cutOff.abort()));
    this.#onIdle();
  }

  hold(why: string, isHeld: boolean): void {
    const wasHeld = this.#holds.size > 0;
    if (isHeld) this.#holds.add(why);
    else this.#holds.delete(why);
    if (wasHeld && this.#holds.size === 0) this.#wired.patience.renew();
    if (this.#holds.size > 0) this.#wired.fetchLoop.pause();
    else if (this.#state === "running") this.#wired.fetchLoop.run();
  }

  setConnections(connectionsMax: number): void {
    this.#wired.fetchLoop.setConnectionsMax(connectionsMax);
  }

  setDelay(delayMs: number): void {
    this.#wired.siteSetup.setDelay(delayMs);
  }

  setPages(pagesMax: number): void {
    this.#context.requests.pagesMax = pagesMax;
    this.#wired.fetchLoop.pump();
  }

  setLimit(limitBps: number | undefined, wholeBps = limitBps): void {
    this.#wired.link.setLimit(limitBps, wholeBps);
    this.#wired.replanner.soon();
  }

  setCalendar(calendar: Calendar | undefined): void {
    this.#wired.link.setCalendar(calendar);
  }

  setSiteLimit(limitBps: number | undefined): void {
    this.#wired.link.setSiteLimit(limitBps);
  }

  setQuota(quota: Quota | undefined): void {
    this.#wired.link.setQuota(quota);
  }

  setDeadline(site: string, deadlineMs: number | undefined): void {
    this.#wired.deadlines.setDeadline(site, deadlineMs);
    this.#wired.replanner.changed();
  }

  setPriority(site: string, priority: number): void {
    this.#wired.deadlines.setPriority(site, priority);
    this.#wired.replanner.changed();
  }

  #onTrouble(trouble: CrawlError | undefined): void {
    // Every page that finds no room reports the same trouble.
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

  /** No request is in progress: wakes sites, or ends the crawl if no work is left or allowed. */
  #onIdle(): void {
    if (this.#state !== "running" && this.#state !== "stopping") return;
    if (!this.#context.requests.isQuiet || this.#wired.siteSetup.underWay > 0) return;
    const { counters, workbench } = this.#context;
    const isStopping = this.#state === "stopping";
    const isSated = this.isSated;
    // A sitemap that is queued can still list URLs.
    if (!isStopping && !isSated && (counters.pending > 0 || workbench.entries > 0)) {
      this.#wired.queue.wakeSites();
      this.#wired.peer?.onIdle();
      return;
    }
    if (!isStopping && this.#wired.recrawls.goesOn) return;
    const { peer } = this.#wired;
    // A process ends before the others only if they need nothing from it.
    const mayFinish = this.#mayFinish && (peer?.isQuiet ?? true);
    if (!isStopping && !mayFinish) return peer?.onIdle();
    peer?.close();
    if (isSated && counters.pending > 0 && !isStopping) {
      this.#stoppedBy = "pages limit";
      rememberPagesUsedUp(this.#parts.store, true);
    }
    // Ends in a tick of its own, because the caller may still have changes to make.
    this.#state = "stopping";
    this.#wired.fetchLoop.pause();
    this.#cancelTimers.push(this.#parts.clock.after(0, () => this.#finish()));
  }

  #finish(): void {
    if (this.#state !== "stopping" || !this.#context.requests.isQuiet) return;
    if (!this.#context.batch.commit()) {
      // A crawl that was stopped does not wait for room: what is not stored is requested again.
      if (this.#wasToldToStop) return this.#fail(this.#trouble);
      this.#cancelTimers.push(this.#parts.clock.after(GRACE_MS, () => this.#finish()));
      return;
    }
    const isOver = this.#context.counters.pending === 0 && !this.#isWatchEnded;
    this.#state = isOver ? "done" : "stopped";
    this.#stopParts();
    this.#close().then(
      (result) => this.#settle.resolve(result),
      (fault) => this.#settle.reject(fault),
    );
  }

  /** A crawl with --watch is never done: it was stopped, and the same command resumes it. */
  get #isWatchEnded(): boolean {
    return this.#parts.settings.watch && this.#wasToldToStop;
  }

  async #close(): Promise<CrawlResult> {
    const { output, store, clock } = this.#parts;
    await output?.sync();
    await store.sync();
    if (this.#wired.peer !== undefined) this.leastPages = store.leastPages(SAMPLED_PAGES);
    return resultOf({
      wired: this.#wired,
      nowMs: clock.nowMs(),
      startedAtMs: this.#startedAtMs,
      // With several processes the coordinator adds the topics of all.
      modelDigest: this.#wired.peer === undefined ? this.#parts.topics?.modelDigest : undefined,
      stoppedBy: this.#context.counters.pending === 0 && !this.#isWatchEnded ? "" : this.#stoppedBy,
    });
  }

  /** A bug, or a store that fails: committed data stays, everything in progress is cut off. */
  #fail(fault: unknown): void {
    if (this.#state === "done" || this.#state === "stopped") return;
    this.#state = "stopped";
    this.#wired.fetchLoop.pause();
    this.#context.batch.abandon();
    this.#cutOff.abort();
    this.#stopParts();
    this.#settle.reject(fault);
  }

  /** Stops everything that has a timer. */
  #stopParts(): void {
    const { link, limiter, ordering, peer, replanner, recrawls, unreachable } = this.#wired;
    for (const part of [link, limiter, ordering, peer, replanner, recrawls, unreachable])
      part?.stop?.();
    this.#cancelPatience?.();
    for (const cancel of this.#cancelTimers) cancel();
  }
}
