/**
 * The rate over time, second by second: what came, what was predicted, what was allowed.
 *
 * The last day is kept by the second, all before it by the minute, with the worst and the best
 * second of each: a spill of one second can still be seen a year later. Minutes are made from
 * seconds as these end, and again from the seconds on disk when a process was killed in between.
 *
 * Everything is rows of plain numbers, as they are stored: 4 a second in a ring of one day, 7 a
 * minute in a file that grows. That is 2.8 MB, and 29 MB for each year of crawling.
 */

export interface Second {
  /** When it began, on the wall clock. */
  readonly atMs: number;
  readonly bytes: number;
  /** CB: what the running downloads were predicted to take. */
  readonly predictedBps: number;
  /** 0 while nothing may come at all; undefined while nothing holds it. */
  readonly limitBps: number | undefined;
}

export interface Minute {
  readonly atMs: number;
  /** How many seconds of it were crawled; the rest were none of ours. */
  readonly seconds: number;
  readonly bytes: number;
  readonly leastBps: number;
  readonly mostBps: number;
  /** Mean over the seconds. */
  readonly predictedBps: number;
  /** The lowest in force. */
  readonly limitBps: number | undefined;
}

export const RING_SECONDS = 86_400;
export const SECOND_NUMBERS = 4;
export const MINUTE_NUMBERS = 7;
const MINUTE_MS = 60_000;
/** A wall clock that goes this wrong has been set, or the machine has slept. */
const JUMP_MS = 2000;

/** What is known about the line at some moment. */
export interface Reading {
  readonly wallMs: number;
  /** Since the meter began: its seconds are counted from there. */
  readonly elapsedMs: number;
  /** Bytes in each of the last whole seconds, oldest first. */
  readonly recentBps: readonly number[];
  readonly predictedBps: number;
  readonly limitBps: number | undefined;
}

/** Cuts readings, taken whenever there is time, into one row for each second. */
export class SecondCutter {
  #taken = 0;
  #startMs: number | undefined;

  /** The seconds that have ended since the last call and are still known. */
  take(reading: Reading): Second[] {
    const { wallMs, elapsedMs, recentBps } = reading;
    const startMs = wallMs - elapsedMs;
    // Kept while it can be, so that no second is written twice for a millisecond of drift.
    if (this.#startMs === undefined || Math.abs(startMs - this.#startMs) > JUMP_MS)
      this.#startMs = Math.round(startMs / 1000) * 1000;
    const ended = Math.floor(elapsedMs / 1000);
    const count = Math.min(ended - this.#taken, recentBps.length);
    this.#taken = ended;
    const firstAtMs = this.#startMs + (ended - count) * 1000;
    return recentBps.slice(recentBps.length - count).map((bytes, index) => ({
      atMs: firstAtMs + index * 1000,
      bytes,
      predictedBps: reading.predictedBps,
      limitBps: reading.limitBps,
    }));
  }
}

/** Makes minutes of seconds that come in order. */
export class MinuteFold {
  #seconds: Second[] = [];

  /** Answers the minute before, when this second is the first of another. */
  add(second: Second): Minute | undefined {
    const [first] = this.#seconds;
    const isSame = first === undefined || minuteStart(first.atMs) === minuteStart(second.atMs);
    const ended = isSame ? undefined : this.take();
    this.#seconds.push(second);
    return ended;
  }

  /** The minute so far. */
  take(): Minute | undefined {
    const [first, ...rest] = this.#seconds;
    this.#seconds = [];
    return first === undefined ? undefined : minuteOf([first, ...rest]);
  }
}

/** All minutes of these seconds, the last one too. */
export function minutesOf(seconds: Iterable<Second>): Minute[] {
  const fold = new MinuteFold();
  const minutes: Minute[] = [];
  for (const second of seconds) {
    const minute = fold.add(second);
    if (minute !== undefined) minutes.push(minute);
  }
  const last = fold.take();
  return last === undefined ? minutes : [...minutes, last];
}

export function minuteStart(atMs: number): number {
  return Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
}

function minuteOf(seconds: readonly [Second, ...Second[]]): Minute {
  let bytes = 0;
  let leastBps = Infinity;
  let mostBps = 0;
  let predicted = 0;
  let limitBps = Infinity;
  for (const second of seconds) {
    bytes += second.bytes;
    leastBps = Math.min(leastBps, second.bytes);
    mostBps = Math.max(mostBps, second.bytes);
    predicted += second.predictedBps;
    limitBps = Math.min(limitBps, second.limitBps ?? Infinity);
  }
  return {
    atMs: minuteStart(seconds[0].atMs),
    seconds: seconds.length,
    bytes,
    leastBps,
    mostBps,
    predictedBps: predicted / seconds.length,
    limitBps: limitBps === Infinity ? undefined : limitBps,
  };
}

/** How well seconds kept to their limits. */
export interface RateFigures {
  readonly seconds: number;
  readonly meanBps: number;
  readonly worstBps: number;
  /** Over the seconds that had a limit; shares are of that limit. */
  readonly held:
    | {
        readonly seconds: number;
        readonly meanShare: number;
        readonly deviationShare: number;
        readonly worstShare: number;
        readonly secondsOver105: number;
      }
    | undefined;
}

const OVER_SHARE = 1.05;

export function figuresOf(seconds: readonly Second[]): RateFigures {
  const shares: number[] = [];
  let bytes = 0;
  let worstBps = 0;
  for (const second of seconds) {
    bytes += second.bytes;
    worstBps = Math.max(worstBps, second.bytes);
    if (second.limitBps !== undefined && second.limitBps > 0)
      shares.push(second.bytes / second.limitBps);
  }
  const meanBps = seconds.length === 0 ? 0 : bytes / seconds.length;
  return { seconds: seconds.length, meanBps, worstBps, held: heldFigures(shares) };
}

function heldFigures(shares: readonly number[]): RateFigures["held"] {
  if (shares.length === 0) return undefined;
  const meanShare = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const squares = shares.reduce((sum, share) => sum + (share - meanShare) ** 2, 0);
  return {
    seconds: shares.length,
    meanShare,
    deviationShare: Math.sqrt(squares / shares.length),
    worstShare: shares.reduce((worst, share) => Math.max(worst, share), 0),
    secondsOver105: shares.filter((share) => share > OVER_SHARE).length,
  };
}

/** The place of a second in the ring; a row of another day has another time. */
export function slotOf(atMs: number): number {
  return Math.floor(atMs / 1000) % RING_SECONDS;
}

export function secondNumbers({ atMs, bytes, predictedBps, limitBps }: Second): number[] {
  return [atMs, bytes, predictedBps, limitBps ?? NaN];
}

export function minuteNumbers(minute: Minute): number[] {
  const { atMs, seconds, bytes, leastBps, mostBps, predictedBps, limitBps } = minute;
  return [atMs, seconds, bytes, leastBps, mostBps, predictedBps, limitBps ?? NaN];
}

/**
 * The seconds of a ring in order of time: those of the day before the newest. Incomplete rows are
 * left out, and so are those after `nowMs`, from before the clock was corrected.
 */
export function secondsFrom(ring: Float64Array, nowMs: number): Second[] {
  const found: Second[] = [];
  let newestMs = -Infinity;
  for (let slot = 0; slot < ring.length / SECOND_NUMBERS; slot++) {
    const [atMs = 0, bytes = 0, predictedBps = 0, limit = 0] = ring.subarray(
      slot * SECOND_NUMBERS,
      (slot + 1) * SECOND_NUMBERS,
    );
    if (!(atMs > 0 && atMs <= nowMs && slotOf(atMs) === slot && bytes >= 0)) continue;
    newestMs = Math.max(newestMs, atMs);
    found.push({ atMs, bytes, predictedBps, limitBps: limitFrom(limit) });
  }
  return found
    .filter(({ atMs }) => atMs > newestMs - RING_SECONDS * 1000)
    .toSorted((a, b) => a.atMs - b.atMs);
}

export function minutesFrom(rows: Float64Array, nowMs: number): Minute[] {
  const minutes: Minute[] = [];
  for (let at = 0; at + MINUTE_NUMBERS <= rows.length; at += MINUTE_NUMBERS) {
    const [
      atMs = 0,
      seconds = 0,
      bytes = 0,
      leastBps = 0,
      mostBps = 0,
      predictedBps = 0,
      limit = 0,
    ] = rows.subarray(at, at + MINUTE_NUMBERS);
    if (!(atMs > 0 && atMs <= nowMs && seconds >= 1 && bytes >= 0)) continue;
    const limitBps = limitFrom(limit);
    minutes.push({ atMs, seconds, bytes, leastBps, mostBps, predictedBps, limitBps });
  }
  return minutes;
}

function limitFrom(number: number): number | undefined {
  return Number.isNaN(number) ? undefined : number;
}
