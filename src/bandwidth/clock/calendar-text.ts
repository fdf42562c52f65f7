/**
 * Reads a calendar of limits: `mon-fri 08:00-18:00=1MB/s,else=8MB/s`.
 *
 * Each rule is days and times, both of which may be left out, then `=` and a rate, `none` or `pause`.
 * Rules are separated by `,` or `;`, and so may be several days or times of one rule. A time that
 * ends before it begins goes on into the next day. Days: mon … sun, mon-fri, daily, weekdays, weekend, holiday.
 *
 * All mistakes are found in one reading. Holes are none here, because another setting may fill them.
 */

import {
  type Calendar,
  DAY_MINUTES,
  DAY_NAMES,
  showDays,
  showSpan,
  type Stretch,
} from "./calendar.ts";
import { limitMistake, readLimitBps } from "./limit-text.ts";

const TEXT_LENGTH_MAX = 2_000;
const HOLIDAY = DAY_NAMES.length;
const DAY_GROUPS: Readonly<Record<string, readonly number[]>> = {
  daily: [0, 1, 2, 3, 4, 5, 6],
  weekdays: [0, 1, 2, 3, 4],
  weekend: [5, 6],
  holiday: [HOLIDAY],
  holidays: [HOLIDAY],
};
const DAYS_KNOWN = "mon, tue, wed, thu, fri, sat, sun, mon-fri, daily, weekdays, weekend, holiday";

interface Limit {
  readonly limitBps: number | undefined;
}

interface Span {
  readonly fromMinute: number;
  readonly toMinute: number;
}

/** A stretch and the words it came from, to name it when it is in another's way. */
interface Claim extends Stretch {
  readonly words: string;
}

interface CalendarReading {
  readonly calendar: Calendar | undefined;
  readonly mistakes: readonly string[];
}

export function readCalendar(text: string): CalendarReading {
  if (text.trim() === "")
    return {
      calendar: undefined,
      mistakes: ["is empty; write it as mon-fri 08:00-18:00=1MB/s,else=8MB/s"],
    };
  if (text.length > TEXT_LENGTH_MAX)
    return { calendar: undefined, mistakes: [`is longer than ${TEXT_LENGTH_MAX} letters`] };
  return new Reading(text).result();
}

class Reading {
  readonly #text: string;
  readonly #mistakes: string[] = [];
  readonly #claims: Claim[][] = Array.from({ length: HOLIDAY + 1 }, () => []);
  /** Pairs of rules that are in each other's way are named once, not for every day. */
  readonly #quarrels = new Set<string>();
  #speaksOfHolidays = false;
  #otherwise: Limit | undefined;

  constructor(text: string) {
    this.#text = text;
    for (const rule of this.#rulesOf(text)) this.#take(rule);
    this.#findEndless();
  }

  result(): CalendarReading {
    if (this.#mistakes.length > 0) return { calendar: undefined, mistakes: this.#mistakes };
    const days = this.#claims.map((claims) => claims.map(withoutWords).toSorted(byTime));
    const calendar: Calendar = {
      text: this.#text.trim(),
      days: days.slice(0, HOLIDAY),
      holiday: this.#speaksOfHolidays ? days[HOLIDAY] : undefined,
      otherwise: this.#otherwise,
    };
    return { calendar, mistakes: [] };
  }

  /** A piece without `=` belongs to the rule that the next one ends: `sat,sun=2MB/s`. */
  *#rulesOf(text: string): Generator<{ readonly when: string; readonly rate: string }> {
    for (const sentence of text.split(/[;\n]/)) {
      let begun: string[] = [];
      for (const piece of sentence.split(",").map((one) => one.trim())) {
        if (piece === "") continue;
        const equals = piece.indexOf("=");
        if (equals < 0) begun.push(piece);
        else {
          const when = [...begun, piece.slice(0, equals).trim()].join(",");
          yield { when, rate: piece.slice(equals + 1).trim() };
          begun = [];
        }
      }
      const rest = begun.join(",");
      if (rest !== "") this.#mistakes.push(`"${rest}" says no rate; write ${rest}=2MB/s`);
    }
  }

  #take({ when, rate }: { readonly when: string; readonly rate: string }): void {
    const limit = this.#limit(when, rate);
    if (when.toLowerCase() === "else") {
      if (this.#otherwise !== undefined) this.#mistakes.push("else is said twice");
      this.#otherwise = limit;
      return;
    }
    if (when === "") this.#mistakes.push(`"=${rate}" says not when; write daily=${rate}`);
    const words = when
      .replaceAll(/\s*[-–]\s*/g, "-")
      .split(/[\s,]+/)
      .filter((word) => word !== "");
    const days = words.filter((word) => !/^\d/.test(word)).flatMap((word) => this.#days(word));
    const times = words.filter((word) => /^\d/.test(word));
    const spans = times.map((word) => this.#span(word)).filter((span) => span !== undefined);
    const onDays = words.length > times.length ? days : (DAY_GROUPS["daily"] ?? []);
    const inSpans = times.length > 0 ? spans : [{ fromMinute: 0, toMinute: DAY_MINUTES }];
    for (const day of onDays) {
      for (const span of inSpans) this.#lay(day, span, { ...limit, words: when });
    }
  }

  #limit(when: string, rate: string): Limit {
    if (/^(none|unlimited)$/i.test(rate)) return { limitBps: undefined };
    if (/^(pause|0+(\s*([kmgt]i?)?(b|bit)\/s)?)$/i.test(rate)) return { limitBps: 0 };
    const limitBps = readLimitBps(rate);
    if (limitBps === undefined) this.#mistakes.push(`in "${when}=${rate}": ${limitMistake(rate)}`);
    return { limitBps };
  }

  #days(word: string): readonly number[] {
    const days = daysNamed(word);
    if (days === undefined) this.#mistakes.push(`"${word}" is no day; the days are ${DAYS_KNOWN}`);
    return days ?? [];
  }

  #span(word: string): Span | undefined {
    const match = /^(\d{1,2})(?::(\d{2}))?-(\d{1,2})(?::(\d{2}))?$/.exec(word);
    if (match === null) {
      this.#mistakes.push(`"${word}" is no time of day; write it as 08:00-18:00`);
      return undefined;
    }
    const [, fromHour, fromRest, toHour, toRest] = match;
    const fromMinute = this.#minute(word, fromHour, fromRest);
    const toMinute = this.#minute(word, toHour, toRest);
    if (fromMinute === undefined || toMinute === undefined) return undefined;
    if (fromMinute !== toMinute && fromMinute < DAY_MINUTES) return { fromMinute, toMinute };
    this.#mistakes.push(`"${word}" is no time at all; write 00:00-24:00 for the whole day`);
    return undefined;
  }

  #minute(word: string, hour = "", rest = "00"): number | undefined {
    const minute = Number(hour) * 60 + Number(rest);
    if (minute <= DAY_MINUTES && Number(rest) < 60) return minute;
    this.#mistakes.push(`"${word}": ${hour}:${rest} is no time of day; the last one is 24:00`);
    return undefined;
  }

  #lay(day: number, { fromMinute, toMinute }: Span, rule: Limit & { words: string }): void {
    if (day === HOLIDAY) this.#speaksOfHolidays = true;
    if (toMinute > fromMinute) return this.#claim(day, { fromMinute, toMinute, ...rule });
    if (day === HOLIDAY && toMinute > 0) {
      this.#mistakes.push(
        `"${rule.words}" reaches into the day after the holiday; end it at 24:00`,
      );
      return;
    }
    this.#claim(day, { fromMinute, toMinute: DAY_MINUTES, ...rule });
    if (toMinute > 0) this.#claim((day + 1) % 7, { fromMinute: 0, toMinute, ...rule });
  }

  #claim(day: number, claim: Claim): void {
    const claims = this.#claims[day] ?? [];
    for (const other of claims) {
      const fromMinute = Math.max(other.fromMinute, claim.fromMinute);
      const toMinute = Math.min(other.toMinute, claim.toMinute);
      const pair = `${other.words}\n${claim.words}`;
      if (fromMinute >= toMinute || this.#quarrels.has(pair)) continue;
      this.#quarrels.add(pair);
      const where = `${day === HOLIDAY ? "holiday" : showDays([day])} ${showSpan(fromMinute, toMinute)}`;
      this.#mistakes.push(
        other.words === claim.words
          ? `"${claim.words}" speaks twice of ${where}`
          : `"${other.words}" and "${claim.words}" both speak of ${where}; leave it to one of them`,
      );
    }
    claims.push(claim);
  }

  /** A calendar of nothing but pauses is a crawl that never ends. */
  #findEndless(): void {
    const limits = this.#claims.flat().map(({ limitBps }) => limitBps);
    if (this.#otherwise !== undefined) limits.push(this.#otherwise.limitBps);
    if (limits.length > 0 && limits.every((limitBps) => limitBps === 0) && this.#isWhole())
      this.#mistakes.push("nothing is ever fetched; give some time a rate, or none for no limit");
  }

  #isWhole(): boolean {
    const days = this.#claims.slice(0, HOLIDAY);
    return this.#otherwise !== undefined || days.every((day) => minutesOf(day) >= DAY_MINUTES);
  }
}

/** `mon`, `mon-fri`, `weekend`: days by number, 7 for holidays; undefined for what names none. */
export function daysNamed(word: string): readonly number[] | undefined {
  const name = word.toLowerCase();
  if (Object.hasOwn(DAY_GROUPS, name)) return DAY_GROUPS[name];
  const [first, last, ...more] = name.split("-").map(dayNumber);
  if (first === undefined || more.length > 0 || (name.includes("-") && last === undefined))
    return undefined;
  if (last === undefined) return [first];
  // Past Sunday it goes on with Monday: fri-mon.
  const length = ((last - first + 7) % 7) + 1;
  return Array.from({ length }, (_, index) => (first + index) % 7);
}

function minutesOf(claims: readonly Claim[]): number {
  return claims.reduce((sum, { fromMinute, toMinute }) => sum + toMinute - fromMinute, 0);
}

/** `mon`, `monday` and whatever of it is written beyond three letters. */
function dayNumber(name: string): number | undefined {
  const full = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
  const day = name.length < 3 ? -1 : full.findIndex((one) => one.startsWith(name));
  return day < 0 ? undefined : day;
}

function withoutWords({ fromMinute, toMinute, limitBps }: Claim): Stretch {
  return { fromMinute, toMinute, limitBps };
}

function byTime(a: Stretch, b: Stretch): number {
  return a.fromMinute - b.fromMinute;
}
