/**
 * What every server gives, by hour and kind of day: B(ip, h, w) of Diligenti et al. 2004.
 *
 * 48 values a server: hours 0 to 23 of a working day and of a holiday. A download that ended at
 * minute t moves every hour of today's kind towards the rate M it had,
 *   B(ip,h,w) ← (1 − α)·B(ip,h,w) + α·M,   α = k·exp(−y²/σ²),   y = t − 60h.
 * Errata: the paper prints exp(+y²/σ²), which would let the farthest hour learn most; and y must go
 * around the clock, since 23:30 is 30 minutes from hour 0. So hour h stands for the time around h:00,
 * and a prediction reads the hour that is nearest.
 *
 * What the paper leaves open, and what is done here:
 *   - An hour is measured when a download ended within `spreadMinutes` of it. The others hold the mean
 *     of the measured hours of their kind of day and are marked as not measured. They would otherwise
 *     keep their first value: α is 10⁻¹⁶ across the clock. An hour's first measurement moves it from
 *     that mean; the server's very first measurement is the start of all its values.
 *   - A kind of day that was never measured is as the other kind.
 *   - A server never measured is as the others: the geometric mean over all that are known for this
 *     hour and kind of day, with one imagined server at `priorBps`, so that the first few weigh little.
 *   - At `serversMax` a hand goes around and takes from every server a credit, of which each measurement
 *     gave one, up to 15 (GCLOCK, Smith 1978). The first it finds without is forgotten: measured
 *     seldom, and not lately.
 *
 * Promises, each held by a test:
 *   1. every value lies between the least and the greatest rate measured at its server;
 *   2. the same distance before and after an hour, over midnight too, moves it alike;
 *   3. never more than `serversMax` servers, and the one just measured is among them.
 *
 * O(1) a measurement: 72 steps, forgetting included on average; some 333 bytes a server with its
 * address.
 */

import { assert } from "../../base/assert.ts";
import { copied, Scatter, type Strayed } from "./scatter.ts";

export type DayKind = "working" | "holiday";

export interface Moment {
  /** Whole minutes since midnight. */
  readonly minuteOfDay: number;
  readonly kind: DayKind;
}

/** All that is known of a server, to be kept between crawls. */
export interface ServerRow {
  readonly address: string;
  /** Some of the sites that were met there. */
  readonly sites: readonly string[];
  /** When it was last measured, on the wall clock. */
  readonly lastAtMs: number;
  readonly workingCount: number;
  readonly holidayCount: number;
  /** Bit h is set when hour h of a working day was measured. */
  readonly workingHours: number;
  /** The same for a holiday. */
  readonly holidayHours: number;
  /**
   * 24 hours of a working day, then 24 of a holiday. A kind of day with a count of 0 has no values of
   * its own yet. From the table it is a view, not a copy.
   */
  readonly bps: Float32Array;
  /** How far it strayed from its predictions; undefined before the first stretch of downloads. */
  readonly scatter: Strayed | undefined;
}

interface SpeedTableOptions {
  /** k: how far a measurement on the hour moves the estimate of that hour. */
  readonly gain: number;
  /** σ: how far around a measurement the clock learns from it. */
  readonly spreadMinutes: number;
  readonly serversMax: number;
  /** What a server is taken to give while nothing at all is known. */
  readonly priorBps?: number;
}

const HOURS = 24;
const VALUES = 2 * HOURS;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 1440;
const CREDITS_MAX = 15;
const SITES_MAX = 3;
const NO_SITES: readonly string[] = [];
const SERVERS_AT_FIRST = 64;
/** Less than this changes no estimate by a byte. */
const ALPHA_MIN = 1e-6;
/** Keeps a logarithm finite; nothing useful is slower. */
const BPS_MIN = 1;
const PRIOR_BPS = 100_000;

export class SpeedTable {
  readonly #serversMax: number;
  /** A download measures the hours that are no farther from its end than this. */
  readonly #nearMinutes: number;
  /** α by the minutes between a measurement and an hour. */
  readonly #alpha: Float64Array;
  readonly #slots = new Map<string, number>();
  readonly #addresses: string[] = [];
  readonly #sites: (readonly string[])[] = [];
  readonly #prior: Prior;
  readonly #scatter = new Scatter(SERVERS_AT_FIRST);
  #bps = new Float32Array(SERVERS_AT_FIRST * VALUES);
  /** Measurements on working days and on holidays, in turn. */
  #counts = new Uint32Array(SERVERS_AT_FIRST * 2);
  /** The measured hours of working days and of holidays, in turn: bit h for hour h. */
  #hours = new Uint32Array(SERVERS_AT_FIRST * 2);
  #credits = new Uint8Array(SERVERS_AT_FIRST);
  #lastAtMs = new Float64Array(SERVERS_AT_FIRST);
  #changedAt = new Float64Array(SERVERS_AT_FIRST);
  #hand = 0;
  #revision = 0;

  constructor(options: SpeedTableOptions) {
    assert(options.gain > 0 && options.gain <= 1, "a gain moves towards, not beyond");
    assert(options.spreadMinutes > 0, "a spread is more than nothing");
    assert(options.serversMax >= 1, "there is room for a server");
    this.#serversMax = options.serversMax;
    // At least the nearest hour, which is the one that a prediction reads.
    this.#nearMinutes = Math.max(HOUR_MINUTES / 2, options.spreadMinutes);
    this.#alpha = alphaByMinutes(options.gain, options.spreadMinutes);
    this.#prior = new Prior(options.priorBps ?? PRIOR_BPS);
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Counts up with every measurement; `rows` tells what has changed after one. */
  get revision(): number {
    return this.#revision;
  }

  known(address: string): boolean {
    return this.#slots.has(address);
  }

  /** How often the server was measured. */
  measured(address: string): number {
    const slot = this.#slots.get(address);
    if (slot === undefined) return 0;
    return (this.#counts[2 * slot] as number) + (this.#counts[2 * slot + 1] as number);
  }

  predictBps(address: string, moment: Moment): number {
    const hour = hourOf(moment);
    const kind = kindIndex(moment.kind);
    const slot = this.#slots.get(address);
    if (slot === undefined) return this.#prior.bps(hour, kind);
    const measured = this.#counts[2 * slot + kind] === 0 ? 1 - kind : kind;
    return this.#bps[slot * VALUES + measured * HOURS + hour] as number;
  }

  /** Takes in the rate of a download that has just ended, its waiting for the first byte included. */
  learn(address: string, moment: Moment, measuredBps: number, nowMs: number): void {
    // As exact as the table, so that no estimate ends beyond it by rounding.
    const rate = Math.fround(Math.max(BPS_MIN, measuredBps));
    assert(Number.isFinite(rate) && measuredBps >= 0, "a rate is a number of bytes a second");
    const kind = kindIndex(moment.kind);
    const slot = this.#slots.get(address) ?? this.#hold(address);
    this.#begin(slot, kind, rate);
    this.#scatter.learn(slot, {
      predictedBps: this.#bps[slot * VALUES + kind * HOURS + hourOf(moment)] as number,
      measuredBps: rate,
      nowMs,
      countBefore: this.#count(slot, 0) + this.#count(slot, 1),
    });
    this.#move(slot, kind, moment.minuteOfDay, rate);
    this.#counts[2 * slot + kind] = Math.min(2 ** 32 - 1, this.#count(slot, kind) + 1);
    this.#credits[slot] = Math.min(CREDITS_MAX, (this.#credits[slot] as number) + 1);
    this.#lastAtMs[slot] = Math.max(nowMs, this.#lastAtMs[slot] as number);
    this.#changedAt[slot] = ++this.#revision;
  }

  /** Remembers a few of the sites that a server serves, for showing. */
  name(address: string, site: string): void {
    const slot = this.#slots.get(address);
    const sites = slot === undefined ? undefined : this.#sites[slot];
    if (slot === undefined || sites === undefined || sites.length >= SITES_MAX) return;
    if (!sites.includes(site)) this.#sites[slot] = [...sites, site];
  }

  /** The servers measured after a revision; all of them by default. */
  *rows(afterRevision = -1): Generator<ServerRow> {
    for (let slot = 0; slot < this.#slots.size; slot++) {
      if ((this.#changedAt[slot] as number) <= afterRevision) continue;
      yield {
        address: this.#addresses[slot] as string,
        sites: this.#sites[slot] as readonly string[],
        lastAtMs: this.#lastAtMs[slot] as number,
        workingCount: this.#count(slot, 0),
        holidayCount: this.#count(slot, 1),
        workingHours: this.#hours[2 * slot] as number,
        holidayHours: this.#hours[2 * slot + 1] as number,
        bps: this.#bps.subarray(slot * VALUES, (slot + 1) * VALUES),
        scatter: this.#scatter.at(slot),
      };
    }
  }

  /** Takes rows of an earlier crawl; what has been measured here is not replaced. */
  restore(rows: Iterable<ServerRow>): void {
    for (const row of rows) {
      assert(row.bps.length === VALUES, "a server has a value for every hour and kind of day");
      const { address, sites, workingCount, holidayCount, workingHours, holidayHours } = row;
      if (this.#slots.has(address) || workingCount + holidayCount === 0) continue;
      const slot = this.#hold(address);
      this.#bps.set(row.bps, slot * VALUES);
      this.#counts[2 * slot] = workingCount;
      this.#counts[2 * slot + 1] = holidayCount;
      this.#hours[2 * slot] = workingHours;
      this.#hours[2 * slot + 1] = holidayHours;
      this.#credits[slot] = Math.min(CREDITS_MAX, workingCount + holidayCount);
      this.#lastAtMs[slot] = row.lastAtMs;
      this.#sites[slot] = sites.length > SITES_MAX ? sites.slice(0, SITES_MAX) : sites;
      this.#scatter.set(slot, row.scatter);
      this.#countInPrior(slot, 1);
    }
  }

  #count(slot: number, kind: number): number {
    return this.#counts[2 * slot + kind] as number;
  }

  /** Adds a server to the mean of all, or takes it out. */
  #countInPrior(slot: number, sign: 1 | -1): void {
    if (this.#count(slot, 0) > 0) this.#prior.count(this.#bps, slot * VALUES, 0, sign);
    if (this.#count(slot, 1) > 0) this.#prior.count(this.#bps, slot * VALUES + HOURS, 1, sign);
  }

  /** Gives a kind of day its first values: the other kind's, or else the first measurement. */
  #begin(slot: number, kind: number, rate: number): void {
    if (this.#count(slot, kind) > 0) return;
    const day = slot * VALUES + kind * HOURS;
    const otherDay = slot * VALUES + (1 - kind) * HOURS;
    if (this.#count(slot, 1 - kind) > 0) this.#bps.copyWithin(day, otherDay, otherDay + HOURS);
    else this.#bps.fill(rate, day, day + HOURS);
    this.#prior.count(this.#bps, day, kind, 1);
  }

  #move(slot: number, kind: number, minuteOfDay: number, rate: number): void {
    assert(minuteOfDay >= 0 && minuteOfDay < DAY_MINUTES, "a minute of the day");
    const bps = this.#bps;
    const first = slot * VALUES + kind * HOURS;
    let hours = this.#hours[2 * slot + kind] as number;
    for (let hour = 0; hour < HOURS; hour++) {
      const apart = Math.abs((minuteOfDay | 0) - 60 * hour);
      const minutes = Math.min(apart, DAY_MINUTES - apart);
      if (minutes <= this.#nearMinutes) hours |= 1 << hour;
      const alpha = this.#alpha[minutes] as number;
      const before = bps[first + hour] as number;
      if (alpha === 0 || before === rate) continue;
      bps[first + hour] = before + alpha * (rate - before);
      this.#prior.shift(hour, kind, before, bps[first + hour] as number);
    }
    this.#hours[2 * slot + kind] = hours;
    this.#level(first, kind, hours);
  }

  /** Gives the hours that were never measured the mean of those that were. */
  #level(first: number, kind: number, hours: number): void {
    const bps = this.#bps;
    let sumBps = 0;
    let measured = 0;
    for (let hour = 0; hour < HOURS; hour++) {
      if (!isMeasured(hours, hour)) continue;
      sumBps += bps[first + hour] as number;
      measured += 1;
    }
    const meanBps = Math.fround(sumBps / measured);
    for (let hour = 0; hour < HOURS; hour++) {
      const before = bps[first + hour] as number;
      if (isMeasured(hours, hour) || before === meanBps) continue;
      bps[first + hour] = meanBps;
      this.#prior.shift(hour, kind, before, meanBps);
    }
  }

  /** A slot for a server not met before, all zero; the least useful one makes room. */
  #hold(address: string): number {
    const slot = this.#slots.size < this.#serversMax ? this.#slots.size : this.#forgetOne();
    if (slot === this.#credits.length) this.#grow();
    this.#slots.set(address, slot);
    this.#addresses[slot] = address;
    this.#sites[slot] = NO_SITES;
    return slot;
  }

  /** Every step but the last uses up a credit that one measurement gave, so steps are few on average. */
  #forgetOne(): number {
    for (;;) {
      const slot = this.#hand;
      this.#hand = (slot + 1) % this.#serversMax;
      const credits = this.#credits[slot] as number;
      if (credits === 0) return this.#forget(slot);
      this.#credits[slot] = credits - 1;
    }
  }

  #forget(slot: number): number {
    this.#countInPrior(slot, -1);
    this.#slots.delete(this.#addresses[slot] as string);
    this.#bps.fill(0, slot * VALUES, (slot + 1) * VALUES);
    this.#counts.fill(0, 2 * slot, 2 * slot + 2);
    this.#hours.fill(0, 2 * slot, 2 * slot + 2);
    this.#lastAtMs[slot] = 0;
    this.#changedAt[slot] = 0;
    this.#scatter.set(slot, undefined);
    return slot;
  }

  #grow(): void {
    const servers = Math.min(this.#serversMax, 2 * this.#credits.length);
    this.#bps = copied(new Float32Array(servers * VALUES), this.#bps);
    this.#counts = copied(new Uint32Array(servers * 2), this.#counts);
    this.#hours = copied(new Uint32Array(servers * 2), this.#hours);
    this.#credits = copied(new Uint8Array(servers), this.#credits);
    this.#lastAtMs = copied(new Float64Array(servers), this.#lastAtMs);
    this.#changedAt = copied(new Float64Array(servers), this.#changedAt);
    this.#scatter.grow(servers);
  }
}

/**
 * The geometric mean over servers for every hour and kind of day, kept by sums of logarithms: one
 * server ten times as fast weighs no more than one ten times as slow.
 */
class Prior {
  readonly #logSums: Float64Array;
  readonly #servers = [1, 1];

  constructor(priorBps: number) {
    assert(priorBps >= BPS_MIN, "a server gives something");
    this.#logSums = new Float64Array(VALUES).fill(Math.log(priorBps));
  }

  bps(hour: number, kind: number): number {
    // Only the imagined server: the other kind of day knows as much or more.
    const from = this.#servers[kind] === 1 ? 1 - kind : kind;
    const logSum = this.#logSums[from * HOURS + hour] as number;
    return Math.exp(logSum / (this.#servers[from] as number));
  }

  shift(hour: number, kind: number, before: number, after: number): void {
    const at = kind * HOURS + hour;
    this.#logSums[at] = (this.#logSums[at] as number) + Math.log(after / before);
  }

  /** Adds the 24 hours that begin at `first`, or takes them out. */
  count(values: Float32Array, first: number, kind: number, sign: 1 | -1): void {
    this.#servers[kind] = (this.#servers[kind] as number) + sign;
    let bps = 1;
    let log = 0;
    for (let hour = 0; hour < HOURS; hour++) {
      // Far from any measurement all hours are alike, and a logarithm costs more than a look.
      if (values[first + hour] !== bps) log = Math.log((bps = values[first + hour] as number));
      const at = kind * HOURS + hour;
      this.#logSums[at] = (this.#logSums[at] as number) + sign * log;
    }
  }
}

function alphaByMinutes(gain: number, spreadMinutes: number): Float64Array {
  return Float64Array.from({ length: DAY_MINUTES / 2 + 1 }, (_, apart) => {
    const alpha = gain * Math.exp(-(apart ** 2) / spreadMinutes ** 2);
    return alpha < ALPHA_MIN ? 0 : alpha;
  });
}

/** Whether the bit of an hour is set among the measured hours of a kind of day. */
export function isMeasured(hours: number, hour: number): boolean {
  return ((hours >>> hour) & 1) === 1;
}

/** The measured hours of a kind of day as numbers. */
export function measuredHours(hours: number): number[] {
  return Array.from({ length: HOURS }, (_, hour) => hour).filter((hour) => isMeasured(hours, hour));
}

function kindIndex(kind: DayKind): 0 | 1 {
  return kind === "working" ? 0 : 1;
}

/** The hour that is nearest. */
function hourOf({ minuteOfDay }: Moment): number {
  return Math.round(minuteOfDay / 60) % HOURS;
}
