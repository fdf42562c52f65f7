/**
 * How much has come today and this month, and what a quota leaves of it.
 *
 * Day and month are counted whether or not there is a quota, so that one given in the middle of a
 * month knows what it already cost. They are those of a calendar, in a time zone.
 *
 * Promises, each held by a test in `quota.test.ts`:
 *   1. what is used falls only when the clock enters a later day, or month: one that is set back
 *      refills nothing, and one that was ahead and is put right delays nothing;
 *   2. what was stored as `usage` and read again counts as if it had never been away.
 *
 * O(1) a charge; the zone is asked once a day.
 */

import { assert } from "../../base/assert.ts";
import { showBytes } from "../../base/units.ts";
import type { LocalTime, TimeZone } from "./local-time.ts";

export interface Quota {
  readonly bytes: number;
  readonly per: "day" | "month";
}

/** What must be stored with every commit. */
export interface QuotaUsage {
  /** The day it speaks of, 2026-03-29; its month is that day's. */
  readonly date: string;
  readonly dayBytes: number;
  readonly monthBytes: number;
}

export class QuotaBook {
  readonly #zone: TimeZone;
  #date = "";
  #dayBytes = 0;
  #monthBytes = 0;
  /** While the time is between these it is still the same day. */
  #dayFromMs = Infinity;
  #dayToMs = -Infinity;

  constructor(zone: TimeZone, kept: QuotaUsage | undefined) {
    this.#zone = zone;
    if (kept === undefined) return;
    this.#date = kept.date;
    this.#dayBytes = kept.dayBytes;
    this.#monthBytes = kept.monthBytes;
  }

  charge(wallMs: number, bytes: number): void {
    assert(bytes >= 0, "bytes come, they do not go");
    this.#turn(wallMs);
    this.#dayBytes += bytes;
    this.#monthBytes += bytes;
  }

  /** What may still come; 0 when it is used up. */
  roomBytes(wallMs: number, quota: Quota): number {
    this.#turn(wallMs);
    const used = quota.per === "day" ? this.#dayBytes : this.#monthBytes;
    return Math.max(0, quota.bytes - used);
  }

  /** When the quota's day or month ends, and all of it is there again. */
  renewsAtMs(wallMs: number, { per }: Quota): number {
    return this.#zone.nextStartMs(wallMs, per === "day" ? "date" : "month");
  }

  usage(wallMs: number): QuotaUsage {
    this.#turn(wallMs);
    return { date: this.#date, dayBytes: this.#dayBytes, monthBytes: this.#monthBytes };
  }

  /** For people: that it is used up and until when, and what to write to go on before. */
  usedUp(wallMs: number, quota: Quota): { readonly what: string; readonly remedy: string } {
    const renewal = showTime(this.#zone.at(this.renewsAtMs(wallMs, quota)));
    const double = `${showBytes(2 * quota.bytes).replace(" ", "")}/${quota.per}`;
    return {
      what: `quota of ${showBytes(quota.bytes)} a ${quota.per} used up until ${renewal}`,
      remedy: `The same command resumes then; with --quota ${double}, or --quota none, at once`,
    };
  }

  #turn(wallMs: number): void {
    if (wallMs >= this.#dayFromMs && wallMs < this.#dayToMs) return;
    const { date, month } = this.#zone.at(wallMs);
    // Dates as text are in the order of time. An earlier one than before is a clock set back: what
    // was used now counts for that day, so that a clock once wrong by years does no lasting harm.
    if (date > this.#date) this.#dayBytes = 0;
    if (month > this.#date.slice(0, 7)) this.#monthBytes = 0;
    this.#date = date;
    this.#dayFromMs = wallMs;
    this.#dayToMs = this.#zone.nextStartMs(wallMs, "date");
  }
}

/** What `usage` gave, as the store kept it. */
export function readUsage(text: string): QuotaUsage | undefined {
  return text === "" ? undefined : (JSON.parse(text) as QuotaUsage);
}

function showTime({ date, minuteOfDay }: LocalTime): string {
  const hour = String(Math.floor(minuteOfDay / 60)).padStart(2, "0");
  const minute = String(minuteOfDay % 60).padStart(2, "0");
  return `${date} ${hour}:${minute}`;
}
