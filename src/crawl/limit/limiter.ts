/**
 * The gate of the line: carries every request and every byte past the controller of the limit.
 *
 * The controller decides and never waits; here its answers are kept: a request that may not begin is
 * asked about again, a reader that must wait is woken when its turn has come. One timer serves all.
 * What came is counted and booked here too, with a limit or without.
 */

import type { Candidate, Controller, Flow } from "../../bandwidth/controller.ts";
import type { Purpose } from "../../bandwidth/history/ledger.ts";
import { SizeGuess, type SizeGuessLimits } from "../../bandwidth/history/size-guess.ts";
import type { Moment, SpeedTable } from "../../bandwidth/history/speed-table.ts";
import type { Clock } from "../../base/clock.ts";
import type { Shares } from "../../plan/promise/fair-queue.ts";
import type { Arrival, OnBytes, Traffic } from "../../fetch/transport.ts";
import type { Search, Taken } from "../../frontier/workbench.ts";
import type { Reason } from "../../page/outcome.ts";
import type { HostShare } from "../../topics/host-share.ts";
import type { Job } from "../job.ts";
import { Readers } from "./paused-reads.ts";
import { type Roster, type Site, TRIED_PAGES } from "../sites.ts";
import type { Tally } from "../counters.ts";

/** How much the last answer counts for the time its server takes, when it was quicker or slower than usual. */
const QUICKER_SHARE = 0.5;
const SLOWER_SHARE = 0.05;
/** Weight of the last response in the mean time from a site's headers to its bodies, which is no delay of ours. */
const LAST_BODY_SHARE = 0.5;
/** Behind every score there is. */
const TOO_MUCH = 1e6;
/** A download that was held for longer than this part of its time came from a buffer at the end. */
const PAUSED_SHARE_MAX = 0.25;
const WARM_AFTER_MS = 1000;
/** What a request brought and took counts a little less with each that comes after it. */
const KEEP_SHARE = 0.95;
/** What is larger than this is slowed down while it is read, and need not be foreseen. */
const SIZES: SizeGuessLimits = { sitesMax: 10_000, bytesMax: 65_536 };

/**
 * Downloads that show their server's rate: documents, and those that were cut off after much of them had come.
 * Errors, redirects, "not modified" and robots.txt are small: they show its latency.
 */
const SHOW_RATE: ReadonlySet<Reason> = new Set([
  "ok",
  "body_too_large",
  "too_slow",
  "total_timeout",
]);

export interface SluiceParts {
  readonly clock: Clock;
  readonly tally: Tally;
  readonly roster: Roster;
  readonly controller: Controller;
  readonly speeds: SpeedTable;
  readonly moment: () => Moment;
  /** What one site may take, if anything holds it. */
  readonly siteLimitBps: (site: Site) => number | undefined;
  readonly searchDepthMax: number;
  /** Whether the best score goes first over all sites, and not only within each. */
  readonly ranksByScore: boolean;
  /** Notices sites that take too much: they go last. undefined where nobody minds. */
  readonly hostShare: HostShare | undefined;
  readonly shares: Shares;
  /** Told of all that came, for the meter, the quota and whoever watches the round trips. */
  readonly onBytes: (bytes: number) => void;
  readonly onTraffic: (traffic: Traffic, address: string) => void;
  /** How fast a server is has become known. */
  readonly onTried: () => void;
  /** Something may now begin that could not before. */
  readonly pump: () => void;
}

/** How well the order of the queue was kept. */
export interface OrderKept {
  readonly begun: number;
  /** Of each that began: how many it overtook. */
  readonly overtaken: number;
  readonly passedOverMaxMs: number;
}

export class Sluice {
  readonly #search: Search<Job>;
  readonly #rankedSearch: Search<Job>;
  readonly #scoredSearch: Search<Job>;
  readonly #parts: SluiceParts;
  readonly #sizes = new SizeGuess(SIZES);
  readonly #readers: Readers;
  #isHolding = false;
  #isPlanned = false;
  #cancelTimer: (() => void) | undefined;
  #timerAtMs = Infinity;
  #isOver = false;
  /** Some were let go on, and have not had the time to read yet. */
  #isReading = false;
  #beganAtMs: number | undefined;
  #isWarm = false;
  #begun = 0;
  #overtaken = 0;
  #passedOverMaxMs = 0;

  constructor(parts: SluiceParts) {
    this.#parts = parts;
    this.#readers = new Readers(parts.clock, parts.controller, () => this.goOn());
    this.#search = {
      depthMax: parts.searchDepthMax,
      fits: (job, to, passedOverMs) => this.#admits(job, to.siteId, passedOverMs),
      expectedBytes: (job, to) => this.#expectedBytes(parts.roster.byId(to.siteId), job),
    };
    this.#rankedSearch = {
      ...this.#search,
      rank: (job, to) => rankIn(job.errand?.kind, parts.shares.rankOf(to.siteId)),
    };
    this.#scoredSearch = {
      ...this.#search,
      rank: (job, to) => (job.errand === undefined ? this.#rankOf(job, to.siteId) : -Infinity),
    };
  }

  /** How to look for what may begin; undefined when anything may, in any order. */
  get search(): Search<Job> | undefined {
    if (this.#isPlanned) return this.#rankedSearch;
    if (this.#parts.ranksByScore || this.#parts.hostShare !== undefined) return this.#scoredSearch;
    return this.#isHolding ? this.#search : undefined;
  }

  /** Whether anything is held back at all; without it requests begin unasked. */
  get isHolding(): boolean {
    return this.#isHolding;
  }

  /** Whether nothing may begin now, whatever it is. */
  isShut(): boolean {
    const { clock, controller } = this.#parts;
    if (!this.#isHolding || controller.isShut?.(clock.nowMs()) !== true) return false;
    this.#arm();
    return true;
  }

  get orderKept(): OrderKept {
    return {
      begun: this.#begun,
      overtaken: this.#overtaken,
      passedOverMaxMs: this.#passedOverMaxMs,
    };
  }

  hold(isHolding: boolean): void {
    this.#isHolding = isHolding;
    this.wake();
  }

  /** Nothing comes any more: whoever still waits is not waited for. */
  stop(): void {
    this.#isOver = true;
    this.#cancelTimer?.();
  }

  /** There are shares now, or new ones: whoever waits is judged again. */
  share(): void {
    this.#isPlanned = true;
    this.#parts.controller.setOrder((siteId) => this.#parts.shares.rankOf(siteId));
    this.wake();
  }

  /** A limit has changed: whoever waits is judged again. */
  wake(): void {
    this.goOn();
    this.#parts.pump();
  }

  /** More may have come, or less, than was set aside for it: whoever waits to read is judged again. */
  goOn(): void {
    this.#release();
    this.#arm();
  }

  begin(site: Site, { entry, overtaken, passedOverMs }: Taken<Job>): Passage {
    this.#begun += 1;
    this.#overtaken += overtaken;
    this.#passedOverMaxMs = Math.max(this.#passedOverMaxMs, passedOverMs);
    if (entry.errand === undefined)
      this.#parts.hostShare?.count(site.key, this.#parts.clock.nowMs());
    const flow = this.#isHolding ? this.#enter(site, entry, passedOverMs) : undefined;
    const passage = new Passage(this, { site, job: entry, flow });
    if (this.#isPlanned) this.#charge(passage, this.#expectedBytes(site, entry));
    return passage;
  }

  came(passage: Passage, bytes: number, readOn: () => void, arrival: Arrival | undefined): boolean {
    const { clock, tally, roster, controller, onBytes } = this.#parts;
    onBytes(bytes);
    tally.ledger.receive(passage.site.books, bytes);
    // The next commit stores the sum, so it must store the site's part of it: a kill may come after.
    roster.changed(passage.site);
    if (passage.purpose !== undefined) this.book(passage.site, bytes, passage.purpose);
    passage.receivedBytes += bytes;
    if (this.#isPlanned && passage.receivedBytes > passage.chargedBytes)
      this.#charge(passage, passage.receivedBytes);
    // A limit that was set meanwhile holds for what is under way, too.
    if (this.#isHolding) passage.flow ??= this.#enter(passage.site, passage.job, 0);
    const { flow } = passage;
    if (flow === undefined) return true;
    if (controller.came(clock.nowMs(), flow, bytes, arrival?.isGreeting)) return true;
    this.#readers.add(flow, { readOn, arrival });
    this.#arm();
    return false;
  }

  /** Whether what servers give is being measured yet. */
  get isWarm(): boolean {
    return this.#isWarm;
  }

  announce(flow: Flow, bytes: number | undefined): void {
    const { clock, controller } = this.#parts;
    controller.announce(clock.nowMs(), flow, bytes);
    this.#arm();
  }

  book(site: Site, bytes: number, purpose: Purpose): void {
    this.#parts.tally.ledger.book(site.books, bytes, purpose);
  }

  end(passage: Passage, traffic: Traffic, reason: Reason): void {
    const { site, job, flow } = passage;
    const { clock, roster, controller, speeds, moment, onTraffic } = this.#parts;
    const { receivedBytes, totalMs, pausedMs, firstByteMs, bodyMs, connectMs } = traffic;
    const address = site.to?.address;
    if (receivedBytes > 0) {
      roster.changed(site);
      const waitMs = firstByteMs + connectMs;
      site.waitMs = site.waitMs === undefined ? waitMs : usualWait(site.waitMs, waitMs);
      site.bodyMs += LAST_BODY_SHARE * (bodyMs - site.bodyMs);
      if (this.search !== undefined)
        this.#sizes.learn(site.id, job.errand?.kind ?? "page", receivedBytes);
      const tookMs = totalMs - pausedMs;
      // A robots.txt is too small to tell how fast its server is.
      if (address !== undefined && tookMs > 0 && job.errand?.kind !== "robots") {
        // What waited for others on our side tells nothing of the server.
        const isOwnPace = pausedMs <= PAUSED_SHARE_MAX * totalMs && this.#warmUp();
        if (this.#isPlanned && isOwnPace && this.#parts.shares.isFree(site.id)) {
          site.answered += 1;
          if (SHOW_RATE.has(reason)) {
            site.gaveBytes = site.gaveBytes * KEEP_SHARE + receivedBytes;
            site.gaveMs = site.gaveMs * KEEP_SHARE + tookMs;
          }
          if (site.answered === TRIED_PAGES) this.#parts.onTried();
        }
        if (SHOW_RATE.has(reason) && job.errand === undefined) {
          speeds.learn(address, moment(), (receivedBytes * 1000) / tookMs, clock.wallMs());
          speeds.name(address, site.key);
        }
      }
    }
    if (address !== undefined) onTraffic(traffic, address);
    this.#charge(passage, passage.receivedBytes);
    if (this.#isPlanned && job.errand === undefined) this.#parts.shares.ended(site.id);
    if (flow === undefined) return;
    this.#readers.delete(flow);
    controller.end(clock.nowMs(), flow);
    this.goOn();
  }

  /** A program that has just begun is slow itself, and would take its servers for slow ones. */
  #warmUp(): boolean {
    if (this.#isWarm) return true;
    const nowMs = this.#parts.clock.nowMs();
    this.#beganAtMs ??= nowMs;
    this.#isWarm = nowMs - this.#beganAtMs >= WARM_AFTER_MS;
    if (this.#isWarm && this.#isPlanned) this.#parts.onTried();
    return this.#isWarm;
  }

  /** The lowest goes first. Who took too much goes on all the same when nobody else can. */
  #rankOf(job: Job, siteId: number): number {
    const { hostShare, roster, clock, ranksByScore } = this.#parts;
    const rank = ranksByScore ? -job.score : 0;
    const isOver = hostShare?.isOver(roster.byId(siteId).key, clock.nowMs()) === true;
    return isOver ? rank + TOO_MUCH : rank;
  }

  /** Counts a request against its site's share: what is expected, then what came. */
  #charge(passage: Passage, bytes: number): void {
    if (!this.#isPlanned) return;
    this.#parts.shares.charge(passage.site.id, bytes - passage.chargedBytes);
    passage.chargedBytes = bytes;
  }

  #admits(job: Job, siteId: number, passedOverMs: number): boolean | "not now" {
    const { clock, roster, controller, shares } = this.#parts;
    if (this.#isPlanned && job.errand === undefined && !shares.mayRun(siteId)) return "not now";
    if (!this.#isHolding) return true;
    const site = roster.byId(siteId);
    const nowMs = clock.nowMs();
    controller.setSiteLimit(nowMs, siteId, this.#parts.siteLimitBps(site));
    if (!controller.siteHasRoom(nowMs, siteId)) {
      this.#arm();
      return "not now";
    }
    const admitted = controller.admits(nowMs, this.#candidate(site, job, passedOverMs));
    if (!admitted) this.#arm();
    return admitted;
  }

  #enter(site: Site, job: Job, passedOverMs: number): Flow {
    const { clock, controller } = this.#parts;
    return controller.begin(clock.nowMs(), this.#candidate(site, job, passedOverMs));
  }

  #candidate(site: Site, job: Job, passedOverMs: number): Candidate {
    const { speeds, moment } = this.#parts;
    return {
      siteId: site.id,
      predictedBps: speeds.predictBps(site.to?.address ?? "", moment()),
      expectedBytes: this.#expectedBytes(site, job),
      expectedWaitMs: site.waitMs === undefined ? 0 : site.waitMs + site.bodyMs,
      passedOverMs,
    };
  }

  #expectedBytes(site: Site, job: Job): number {
    return this.#sizes.expectedBytes(site.id, job.errand?.kind ?? "page");
  }

  /**
   * Lets everybody read on whose turn has come, and then nobody until these have read: all that is earned while
   * the program is busy with something else would come at once.
   */
  #release(): void {
    const { clock, controller } = this.#parts;
    if (this.#isReading) return;
    for (;;) {
      const flow = controller.next(clock.nowMs());
      if (flow === undefined) break;
      this.#isReading = true;
      this.#readers.readOn(flow);
    }
    if (!this.#isReading) return;
    clock.soon(() => {
      this.#isReading = false;
      this.#arm();
    });
  }

  #arm(): void {
    const { clock, controller, pump } = this.#parts;
    const nowMs = clock.nowMs();
    const atMs = this.#isHolding || this.#readers.size > 0 ? controller.nextAtMs(nowMs) : Infinity;
    if (this.#isOver || atMs >= this.#timerAtMs) return;
    this.#cancelTimer?.();
    this.#timerAtMs = atMs;
    this.#cancelTimer = clock.after(Math.max(0, atMs - nowMs), () => {
      this.#timerAtMs = Infinity;
      this.#release();
      pump();
      this.#arm();
    });
  }
}

/** One request on its way, from its beginning to its end. */
export class Passage {
  readonly site: Site;
  readonly job: Job;
  /** As the controller knows it; undefined while nothing is held back. */
  flow: Flow | undefined;
  receivedBytes = 0;
  /** What its site's share was charged for it. */
  chargedBytes = 0;
  readonly onBytes: OnBytes;
  readonly onLength: ((bytes: number | undefined) => void) | undefined;
  readonly #sluice: Sluice;

  constructor(
    sluice: Sluice,
    {
      site,
      job,
      flow,
    }: { readonly site: Site; readonly job: Job; readonly flow: Flow | undefined },
  ) {
    this.#sluice = sluice;
    this.site = site;
    this.job = job;
    this.flow = flow;
    this.onBytes = (bytes, readOn, arrival) => sluice.came(this, bytes, readOn, arrival);
    this.onLength = flow === undefined ? undefined : (bytes) => sluice.announce(flow, bytes);
  }

  /** What its bytes are for, when that is known from the start. */
  get purpose(): Purpose | undefined {
    return this.job.errand?.kind;
  }

  end(traffic: Traffic, reason: Reason): void {
    this.#sluice.end(this, traffic, reason);
  }
}

/**
 * A robots.txt is small, and nothing can be planned for its site before it has come. Sitemaps are requests of their
 * site like its pages, and never come after sites with a part of the rate.
 */
function rankIn(errand: "robots" | "sitemap" | undefined, siteRank: number): number {
  if (errand === "robots") return -Infinity;
  return errand === undefined ? siteRank : Math.min(-1, siteRank);
}

/**
 * The time its server takes, without what answers wait for us: a busy program finds them late. So what is
 * quicker than usual counts more than what is slower.
 */
function usualWait(beforeMs: number, nowMs: number): number {
  return beforeMs + (nowMs < beforeMs ? QUICKER_SHARE : SLOWER_SHARE) * (nowMs - beforeMs);
}
