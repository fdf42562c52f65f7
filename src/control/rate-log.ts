/**
 * Logs the rate of a crawl in files beside the store, and reads it.
 *
 * Not in the store, because a row per second does not justify a commit, and a ring that is
 * overwritten in place never grows and needs no cleanup. On a full disk only these rows are lost.
 */

import { join } from "node:path";
import {
  type Minute,
  MINUTE_NUMBERS,
  MinuteFold,
  minuteNumbers,
  minutesFrom,
  minuteStart,
  type Second,
  SECOND_NUMBERS,
  SecondCutter,
  secondNumbers,
  secondsFrom,
  slotOf,
} from "../bandwidth/history/series.ts";
import { NumberFile, readNumbers } from "../store/seen/number-file.ts";
import type { Snapshot } from "./snapshot.ts";

/** The meter keeps the last minute, so a delayed check loses no second. */
const LOOK_EVERY_MS = 1000;
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

export interface RateHistory {
  /** Until the first entry of `seconds`. */
  readonly minutes: readonly Minute[];
  /** The last day. */
  readonly seconds: readonly Second[];
}

export class RateLog implements Disposable {
  readonly #seconds: NumberFile;
  readonly #minutes: NumberFile;
  readonly #fold = new MinuteFold();

  /** Continues where an earlier process ended. */
  constructor(folder: string, nowMs: number) {
    const { seconds, minutes } = readAll(folder, nowMs);
    this.#seconds = new NumberFile(secondsPath(folder), SECOND_NUMBERS);
    this.#minutes = new NumberFile(minutesPath(folder), MINUTE_NUMBERS);
    const lastMs = minutes.at(-1)?.atMs ?? -Infinity;
    for (const second of seconds) if (minuteStart(second.atMs) > lastMs) this.#addToMinute(second);
  }

  /** Seconds arrive in order, each once: see `SecondCutter`. */
  note(second: Second): void {
    tolerant(() => this.#seconds.put(slotOf(second.atMs), secondNumbers(second)));
    this.#addToMinute(second);
  }

  [Symbol.dispose](): void {
    this.#seconds[Symbol.dispose]();
    this.#minutes[Symbol.dispose]();
  }

  #addToMinute(second: Second): void {
    const minute = this.#fold.add(second);
    if (minute !== undefined) tolerant(() => this.#minutes.append(minuteNumbers(minute)));
  }
}

/** A full disk stops the crawl in the store, with a message; the rate log ignores it. */
function tolerant(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
  }
}

/** Logs a crawl's rate until it is disposed, which adds the missing seconds. */
export function keepRateLog(folder: string, snapshot: () => Snapshot): Disposable {
  const chronicle = new RateLog(folder, Date.now());
  const cutter = new SecondCutter();
  const look = (): void => {
    for (const second of cutter.take({ ...snapshot(), wallMs: Date.now() })) chronicle.note(second);
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      look();
      chronicle[Symbol.dispose]();
    },
  };
}

/** The log so far, of a crawl that may be running. */
export function readRateLog(folder: string, nowMs: number): RateHistory {
  const { seconds, minutes } = readAll(folder, nowMs);
  const [first] = seconds;
  const fromMs = first === undefined ? Infinity : minuteStart(first.atMs);
  return { seconds, minutes: minutes.filter(({ atMs }) => atMs < fromMs) };
}

function readAll(folder: string, nowMs: number): RateHistory {
  return {
    seconds: secondsFrom(readNumbers(secondsPath(folder), SECOND_NUMBERS), nowMs),
    minutes: minutesFrom(readNumbers(minutesPath(folder), MINUTE_NUMBERS), nowMs),
  };
}

function secondsPath(folder: string): string {
  return join(folder, "state", "rate-seconds.f64");
}

function minutesPath(folder: string): string {
  return join(folder, "state", "rate-minutes.f64");
}

/** A stretch of time with its lowest and highest second. */
export interface RateSpan {
  readonly atMs: number;
  readonly lengthMs: number;
  readonly leastBps: number;
  readonly meanBps: number;
  readonly mostBps: number;
  readonly predictedBps: number;
  readonly limitBps: number | undefined;
}

/** The logged seconds and minutes, alike. */
export function rateSpans({ minutes, seconds }: RateHistory): RateSpan[] {
  const old = minutes.map(({ seconds: measured, bytes, ...minute }) => {
    return { ...minute, lengthMs: MINUTE_MS, meanBps: bytes / measured };
  });
  const recent = seconds.map(({ atMs, bytes, predictedBps, limitBps }) => {
    const rates = { leastBps: bytes, meanBps: bytes, mostBps: bytes, predictedBps, limitBps };
    return { atMs, lengthMs: SECOND_MS, ...rates };
  });
  return [...old, ...recent];
}
