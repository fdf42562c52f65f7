/**
 * What a moment is for people: the day, the minute of it, and whether they work then.
 *
 * Saturdays and Sundays are holidays, and so are the days that a calendar of public holidays names;
 * which calendar is asked is the caller's matter. The answer is made once a minute and then handed
 * out again, because a busy crawl asks for it with every download.
 */

import type { TimeZone } from "./local-time.ts";
import type { Moment } from "../history/speed-table.ts";

export interface DayMoment extends Moment {
  /** 2026-03-29 */
  readonly date: string;
  /** 0 is Monday. */
  readonly weekday: number;
}

const MINUTE_MS = 60_000;
const SATURDAY = 5;

export class Almanac {
  readonly #zone: TimeZone;
  readonly #isPublicHoliday: (date: string) => boolean;
  #minute = Number.NaN;
  #moment: DayMoment | undefined;

  /** `isPublicHoliday` is asked with dates such as 2026-03-29. */
  constructor(zone: TimeZone, isPublicHoliday: (date: string) => boolean = () => false) {
    this.#zone = zone;
    this.#isPublicHoliday = isPublicHoliday;
  }

  at(wallMs: number): DayMoment {
    // No zone is off by a part of a minute.
    const minute = Math.floor(wallMs / MINUTE_MS);
    if (this.#moment === undefined || minute !== this.#minute) {
      this.#moment = this.#momentAt(wallMs);
      this.#minute = minute;
    }
    return this.#moment;
  }

  #momentAt(wallMs: number): DayMoment {
    const { date, weekday, minuteOfDay } = this.#zone.at(wallMs);
    // Within a day the kind does not change, and the calendar need not be asked again.
    const kind =
      date === this.#moment?.date
        ? this.#moment.kind
        : weekday >= SATURDAY || this.#isPublicHoliday(date)
          ? "holiday"
          : "working";
    return { date, weekday, minuteOfDay, kind };
  }
}
