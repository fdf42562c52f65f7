/**
 * The time of day and the date in a time zone, for calendars and quotas.
 *
 * Offsets of zones are whole quarters of an hour and change only at such, so the runtime's zone
 * tables are read once per quarter of an hour and the rest is arithmetic.
 *
 * Promise: the start of the next day or month is the first minute with another date there, also
 * where clocks change at midnight and that day has no 00:00.
 */

import { assert } from "../../base/assert.ts";

export interface LocalTime {
  /** 2026-03-29 */
  readonly date: string;
  /** 2026-03 */
  readonly month: string;
  /** 0 is Monday. */
  readonly weekday: number;
  readonly minuteOfDay: number;
}

const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const DAY_MS = 1440 * MINUTE_MS;
/** From any moment until these have passed the date, or the month, is another one. */
const SPAN_MINUTES = { date: 2 * 1440, month: 33 * 1440 } as const;

export class TimeZone {
  readonly #format: Intl.DateTimeFormat | undefined;
  #quarter = Number.NaN;
  #offsetMs = 0;

  /** Without a name, the machine's own zone. */
  constructor(name?: string) {
    const fields = { year: "numeric", month: "numeric", day: "numeric" } as const;
    const clock = { hour: "numeric", minute: "numeric", hourCycle: "h23" } as const;
    // Loading the zone tables takes some milliseconds; the machine's own zone is known without.
    if (name !== undefined)
      this.#format = new Intl.DateTimeFormat("en-US", { timeZone: name, ...fields, ...clock });
  }

  at(wallMs: number): LocalTime {
    const local = new Date(wallMs + this.#offsetAt(wallMs));
    const date = local.toISOString().slice(0, 10);
    return {
      date,
      month: date.slice(0, 7),
      weekday: (local.getUTCDay() + 6) % 7,
      minuteOfDay: local.getUTCHours() * 60 + local.getUTCMinutes(),
    };
  }

  /** The first moment of the next day or month. */
  nextStartMs(wallMs: number, unit: "date" | "month"): number {
    const current = this.at(wallMs)[unit];
    let known = Math.floor(wallMs / MINUTE_MS);
    let other = known + SPAN_MINUTES[unit];
    assert(this.at(other * MINUTE_MS)[unit] !== current, "no day and no month is that long");
    while (other - known > 1) {
      const middle = Math.floor((known + other) / 2);
      if (this.at(middle * MINUTE_MS)[unit] === current) known = middle;
      else other = middle;
    }
    return other * MINUTE_MS;
  }

  #offsetAt(wallMs: number): number {
    const quarter = Math.floor(wallMs / QUARTER_MS);
    if (quarter !== this.#quarter) {
      this.#offsetMs = this.#askedOffset(quarter * QUARTER_MS);
      this.#quarter = quarter;
    }
    return this.#offsetMs;
  }

  #askedOffset(wallMs: number): number {
    if (this.#format === undefined) return -new Date(wallMs).getTimezoneOffset() * MINUTE_MS;
    const part: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(wallMs)) part[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = part;
    const localMs = Date.UTC(year, month - 1, day, hour, minute);
    assert(Math.abs(localMs - wallMs) <= DAY_MS, "no zone is further than a day away");
    return localMs - wallMs;
  }
}
