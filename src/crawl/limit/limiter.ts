/**
 * Passes every request and every received byte to the controller of the limit.
 *
 * The controller decides and never waits. Here a refused request is asked about again, and a paused reader is resumed
 * in its turn, all with one timer. Received bytes are counted here, with a limit or without.
 */

import type { Candidate, Controller, Flow } from "../../bandwidth/controller.ts";
import { SizeGuess, type SizeGuessLimits } from "../../bandwidth/history/size-guess.ts";
import type { Moment } from "../../bandwidth/history/speed-table.ts";
import { Governor } from "../../bandwidth/paced/governor.ts";
import { Admission as AdmissionControl } from "../../bandwidth/papers/admission.ts";
import { OnOff } from "../../bandwidth/papers/on-off.ts";
import { unreachable } from "../../base/assert.ts";
import type { Settings, SiteSettings } from "../../config/schema.ts";
import type { Traffic } from "../../fetch/transport.ts";
import type { Search, Taken } from "../../frontier/workbench.ts";
import type { Reason } from "../../page/outcome.ts";
import type { Shares } from "../../plan/promise/fair-queue.ts";
import { HostShare } from "../../topics/host-share.ts";
import type { CrawlContext } from "../context.ts";
import { settingsBySite } from "../allotments.ts";
import type { QueuedRequest, RateLimit, Request, SiteFile } from "../requests.ts";
import { type Site, TRIED_PAGES } from "../site.ts";
import type { LinkBudget } from "./link-budget.ts";
import { PageSlices } from "./page-slices.ts";
import { PausedReads, type Reader } from "./paused-reads.ts";

/** Weight of a response that was quicker than usual in the mean wait for its server. */
const QUICKER_SHARE = 0.5;
/** Weight of a slower response: its delay may be ours. */
const SLOWER_SHARE = 0.05;
/** Weight of the last response in the mean time from a site's headers to its bodies, which is no delay of ours. */
const LAST_BODY_SHARE = 0.5;
/** Larger than any score. */
const TOO_MUCH = 1e6;
/** A download that was paused for a larger share of its time was read from buffers, and shows no speed. */
const PAUSED_SHARE_MAX = 0.25;
/** Time in milliseconds after which servers' speeds are measured: a program that has just started is slow itself. */
const WARM_AFTER_MS = 1000;
/** Time in milliseconds after which the line may have room again: the interval of the checks in `link-budget.ts`. */
const LOOK_AGAIN_MS = 250;
/** Share of the weight of earlier requests that remains after each request. */
const KEEP_SHARE = 0.95;
/** Larger responses are slowed down while they are read, so their size need not be predicted. */
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

interface LimiterParts {
  readonly controller: Controller;
  readonly link: LinkBudget;
  readonly shares: Shares;
}

/** How well requests kept the order of the queue. */
interface OrderKept {
  readonly begun: number;
  /** Sum over all requests of the number of requests that each overtook. */
  readonly overtaken: number;
  readonly passedOverMaxMs: number;
}

export class Limiter implements RateLimit {
  readonly #context: CrawlContext;
  readonly #parts: LimiterParts;
  readonly #search: Search<QueuedRequest>;
  readonly #rankedSearch: Search<QueuedRequest>;
  readonly #scoredSearch: Search<QueuedRequest>;
  readonly #sizes = new SizeGuess(SIZES);
  readonly #readers: PausedReads;
  readonly #slices: PageSlices;
  readonly #ownLimitsBps: ReadonlyMap<string, SiteSettings>;
  /** Finds sites with more than their share: they go last. undefined without such a share. */
  readonly #hostShare: HostShare | undefined;
  /** Whether the best score goes first over all sites, and not only within each. */
  readonly #ranksByScore: boolean;
  #isHolding = false;
  #isPlanned = false;
  #cancelTimer: (() => void) | undefined;
  #timerAtMs = Infinity;
  #isOver = false;
  #isLooking = false;
  /** Readers were resumed and have not read yet. */
  #isReading = false;
  #beganAtMs: number | undefined;
  #isWarm = false;
  #begun = 0;
  #overtaken = 0;
  #passedOverMaxMs = 0;

  constructor(context: CrawlContext, parts: LimiterParts) {
    this.#context = context;
    this.#parts = parts;
    const { clock, settings, hooks, sites } = context;
    this.#readers = new PausedReads(clock, parts.controller, () => this.goOn());
    this.#slices = new PageSlices(clock);
    this.#ownLimitsBps = settingsBySite(settings.sites);
    const { hostShareMax } = settings;
    this.#hostShare = hostShareMax === undefined ? undefined : new HostShare(hostShareMax);
    this.#ranksByScore = settings.order === "topic" && hooks.score === undefined;
    this.#search = {
      depthMax: settings.searchDepthMax,
      fits: (request, to, passedOverMs) => this.#admits(request, to.siteId, passedOverMs),
      expectedBytes: (request, to) => this.#expectedBytes(sites.byId(to.siteId), request.file),
    };
    this.#rankedSearch = {
      ...this.#search,
      rank: ({ file }, to) => rankIn(file?.kind, parts.shares.rankOf(to.siteId)),
    };
    this.#scoredSearch = {
      ...this.#search,
      rank: (request, to) =>
        request.file === undefined ? this.#rankOf(request, to.siteId) : -Infinity,
    };
  }

  /** How to search for the next request; undefined when any may start, in any order. */
  get search(): Search<QueuedRequest> | undefined {
    if (this.#isPlanned) return this.#rankedSearch;
    if (this.#ranksByScore || this.#hostShare !== undefined) return this.#scoredSearch;
    return this.#isHolding ? this.#search : undefined;
  }

  /** Whether a limit applies; without one, all requests may start. */
  get isHolding(): boolean {
    return this.#isHolding;
  }

  /** Whether no request may start now. */
  isShut(): boolean {
    const { clock } = this.#context;
    if (!this.#isHolding || this.#parts.controller.isShut?.(clock.nowMs()) !== true) return false;
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

  /** Called after each check of the limit in force. */
  apply(isHolding: boolean, hasChanged: boolean): void {
    const switches = isHolding !== this.#isHolding;
    this.#isHolding = isHolding;
    if (switches || hasChanged) this.#wake();
  }

  /** The crawl ends: paused readers are not resumed. */
  stop(): void {
    this.#isOver = true;
    this.#cancelTimer?.();
  }

  /** The plan has new shares: waiting requests are checked again. */
  share(): void {
    this.#isPlanned = true;
    this.#parts.controller.setOrder((siteId) => this.#parts.shares.rankOf(siteId));
    this.#wake();
  }

  nextSlice(): Promise<void> {
    return this.#slices.next();
  }

  /** A limit has changed: waiting requests are checked again. */
  #wake(): void {
    this.goOn();
    this.#context.emit({ kind: "mayStart" });
  }

  /** More or less may have arrived than was paid for: paused readers are checked again. */
  goOn(): void {
    this.#release();
    this.#arm();
  }

  begin(request: Request, { entry, overtaken, passedOverMs }: Taken<QueuedRequest>): void {
    const { site, file } = request;
    this.#begun += 1;
    this.#overtaken += overtaken;
    this.#passedOverMaxMs = Math.max(this.#passedOverMaxMs, passedOverMs);
    if (file === undefined) this.#hostShare?.count(site.key, this.#context.clock.nowMs());
    if (this.#isHolding) request.flow = this.#enter(request, passedOverMs);
    const { flow } = request;
    request.onBytes = (bytes, readOn, arrival) =>
      this.#received(request, bytes, { readOn, arrival });
    request.onLength = flow === undefined ? undefined : (bytes) => this.#announce(flow, bytes);
    if (this.#isPlanned) this.#charge(request, this.#expectedBytes(site, entry.file));
  }

  #received(request: Request, bytes: number, reader: Reader): boolean {
    const { clock, counters, sites } = this.#context;
    const { controller, link } = this.#parts;
    const { site, purpose } = request;
    link.received(bytes);
    counters.ledger.receive(site.books, bytes);
    // The next commit stores the sum, so it must store the site's part of it: a kill may come after.
    sites.changed(site);
    if (purpose !== undefined) counters.ledger.book(site.books, bytes, purpose);
    request.receivedBytes += bytes;
    if (this.#isPlanned && request.receivedBytes > request.chargedBytes)
      this.#charge(request, request.receivedBytes);
    // A limit that was set meanwhile applies to running downloads, too.
    if (this.#isHolding) request.flow ??= this.#enter(request, 0);
    const { flow } = request;
    if (flow === undefined) return true;
    if (controller.came(clock.nowMs(), flow, bytes, reader.arrival?.isGreeting)) return true;
    this.#readers.add(flow, reader);
    this.#arm();
    return false;
  }

  /** Whether servers' speeds are measured yet. */
  get isWarm(): boolean {
    return this.#isWarm;
  }

  #announce(flow: Flow, bytes: number | undefined): void {
    this.#parts.controller.announce(this.#context.clock.nowMs(), flow, bytes);
    this.#arm();
  }

  end(request: Request, traffic: Traffic, reason: Reason): void {
    const { site, file, flow } = request;
    const { clock, sites, emit } = this.#context;
    const { controller, link, shares } = this.#parts;
    const { speeds } = this.#context.line;
    const { receivedBytes, totalMs, pausedMs, firstByteMs, bodyMs, connectMs } = traffic;
    const address = site.to?.address;
    if (receivedBytes > 0) {
      sites.changed(site);
      const waitMs = firstByteMs + connectMs;
      site.measured({
        waitMs: site.waitMs === undefined ? waitMs : usualWait(site.waitMs, waitMs),
        bodyMs: site.bodyMs + LAST_BODY_SHARE * (bodyMs - site.bodyMs),
      });
      if (this.search !== undefined)
        this.#sizes.learn(site.id, file?.kind ?? "page", receivedBytes);
      const tookMs = totalMs - pausedMs;
      // A robots.txt is too small to show the speed of its server.
      if (address !== undefined && tookMs > 0 && file?.kind !== "robots") {
        // Our own pauses say nothing about the server.
        const isOwnPace = pausedMs <= PAUSED_SHARE_MAX * totalMs && this.#warmUp();
        if (this.#isPlanned && isOwnPace && shares.isFree(site.id)) {
          site.measured({ answered: site.answered + 1 });
          if (SHOW_RATE.has(reason))
            site.measured({
              gaveBytes: site.gaveBytes * KEEP_SHARE + receivedBytes,
              gaveMs: site.gaveMs * KEEP_SHARE + tookMs,
            });
          if (site.answered === TRIED_PAGES) emit({ kind: "serverTried" });
        }
        if (SHOW_RATE.has(reason) && file === undefined) {
          speeds.learn(address, this.#moment(), (receivedBytes * 1000) / tookMs, clock.wallMs());
          speeds.name(address, site.key);
        }
      }
    }
    if (address !== undefined) link.watch(traffic, address);
    this.#charge(request, request.receivedBytes);
    if (this.#isPlanned && file === undefined) shares.ended(site.id);
    if (flow === undefined) return;
    this.#readers.delete(flow);
    controller.end(clock.nowMs(), flow);
    this.goOn();
  }

  /** Whether the program has run for long enough to measure servers. */
  #warmUp(): boolean {
    if (this.#isWarm) return true;
    const nowMs = this.#context.clock.nowMs();
    this.#beganAtMs ??= nowMs;
    this.#isWarm = nowMs - this.#beganAtMs >= WARM_AFTER_MS;
    if (this.#isWarm && this.#isPlanned) this.#context.emit({ kind: "serverTried" });
    return this.#isWarm;
  }

  /** The lowest goes first. A site with more than its share continues when no other can. */
  #rankOf({ score }: QueuedRequest, siteId: number): number {
    const { sites, clock } = this.#context;
    const rank = this.#ranksByScore ? -score : 0;
    const isOver = this.#hostShare?.isOver(sites.byId(siteId).key, clock.nowMs()) === true;
    return isOver ? rank + TOO_MUCH : rank;
  }

  /** Counts a request against its site's share: the expected bytes, then the received ones. */
  #charge(request: Request, bytes: number): void {
    if (!this.#isPlanned) return;
    this.#parts.shares.charge(request.site.id, bytes - request.chargedBytes);
    request.chargedBytes = bytes;
  }

  #admits({ file }: QueuedRequest, siteId: number, passedOverMs: number): boolean | "not now" {
    const { clock, sites } = this.#context;
    const { controller, link, shares } = this.#parts;
    if (this.#isPlanned && file === undefined) {
      // Below the limit no download waits for another, so the plan's order holds only for new requests.
      const mustWait = link.isLineFull && !shares.hasRate(siteId);
      if (mustWait) this.#lookAgain();
      if (mustWait || !shares.mayRun(siteId)) return "not now";
    }
    if (!this.#isHolding) return true;
    const site = sites.byId(siteId);
    const nowMs = clock.nowMs();
    controller.setSiteLimit(nowMs, siteId, this.#siteLimitBps(site));
    if (!controller.siteHasRoom(nowMs, siteId)) {
      this.#arm();
      return "not now";
    }
    const admitted = controller.admits(nowMs, this.#candidate(site, file, passedOverMs));
    if (!admitted) this.#arm();
    return admitted;
  }

  /** The line may have room for others by then, without any other event. */
  #lookAgain(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#context.clock.after(LOOK_AGAIN_MS, () => {
      this.#isLooking = false;
      this.#context.emit({ kind: "mayStart" });
    });
  }

  /** The limit of one site; undefined for none. */
  #siteLimitBps({ key }: Site): number | undefined {
    const { link } = this.#parts;
    return link.sitePayloadBps(this.#ownLimitsBps.get(key)?.limitBps ?? link.siteLimitBps);
  }

  #enter({ site, file }: Request, passedOverMs: number): Flow {
    const nowMs = this.#context.clock.nowMs();
    return this.#parts.controller.begin(nowMs, this.#candidate(site, file, passedOverMs));
  }

  #candidate(site: Site, file: SiteFile | undefined, passedOverMs: number): Candidate {
    const { speeds } = this.#context.line;
    return {
      siteId: site.id,
      predictedBps: speeds.predictBps(site.to?.address ?? "", this.#moment()),
      expectedBytes: this.#expectedBytes(site, file),
      expectedWaitMs: site.waitMs === undefined ? 0 : site.waitMs + site.bodyMs,
      passedOverMs,
    };
  }

  #expectedBytes(site: Site, file: SiteFile | undefined): number {
    return this.#sizes.expectedBytes(site.id, file?.kind ?? "page");
  }

  #moment(): Moment {
    return this.#context.line.almanac.at(this.#context.clock.wallMs());
  }

  /**
   * Resumes all readers whose turn has come, and no other until these have read: what is earned while the program is
   * busy would arrive at once.
   */
  #release(): void {
    const { clock } = this.#context;
    const { controller } = this.#parts;
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
    const { clock, emit } = this.#context;
    const { controller } = this.#parts;
    const nowMs = clock.nowMs();
    const atMs = this.#isHolding || this.#readers.size > 0 ? controller.nextAtMs(nowMs) : Infinity;
    if (this.#isOver || atMs >= this.#timerAtMs) return;
    this.#cancelTimer?.();
    this.#timerAtMs = atMs;
    this.#cancelTimer = clock.after(Math.max(0, atMs - nowMs), () => {
      this.#timerAtMs = Infinity;
      this.#release();
      emit({ kind: "mayStart" });
      this.#arm();
    });
  }
}

/** The controller of the configured kind. */
export function controllerFor(settings: Settings, nowMs: number): Controller {
  switch (settings.control) {
    case "paced":
      return new Governor(nowMs, undefined, settings.waitMaxMs);
    case "predict":
      return new AdmissionControl(undefined, settings.waitMaxMs);
    case "onoff":
      return new OnOff(nowMs, undefined);
    default:
      return unreachable(settings.control);
  }
}

/**
 * A robots.txt is small, and its site cannot be planned without it. Sitemaps rank like the pages of their site, and
 * before sites with a part of the rate.
 */
function rankIn(file: SiteFile["kind"] | undefined, siteRank: number): number {
  if (file === "robots") return -Infinity;
  return file === undefined ? siteRank : Math.min(-1, siteRank);
}

/**
 * The time that a server takes. A busy program reads responses late, so quicker responses count more than slower ones.
 */
function usualWait(beforeMs: number, nowMs: number): number {
  return beforeMs + (nowMs < beforeMs ? QUICKER_SHARE : SLOWER_SHARE) * (nowMs - beforeMs);
}
