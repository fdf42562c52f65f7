/**
 * Writes down the rate of a crawl as it goes, beside the store, and reads it again.
 *
 * Files of their own and not the store: a row a second is worth no commit, and a ring that is
 * written over in place never grows nor has to be cleaned up. A full disk costs the rows that found
 * no room, and nothing else.
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

/** No second is lost to a late look: the last minute is always known. */
const LOOK_EVERY_MS = 1000;

export interface RateHistory {
  /** Up to the first of the seconds. */
  readonly minutes: readonly Minute[];
  /** The last day. */
  readonly seconds: readonly Second[];
}

export class Chronicle implements Disposable {
  readonly #seconds: NumberFile;
  readonly #minutes: NumberFile;
  readonly #fold = new MinuteFold();

  /** Goes on where an earlier process ended, however it ended. */
  constructor(folder: string, nowMs: number) {
    const { seconds, minutes } = readAll(folder, nowMs);
    this.#seconds = new NumberFile(secondsPath(folder), SECOND_NUMBERS);
    this.#minutes = new NumberFile(minutesPath(folder), MINUTE_NUMBERS);
    const lastMs = minutes.at(-1)?.atMs ?? -Infinity;
    for (const second of seconds) if (minuteStart(second.atMs) > lastMs) this.#addToMinute(second);
  }

  /** Seconds come in order, each once: see `SecondCutter`. */
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

/** A disk without room stops the crawl elsewhere, with a message; not the looking at it. */
function tolerant(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
  }
}

/** Writes a crawl's rate down until it is disposed of, which adds what is missing. */
export function keepChronicle(folder: string, snapshot: () => Snapshot): Disposable {
  const chronicle = new Chronicle(folder, Date.now());
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

/** What has been written so far, by a crawl that may be running. */
export function readChronicle(folder: string, nowMs: number): RateHistory {
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
