/**
 * Schedules of recrawls: `every 1h`, counted from the start of a round to the start of the
 * next; or at a time of day, `daily 06:30`, `mon-fri 06:30`, `sat,sun 22:00`.
 *
 * The first round begins with the crawl, with any schedule. A missed round, because the crawl was not
 * running or the previous round took too long, begins as soon as possible, once.
 */

import { daysNamed } from "../bandwidth/clock/calendar-text.ts";
import { DAY_MINUTES, DAY_NAMES } from "../bandwidth/clock/calendar.ts";
import type { TimeZone } from "../bandwidth/clock/local-time.ts";
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

interface ScheduleReading {
  readonly schedule: Schedule | undefined;
  /** The mistake in the text, with a valid alternative; empty if there is none. */
  readonly mistake: string;
}

const EVERY_MS_MIN = 1000;
const EVERY_MS_MAX = 366 * 86_400_000;
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

/** The wall-clock time when the next round is due, from the start of the last one. */
export function nextDueMs(schedule: Schedule, startedAtMs: number, zone: TimeZone): number {
  if (schedule.kind === "every") return startedAtMs + schedule.everyMs;
  // A week and a day, since today's time may have passed.
  let dayMs = startedAtMs;
  for (let day = 0; day <= 7; day++) {
    const { weekday } = zone.at(dayMs);
    if (schedule.days.includes(weekday)) {
      const atMs = timeOfDayMs(dayMs, schedule.minuteOfDay, zone);
      if (atMs > startedAtMs) return atMs;
    }
    dayMs = zone.nextStartMs(dayMs, "date");
  }
  // The only time of the week falls into a skipped hour: take the week after.
  return nextDueMs(schedule, dayMs, zone);
}

/** The minute of the day that contains `inDayMs`; shifted by the change if clocks skip it. */
function timeOfDayMs(inDayMs: number, minuteOfDay: number, zone: TimeZone): number {
  const { minuteOfDay: minuteNow } = zone.at(inDayMs);
  const nowMs = Math.floor(inDayMs / MINUTE_MS) * MINUTE_MS;
  const guessMs = nowMs + (minuteOfDay - minuteNow) * MINUTE_MS;
  const offByMinutes = zone.at(guessMs).minuteOfDay - minuteOfDay;
  if (offByMinutes === 0) return guessMs;
  // Clocks changed in between; around midnight the difference wraps around the day.
  const nearest = ((offByMinutes + DAY_MINUTES * 1.5) % DAY_MINUTES) - DAY_MINUTES / 2;
  const correctedMs = guessMs - nearest * MINUTE_MS;
  return zone.at(correctedMs).minuteOfDay === minuteOfDay ? correctedMs : guessMs;
}

function readEvery(text: string, amount: string): ScheduleReading {
  const everyMs = readDurationMs(amount);
  if (/^(second|minute|hour|day)$/i.test(amount))
    return wrong(`has no number: write every 1${amount.charAt(0).toLowerCase()}`);
  if (/^\d+(\.\d+)?$/.test(amount))
    return wrong(`needs a unit; write every ${amount}m or every ${amount}h`);
  if (everyMs === undefined) return wrong(`"${amount}" is not a duration; ${EXAMPLES}`);
  if (everyMs < EVERY_MS_MIN) return wrong("is too often: write every 1s or more");
  if (everyMs > EVERY_MS_MAX) return wrong("is longer than a year; leave the schedule out");
  return { schedule: { kind: "every", text, everyMs }, mistake: "" };
}

function readAt(text: string, match: RegExpExecArray): ScheduleReading {
  const [, when = "", hour = "", minute = ""] = match;
  const minuteOfDay = Number(hour) * 60 + Number(minute);
  if (Number(minute) > 59 || minuteOfDay >= DAY_MINUTES)
    return wrong(`${hour}:${minute} is not a time of day; the last one is 23:59`);
  const names = when.split(/[\s,]+/).filter((name) => name !== "");
  const days = new Set<number>();
  for (const name of names.length === 0 ? ["daily"] : names) {
    const named = daysNamed(name);
    if (named === undefined || named.some((day) => day >= DAY_NAMES.length))
      return wrong(`"${name}" is not a day of the week; write mon, mon-fri, weekend or daily`);
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
  if (days.every((named) => named !== undefined)) return `has no time; write ${words} 06:30`;
  if (/^hourly$/i.test(words)) return "write every 1h";
  return `is not a schedule; ${EXAMPLES}`;
}

function wrong(mistake: string): ScheduleReading {
  return { schedule: undefined, mistake };
}
