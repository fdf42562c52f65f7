/**
 * The rate that the crawl may use now: the limit or its calendar, minus packet headers, minus what the good-neighbour
 * mode leaves to others; and the quota. The limit, those of single sites and the quota count bytes on the line, packet
 * headers included.
 *
 * Checked four times a second and at every change; the line's own counters are read forty times a second where no
 * other program uses the line.
 */

import { type Calendar, limitAt } from "../../bandwidth/clock/calendar.ts";
import type { Controller } from "../../bandwidth/controller.ts";
import { Almanac } from "../../bandwidth/clock/day-kind.ts";
import { FullThread } from "../../bandwidth/full-thread.ts";
import { LineRate } from "../../bandwidth/history/line-rate.ts";
import { TimeZone } from "../../bandwidth/clock/local-time.ts";
import { Neighbour } from "../../bandwidth/neighbour.ts";
import { type Quota, QuotaBook, readUsage } from "../../bandwidth/clock/quota.ts";
import { SpeedTable } from "../../bandwidth/history/speed-table.ts";
import { Widening, windowFor } from "../../bandwidth/window.ts";
import type { Settings } from "../../config/schema.ts";
import type { Traffic } from "../../fetch/transport.ts";
import type { CrawlContext, LinkSetup, Wire } from "../context.ts";

/** Time in milliseconds between two checks of the packet overhead, which changes fast while connections are made. */
const LOOK_EVERY_MS = 250;
/** Number of such checks after which everything else is checked. */
const LOOKS_A_SECOND = 4;
/** Time in milliseconds between two readings of the line's counters. */
const GAUGE_EVERY_MS = 25;
/** Weight of the last second in the mean rate of messages between processes. */
const EXCHANGE_GAIN = 0.5;
/** Share of the limit that is left for pages, however many messages processes exchange. */
const LEAST_SHARE = 0.1;
/** Largest payment for unexpected packet overhead at a time, in seconds at the limit. */
const BEYOND_SHARE_MAX = 0.1;
/** Changes of the limit below this share are not applied. */
const NOTABLE_SHARE = 0.002;

const CPU_BOUND = {
  thread: "CPU-bound: one thread cannot fill this limit; add processes with --procs",
  machine:
    "CPU-bound: other programs use this machine's processors, so the limit is not filled; stop them, or lower the limit",
};

/** A line without files and system counters, for crawls in memory and in the lab. */
export function plainLine(settings: Settings, wire: Pick<Wire, "setWindow">): LinkSetup {
  const zone = new TimeZone(settings.timeZone);
  return {
    wire: {
      setWindow: (bytes) => wire.setWindow(bytes),
      windowsHeld: true,
      overheadShare: () => 0,
      takeBeyond: () => 0,
      takeCarried: () => undefined,
      takeThread: () => ({ busyShare: 0, delayedShare: 0 }),
    },
    speeds: speedTableFor(settings),
    zone,
    almanac: new Almanac(zone),
  };
}

export function speedTableFor(settings: Settings): SpeedTable {
  const { speedGain, speedSpreadMinutes, serversMax } = settings;
  return new SpeedTable({ gain: speedGain, spreadMinutes: speedSpreadMinutes, serversMax });
}

export class LinkBudget {
  readonly #context: CrawlContext;
  readonly #controller: Controller;
  readonly #quotaBook: QuotaBook;
  readonly #neighbour: Neighbour | undefined;
  #limitBps: number | undefined;
  /** The limit of all processes together, as a multiple of this one's. */
  #timesShared = 1;
  #calendar: Calendar | undefined;
  #quota: Quota | undefined;
  #siteLimitBps: number | undefined;
  /** The lowest limit of a single site. */
  readonly #ownBps: number;
  /** The limit in force on the line; 0 pauses the crawl. */
  #inForceBps: number | undefined;
  /** The limit that the controller has. */
  #heldToBps: number | undefined;
  #overheadShare = 0;
  #windowBytes: number | undefined;
  readonly #widening = new Widening();
  #widened = 1;
  readonly #fullThread = new FullThread();
  readonly #lineRate = new LineRate();
  #hasWarned = false;
  /** Bytes received since the last check of the packet overhead. */
  #lookedBytes = 0;
  /** Bytes received since the last reading of the line's counters; and all bytes they counted, without headers. */
  #ungaugedBytes = 0;
  #gaugedBytes = 0;
  #isGauged = false;
  #cancelGauge: (() => void) | undefined;
  /** Bytes on the line that the quota has not counted yet; negative when it counted too many. */
  #uncountedBytes = 0;
  /** Bytes received from other processes since the last check, and their mean rate. */
  #exchangedBytes = 0;
  #exchangedBps = 0;
  #cancelTimer: (() => void) | undefined;
  #looks = 0;

  constructor(context: CrawlContext, controller: Controller) {
    this.#context = context;
    this.#controller = controller;
    const { settings, counters, clock, line } = context;
    const { limitBps, limitAt: calendar, quota, siteLimitBps, sites } = settings;
    this.#quotaBook = new QuotaBook(line.zone, readUsage(counters.usage()));
    counters.usage = () => this.#usage();
    this.#neighbour = settings.goodNeighbour ? new Neighbour(clock.nowMs()) : undefined;
    this.#limitBps = limitBps;
    this.#calendar = calendar;
    this.#quota = quota;
    this.#siteLimitBps = siteLimitBps;
    this.#ownBps = Math.min(Infinity, ...sites.map((site) => site.limitBps ?? Infinity));
  }

  get limitBps(): number | undefined {
    return this.#inForceBps;
  }

  /** The limit in force without packet headers. */
  get payloadBps(): number | undefined {
    return this.#inForceBps === undefined ? undefined : this.#heldToBps;
  }

  /** Seconds in which the limit was not filled because the processor was busy. */
  get secondsCpuBound(): number {
    return this.#fullThread.seconds;
  }

  /** The rate that a plan may assume: less where less was received lately while requests waited for bytes. */
  expectedBps(rateBps: number): number {
    return this.#lineRate.within(rateBps);
  }

  /** Whether the line itself, and not the limit, holds back everything that is under way. */
  get isLineFull(): boolean {
    const { payloadBps } = this;
    return payloadBps !== undefined && this.#lineRate.isFull(payloadBps);
  }

  get siteLimitBps(): number | undefined {
    return this.#siteLimitBps;
  }

  /** A site's own limit without packet headers. */
  sitePayloadBps(limitBps: number | undefined): number | undefined {
    return limitBps === undefined ? undefined : limitBps / (1 + this.#overheadShare);
  }

  start(): void {
    this.#look();
    this.#gauge();
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelGauge?.();
  }

  /** `wholeBps`: the limit that several processes share. */
  setLimit(limitBps: number | undefined, wholeBps = limitBps): void {
    this.#limitBps = limitBps;
    this.#timesShared = (wholeBps ?? 1) / (limitBps || wholeBps || 1);
    this.#calendar = undefined;
    this.#apply();
  }

  setCalendar(calendar: Calendar | undefined): void {
    this.#calendar = calendar;
    this.#apply();
  }

  setSiteLimit(siteLimitBps: number | undefined): void {
    this.#siteLimitBps = siteLimitBps;
    this.#apply();
  }

  setQuota(quota: Quota | undefined): void {
    this.#quota = quota;
    this.#judgeQuota();
  }

  received(bytes: number): void {
    const { clock, meter } = this.#context;
    const lineBytes = bytes * (1 + this.#overheadShare);
    meter.count(clock.nowMs(), lineBytes);
    this.#uncountedBytes += lineBytes;
    this.#lookedBytes += bytes;
    this.#ungaugedBytes += bytes;
    if (this.#quota !== undefined) this.#judgeQuota();
  }

  /** Counts bytes from another process on this line: they leave less for pages. */
  exchanged(bytes: number): void {
    const { ledger } = this.#context.counters;
    ledger.receive(undefined, bytes);
    ledger.book(undefined, bytes, "exchange");
    this.#exchangedBytes += bytes;
    this.received(bytes);
  }

  watch({ rttMs }: Traffic, address: string): void {
    if (rttMs !== undefined) this.#neighbour?.saw(this.#context.clock.nowMs(), address, rttMs);
  }

  #look(): void {
    const { clock, requests } = this.#context;
    if (this.#looks++ % LOOKS_A_SECOND === 0) this.#lookBack();
    const isWaiting = requests.sent > this.#controller.waiting;
    this.#lineRate.look(clock.nowMs(), this.#lookedBytes, isWaiting);
    this.#apply();
    this.#payBeyond();
    this.#cancelTimer = clock.after(LOOK_EVERY_MS, () => this.#look());
  }

  /** Corrects the controller's estimates by the line's counters, where no other program uses the line. */
  #gauge(): void {
    const { settings, line, clock, emit } = this.#context;
    this.#cancelGauge = clock.after(GAUGE_EVERY_MS, () => this.#gauge());
    // Several processes mostly share a line, and none can separate the others' bytes from its own.
    const isAlone = this.#timesShared <= 1;
    const mayRead = settings.packetOverhead === "auto" && isAlone && (this.#inForceBps ?? 0) > 0;
    if (!mayRead && !this.#isGauged) return;
    const bytes = mayRead
      ? line.wire.takeCarried(this.#ungaugedBytes, this.#inForceBps ?? 0)
      : undefined;
    this.#ungaugedBytes = 0;
    this.#isGauged = bytes !== undefined;
    this.#gaugedBytes += (bytes ?? 0) / (1 + this.#overheadShare);
    this.#controller.carried?.(clock.nowMs(), this.#isGauged ? this.#gaugedBytes : undefined);
    if (this.#isGauged) emit({ kind: "linkRead" });
  }

  /** A share of the limit is kept for packet headers; what exceeds it is paid for when it is counted. */
  #payBeyond(): void {
    const { settings, line, clock } = this.#context;
    const beyondBytes = line.wire.takeBeyond(this.#lookedBytes);
    this.#lookedBytes = 0;
    if (settings.packetOverhead === "auto") this.#uncountedBytes += beyondBytes;
    if (this.#isGauged || settings.packetOverhead !== "auto" || !this.#inForceBps) return;
    const mostBytes = BEYOND_SHARE_MAX * this.#inForceBps;
    const paidBytes = Math.max(-mostBytes, Math.min(mostBytes, beyondBytes));
    this.#controller.cameBeside?.(clock.nowMs(), paidBytes / (1 + this.#overheadShare));
  }

  /** Once a second, for the second that has passed. */
  #lookBack(): void {
    const { clock, meter, line, log } = this.#context;
    const nowMs = clock.nowMs();
    const thread = line.wire.takeThread();
    const share = (meter.recentBps(nowMs).at(-1) ?? 0) / (this.#inForceBps || Infinity);
    this.#widened = this.#widening.look({ isHungry: this.#controller.isHungry(nowMs), share });
    const cause = this.#inForceBps ? this.#fullThread.look({ ...thread, share }) : undefined;
    if (cause !== undefined) log.write({ level: "warn", message: CPU_BOUND[cause], values: {} });
    this.#exchangedBps += EXCHANGE_GAIN * (this.#exchangedBytes - this.#exchangedBps);
    this.#exchangedBytes = 0;
    this.#judgeQuota();
  }

  #apply(): void {
    const { clock, meter, emit } = this.#context;
    const nowMs = clock.nowMs();
    const limitBps = this.#agreedBps(nowMs);
    const pauses = (limitBps === 0) !== (this.#inForceBps === 0);
    const hasChanged = limitBps !== this.#inForceBps;
    this.#inForceBps = limitBps;
    meter.setLimit(nowMs, limitBps === 0 ? undefined : limitBps);
    // The size of windows decides how full packets are.
    if (limitBps !== 0) this.#setWindow(limitBps);
    this.#overheadShare = this.#overheadAt(nowMs);
    if (limitBps !== 0) this.#holdTo(nowMs, limitBps);
    const isHolding =
      limitBps !== undefined || this.#siteLimitBps !== undefined || this.#ownBps < Infinity;
    emit({ kind: "limitApplied", isHolding, hasChanged });
    // Last: requests that start again need the new limit and its windows.
    if (pauses) emit({ kind: "pause", isPaused: limitBps === 0 });
  }

  /** Only the control `paced` needs small windows. */
  #setWindow(limitBps: number | undefined): void {
    const { line, settings, log } = this.#context;
    // What windows hold adds up over all processes, so their common limit decides.
    const wholeBps = (limitBps ?? Infinity) * this.#timesShared;
    const leastBps = Math.min(wholeBps, this.#siteLimitBps ?? Infinity, this.#ownBps);
    const usualBytes = settings.control === "paced" ? windowFor(leastBps) : undefined;
    const windowBytes = usualBytes === undefined ? undefined : usualBytes * this.#widened;
    if (windowBytes === this.#windowBytes) return;
    this.#windowBytes = windowBytes;
    line.wire.setWindow(windowBytes);
    this.#controller.setWindow(windowBytes);
    if (windowBytes === undefined || line.wire.windowsHeld || this.#hasWarned) return;
    this.#hasWarned = true;
    const message =
      "this system cannot set the size of receive windows; fast servers may exceed the limit briefly";
    log.write({ level: "warn", message, values: {} });
  }

  #holdTo(nowMs: number, limitBps: number | undefined): void {
    const bps =
      limitBps === undefined
        ? undefined
        : Math.max(
            LEAST_SHARE * limitBps,
            limitBps / (1 + this.#overheadShare) - this.#exchangedBps,
          );
    const isLike =
      bps === this.#heldToBps ||
      (bps !== undefined &&
        this.#heldToBps !== undefined &&
        Math.abs(bps / this.#heldToBps - 1) < NOTABLE_SHARE);
    if (isLike) return;
    this.#heldToBps = bps;
    this.#controller.setLimit(nowMs, bps);
  }

  #agreedBps(nowMs: number): number | undefined {
    const { clock, line } = this.#context;
    const limitBps =
      this.#calendar === undefined
        ? this.#limitBps
        : limitAt(this.#calendar, line.almanac.at(clock.wallMs()), this.#limitBps);
    if (limitBps === undefined || this.#neighbour === undefined) return limitBps;
    return limitBps * this.#neighbour.share(nowMs);
  }

  #overheadAt(nowMs: number): number {
    const { settings, line } = this.#context;
    if (settings.packetOverhead !== "auto") return settings.packetOverhead;
    return line.wire.overheadShare(nowMs, this.#inForceBps);
  }

  #judgeQuota(): void {
    const { clock, emit } = this.#context;
    if (this.#quota === undefined) return;
    const wallMs = clock.wallMs();
    this.#count(wallMs);
    if (this.#quotaBook.roomBytes(wallMs, this.#quota) > 0) return;
    const { what, remedy } = this.#quotaBook.usedUp(wallMs, this.#quota);
    emit({ kind: "quotaUsedUp", what: `${what}. ${remedy}` });
  }

  /** Counted without a quota, too: one that is set later includes earlier bytes. */
  #usage(): string {
    const wallMs = this.#context.clock.wallMs();
    this.#count(wallMs);
    return JSON.stringify(this.#quotaBook.usage(wallMs));
  }

  #count(wallMs: number): void {
    const bytes = Math.max(0, Math.floor(this.#uncountedBytes));
    this.#quotaBook.charge(wallMs, bytes);
    this.#uncountedBytes -= bytes;
  }
}
