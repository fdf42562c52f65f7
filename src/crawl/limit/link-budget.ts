/**
 * What may be taken of the line at this moment: the limit or its calendar, less what packets add to
 * the bytes that programs see, less what good neighbours leave to others; and the quota. The limit, those
 * of single sites and the quota all count what the line carries, packets' headers included.
 *
 * Looked at four times a second, and at once when somebody changes it; the line's own counters forty times a second,
 * where they count for nobody else.
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

/** What packets add changes fast while connections are made; all else is looked at every fourth time. */
const LOOK_EVERY_MS = 250;
const LOOKS_A_SECOND = 4;
const GAUGE_EVERY_MS = 25;
/** How fast the mean of what processes send each other follows; and what pages get of a limit however much that is. */
const EXCHANGE_GAIN = 0.5;
const LEAST_SHARE = 0.1;
/** Of what packets add beyond what was expected, no more than this part of a second is paid for at a time. */
const BEYOND_SHARE_MAX = 0.1;
/** A change of the limit below this is not worth unsettling the accounts for. */
const NOTABLE_SHARE = 0.002;

const CPU_BOUND = {
  thread: "CPU-bound: one thread cannot fill this limit; add processes with --procs",
  machine:
    "CPU-bound: other programs use this machine's processors, so the limit is not filled; stop them, or lower the limit",
};

/** What there is of it without files and counters of the system: for crawls in memory and in the lab. */
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
  /** How many times as much all processes together may take. */
  #timesShared = 1;
  #calendar: Calendar | undefined;
  #quota: Quota | undefined;
  #siteLimitBps: number | undefined;
  /** The least of what single sites were limited to. */
  readonly #ownBps: number;
  /** In force now, on the wire; 0 for nothing at all. */
  #inForceBps: number | undefined;
  /** What the controller was told last. */
  #heldToBps: number | undefined;
  #overheadShare = 0;
  #windowBytes: number | undefined;
  readonly #widening = new Widening();
  #widened = 1;
  readonly #fullThread = new FullThread();
  readonly #lineRate = new LineRate();
  #hasWarned = false;
  /** Come since it was last looked at what packets add. */
  #lookedBytes = 0;
  /** Come since the line's counters were last read; and all that they told, as bytes that programs see. */
  #ungaugedBytes = 0;
  #gaugedBytes = 0;
  #isGauged = false;
  #cancelGauge: (() => void) | undefined;
  /** What the line carried since the quota's book was last told; negative when too much was told. */
  #uncountedBytes = 0;
  /** Come from other processes since the last look, and how much of it usually comes. */
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

  /** Of the limit in force, what is left for bytes that programs see. */
  get payloadBps(): number | undefined {
    return this.#inForceBps === undefined ? undefined : this.#heldToBps;
  }

  /** Seconds in which the limit was not filled for want of processor time. */
  get secondsCpuBound(): number {
    return this.#fullThread.seconds;
  }

  /** What a plan may count on of a rate: less where less was received lately while requests waited for bytes. */
  expectedBps(rateBps: number): number {
    return this.#lineRate.within(rateBps);
  }

  get siteLimitBps(): number | undefined {
    return this.#siteLimitBps;
  }

  /** Of a site's own limit, what is left for bytes that programs see. */
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

  /** `wholeBps` is what several processes share, of which this is a part. */
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

  /** Came from another process over this line: it is part of what may come, and leaves less for pages. */
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

  /** What the line has carried is known by its counters, where it is ours; what was believed is set right by them. */
  #gauge(): void {
    const { settings, line, clock, emit } = this.#context;
    this.#cancelGauge = clock.after(GAUGE_EVERY_MS, () => this.#gauge());
    // Several processes mostly share a line, and none could tell the others' bytes from its own.
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

  /** What packets add is held back by a share; what they have added beyond it is paid for as it is seen. */
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

  /** At the second that has passed. */
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
    // Last: what begins again goes by the new limit, and its windows are narrow.
    if (pauses) emit({ kind: "pause", isPaused: limitBps === 0 });
  }

  /** Only our own way of holding a limit rests on small windows; the others are as they were. */
  #setWindow(limitBps: number | undefined): void {
    const { line, settings, log } = this.#context;
    // What comes unasked adds up over all processes, so it is little or much by what they share.
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

  /** Counted with or without a quota: one that is given later knows what was used. */
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
