/**
 * Which limit holds when: a week of days, each cut into stretches, and what holds in between.
 *
 * Public holidays from Monday to Friday have a day of their own when the calendar speaks of them,
 * and are like any other day when it does not. Saturdays and Sundays always follow their own rules.
 *
 * A limit is in bytes per second; 0 means that nothing is fetched then, undefined that there is none.
 */

export const DAY_NAMES = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
export const DAY_MINUTES = 1440;
const FRIDAY = 4;
const HOLES_SHOWN = 6;

export interface Stretch {
  readonly fromMinute: number;
  readonly toMinute: number;
  readonly limitBps: number | undefined;
}

export interface Calendar {
  /** As it was written. */
  readonly text: string;
  /** Monday to Sunday, each in order of time and without overlap; there may be holes. */
  readonly days: readonly (readonly Stretch[])[];
  readonly holiday: readonly Stretch[] | undefined;
  /** What holds in the holes, when the calendar says it. */
  readonly otherwise: { readonly limitBps: number | undefined } | undefined;
}

export interface CalendarMoment {
  /** 0 is Monday. */
  readonly weekday: number;
  readonly minuteOfDay: number;
  readonly kind: "working" | "holiday";
}

/** `elseBps` holds where the calendar says nothing at all. */
export function limitAt(
  calendar: Calendar,
  moment: CalendarMoment,
  elseBps: number | undefined,
): number | undefined {
  const stretch = dayOf(calendar, moment).find((one) => contains(one, moment.minuteOfDay));
  if (stretch !== undefined) return stretch.limitBps;
  return calendar.otherwise === undefined ? elseBps : calendar.otherwise.limitBps;
}

/**
 * Least time for which the limit stays the same: a holiday may start at midnight, and the time of
 * day jumps when clocks change. Callers ask again every minute or so.
 */
export function minutesToChange(calendar: Calendar, moment: CalendarMoment): number {
  let next = DAY_MINUTES;
  for (const { fromMinute, toMinute } of dayOf(calendar, moment)) {
    for (const edge of [fromMinute, toMinute])
      if (edge > moment.minuteOfDay) next = Math.min(next, edge);
  }
  return next - moment.minuteOfDay;
}

/** The times nothing is said for, in words; empty when the calendar is whole. */
export function holesOf(calendar: Calendar): string[] {
  if (calendar.otherwise !== undefined) return [];
  const daysBySpan = new Map<string, number[]>();
  for (const [day, stretches] of calendar.days.entries()) {
    for (const span of gapsIn(stretches)) {
      const days = daysBySpan.get(span);
      if (days === undefined) daysBySpan.set(span, [day]);
      else days.push(day);
    }
  }
  const holes = [...daysBySpan].map(([span, days]) => `${showDays(days)} ${span}`);
  for (const span of gapsIn(calendar.holiday ?? WHOLE)) holes.push(`holiday ${span}`);
  return holes.length > HOLES_SHOWN ? [...holes.slice(0, HOLES_SHOWN), "…"] : holes;
}

/** `mon-wed,sat`: days by number, in order. */
export function showDays(days: readonly number[]): string {
  const runs: [first: number, last: number][] = [];
  for (const day of days) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === day - 1) run[1] = day;
    else runs.push([day, day]);
  }
  return runs
    .map(([first, last]) =>
      first === last ? DAY_NAMES[first] : `${DAY_NAMES[first]}-${DAY_NAMES[last]}`,
    )
    .join(",");
}

export function showSpan(fromMinute: number, toMinute: number): string {
  return `${showMinute(fromMinute)}-${showMinute(toMinute)}`;
}

const WHOLE: readonly Stretch[] = [{ fromMinute: 0, toMinute: DAY_MINUTES, limitBps: undefined }];

function dayOf(calendar: Calendar, { weekday, kind }: CalendarMoment): readonly Stretch[] {
  const isHoliday = kind === "holiday" && weekday <= FRIDAY;
  return (isHoliday ? calendar.holiday : undefined) ?? calendar.days[weekday] ?? [];
}

function contains({ fromMinute, toMinute }: Stretch, minute: number): boolean {
  return minute >= fromMinute && minute < toMinute;
}

function* gapsIn(stretches: readonly Stretch[]): Generator<string> {
  let minute = 0;
  for (const { fromMinute, toMinute } of stretches) {
    if (fromMinute > minute) yield showSpan(minute, fromMinute);
    minute = toMinute;
  }
  if (minute < DAY_MINUTES) yield showSpan(minute, DAY_MINUTES);
}

function showMinute(minute: number): string {
  const hour = String(Math.floor(minute / 60)).padStart(2, "0");
  return `${hour}:${String(minute % 60).padStart(2, "0")}`;
}
