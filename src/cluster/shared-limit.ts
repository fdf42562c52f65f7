/**
 * The limit, calendar and quota that several processes share, and the bytes they received together.
 *
 * They hold for the sum, so the coordinator applies them; each process gets its part with its licence.
 */

import { type Calendar, limitAt } from "../bandwidth/clock/calendar.ts";
import { Almanac } from "../bandwidth/clock/day-kind.ts";
import { TimeZone } from "../bandwidth/clock/local-time.ts";
import { Meter } from "../bandwidth/history/meter.ts";
import { type Quota, QuotaBook, readUsage } from "../bandwidth/clock/quota.ts";
import type { Clock } from "../base/clock.ts";
import { publicHolidaysOf } from "../config/holidays.ts";
import type { Settings } from "../config/schema.ts";

export class SharedLimit {
  readonly meter: Meter;
  limitBps: number | undefined;
  calendar: Calendar | undefined;
  quota: Quota | undefined;
  readonly #clock: Clock;
  readonly #zone: TimeZone;
  readonly #almanac: Almanac;
  /** Bytes received by each process, from its last report. */
  readonly #bytesOf = new Map<string, { readonly life: string; readonly bytes: number }>();

  constructor(clock: Clock, settings: Settings) {
    this.#clock = clock;
    this.limitBps = settings.limitBps;
    this.calendar = settings.limitAt;
    this.quota = settings.quota;
    this.#zone = new TimeZone(settings.timeZone);
    const { holidays } = settings;
    const isHoliday = holidays === undefined ? undefined : publicHolidaysOf(holidays);
    this.#almanac = new Almanac(this.#zone, isHoliday);
    this.meter = new Meter(clock.nowMs());
  }

  /** The limit in force now; 0 when nothing may be fetched. */
  agreedBps(): number | undefined {
    if (this.calendar === undefined) return this.limitBps;
    return limitAt(this.calendar, this.#almanac.at(this.#clock.wallMs()), this.limitBps);
  }

  /** A process reports the bytes it has received in its life; a restarted one counts from 0. */
  received(name: string, life: string, bytes: number): void {
    const before = this.#bytesOf.get(name);
    this.#bytesOf.set(name, { life, bytes });
    // What it received before its first report here is known to an earlier leader only.
    const since = before === undefined ? bytes : before.life === life ? before.bytes : 0;
    if (bytes > since) this.meter.count(this.#clock.nowMs(), bytes - since);
  }

  /** The reason to stop when all processes together have used up the quota. */
  whyQuotaEnds(usages: readonly string[]): string | undefined {
    const { quota } = this;
    if (quota === undefined) return undefined;
    const wallMs = this.#clock.wallMs();
    const { date } = this.#zone.at(wallMs);
    let [dayBytes, monthBytes] = [0, 0];
    for (const text of usages) {
      const usage = readUsage(text);
      if (usage?.date === date) dayBytes += usage.dayBytes;
      if (usage?.date.slice(0, 7) === date.slice(0, 7)) monthBytes += usage.monthBytes;
    }
    const book = new QuotaBook(this.#zone, { date, dayBytes, monthBytes });
    if (book.roomBytes(wallMs, quota) > 0) return undefined;
    const { what, remedy } = book.usedUp(wallMs, quota);
    return `${what}. ${remedy}`;
  }
}

/** The settings of each process, without the limits that are shared out while it runs. */
export function withoutShared(settings: Settings): Settings {
  return {
    ...settings,
    limitBps: undefined,
    limitAt: undefined,
    quota: undefined,
    pagesMax: undefined,
    timeMaxMs: undefined,
  };
}
