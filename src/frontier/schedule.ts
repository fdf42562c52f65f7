/**
 * When a site is crawled again: `every 1h`, counted from the start of a round to the start of the
 * next; or at a time of day, `daily 06:30`, `mon-fri 06:30`, `sat,sun 22:00`.
 *
 * The first round begins with the crawl, whatever the schedule says. A round that was missed, because
 * nobody was there or the one before took too long, begins as soon as it can, once.
 */

import { daysNamed } from "../bandwidth/calendar-text.ts";
import { DAY_MINUTES, DAY_NAMES } from "../bandwidth/calendar.ts";
import type { TimeZone } from "../bandwidth/local-time.ts";
import { readDurationMs } from "../base/units.ts";

export type Schedule =
  | { readonly kind: "every"; readonly text: string; readonly everyMs: number }
  | {
      readonly kind: "at";
      readonly text: string;
      /** 0 is Monday. */
      readonly days: readonly number[];
      readonly minuteOfDay: number;
    };

export interface ScheduleReading {
  readonly schedule: Schedule | undefined;
  /** What is wrong with the text, with what to write instead; empty when nothing is. */
  readonly mistake: string;
}

export const EVERY_MS_LEAST = 1000;
const EVERY_MS_MOST = 366 * 86_400_000;
const MINUTE_MS = 60_000;
const EXAMPLES = "write every 1h, daily 06:30 or mon-fri 06:30";

export function readSchedule(text: string): ScheduleReading {
  const words = text.trim().replaceAll(/\s+/g, " ");
  const every = /^every (.*)$/i.exec(words)?.[1];
  if (every !== undefined) return readEvery(words, every);
  const match = /^(.*?) ?(?:at )?(\d{1,2}):(\d{2})$/i.exec(words);
  if (match !== null) return readAt(words, match);
  return wrong(misread(words));
}

/** When the next round is due, on the wall clock, given when the last one began. */
export function nextDueMs(schedule: Schedule, startedAtMs: number, zone: TimeZone): number {
  if (schedule.kind === "every") return startedAtMs + schedule.everyMs;
  // A week and a day, for the same day may be over already.
  let dayMs = startedAtMs;
  for (let day = 0; day <= 7; day++) {
    const { weekday } = zone.at(dayMs);
    if (schedule.days.includes(weekday)) {
      const atMs = timeOfDayMs(dayMs, schedule.minuteOfDay, zone);
      if (atMs > startedAtMs) return atMs;
    }
    dayMs = zone.nextStartMs(dayMs, "date");
  }
  // The one time of the week falls into an hour that was skipped: the week after has it.
  return nextDueMs(schedule, dayMs, zone);
}

/** That minute of the day which `inDayMs` belongs to; where clocks were turned past it, as much later. */
function timeOfDayMs(inDayMs: number, minuteOfDay: number, zone: TimeZone): number {
  const { minuteOfDay: minuteNow } = zone.at(inDayMs);
  const nowMs = Math.floor(inDayMs / MINUTE_MS) * MINUTE_MS;
  const guessMs = nowMs + (minuteOfDay - minuteNow) * MINUTE_MS;
  const offByMinutes = zone.at(guessMs).minuteOfDay - minuteOfDay;
  if (offByMinutes === 0) return guessMs;
  // Clocks were turned in between; around midnight the difference goes around the day.
  const nearest = ((offByMinutes + DAY_MINUTES * 1.5) % DAY_MINUTES) - DAY_MINUTES / 2;
  const mendedMs = guessMs - nearest * MINUTE_MS;
  return zone.at(mendedMs).minuteOfDay === minuteOfDay ? mendedMs : guessMs;
}

function readEvery(text: string, amount: string): ScheduleReading {
  const everyMs = readDurationMs(amount);
  if (/^(second|minute|hour|day)$/i.test(amount))
    return wrong(`say how long: write every 1${amount.charAt(0).toLowerCase()}`);
  if (/^\d+(\.\d+)?$/.test(amount))
    return wrong(`needs a unit; write every ${amount}m or every ${amount}h`);
  if (everyMs === undefined) return wrong(`"${amount}" is no duration; ${EXAMPLES}`);
  if (everyMs < EVERY_MS_LEAST) return wrong("is too often: write every 1s or more");
  if (everyMs > EVERY_MS_MOST) return wrong("is longer than a year; leave the schedule out");
  return { schedule: { kind: "every", text, everyMs }, mistake: "" };
}

function readAt(text: string, match: RegExpExecArray): ScheduleReading {
  const [, when = "", hour = "", minute = ""] = match;
  const minuteOfDay = Number(hour) * 60 + Number(minute);
  if (Number(minute) > 59 || minuteOfDay >= DAY_MINUTES)
    return wrong(`${hour}:${minute} is no time of day; the last one is 23:59`);
  const names = when.split(/[\s,]+/).filter((name) => name !== "");
  const days = new Set<number>();
  for (const name of names.length === 0 ? ["daily"] : names) {
    const named = daysNamed(name);
    if (named === undefined || named.some((day) => day >= DAY_NAMES.length))
      return wrong(`"${name}" is no day of the week; write mon, mon-fri, weekend or daily`);
    for (const day of named) days.add(day);
  }
  const schedule = {
    kind: "at",
    text,
    days: [...days].toSorted((a, b) => a - b),
    minuteOfDay,
  } as const;
  return { schedule, mistake: "" };
}

function misread(words: string): string {
  if (words === "") return `is empty; ${EXAMPLES}`;
  if (readDurationMs(words) !== undefined) return `write every ${words}`;
  const days = words.split(/[\s,]+/).map(daysNamed);
  if (days.every((named) => named !== undefined)) return `says no time; write ${words} 06:30`;
  if (/^hourly$/i.test(words)) return "write every 1h";
  return `is no schedule; ${EXAMPLES}`;
}

function wrong(mistake: string): ScheduleReading {
  return { schedule: undefined, mistake };
}
