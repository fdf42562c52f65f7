/**
 * The schedule of an order: the list schedule where that keeps all deadlines, else the guarded one,
 * which would be the same if it did.
 *
 * A guard that looks ahead to every deadline keeps all that can be kept. With too many deadlines
 * for that, it first looks ahead to none: every site is called in time for its own deadline, and
 * with very many sites some can nearly always give way. If a site is late nevertheless, deadlines
 * are rounded down to a few marks, and it looks ahead to those.
 */

import { keepsDeadlines } from "../feasible/feasible.ts";
import { guardedFinishes, type Watch, watchFor } from "../schedule/guarded-schedule.ts";
import { byDeadlineDescending, distinctDeadlines } from "../schedule/level-schedule.ts";
import { listFinishes } from "../schedule/list-schedule.ts";
import { marksFor } from "../schedule/marks.ts";
import { orderByUrgency } from "../schedule/orders.ts";
import { isAfter, isBetter, type Score, scoreOf } from "../schedule/score.ts";
import type { Track } from "../schedule/recorder.ts";
import { withDeadlines, type Work } from "../schedule/columns.ts";

/** Most deadlines to look ahead to; fewer with very many sites. */
const MARKS_MAX = 1000;
const MARKS_OF_MANY = 100;
const SITES_TIMES_MARKS = 16_000_000;
/** Factors on that number, where rounding to it moves deadlines too far. */
const TIMES_MORE = [1, 4];
/**
 * Share of the time until the last start of the first late site: later deadlines are rounded first.
 */
const TROUBLE_SHARE = 0.98;
/** Least cost of guarding, in list schedules; the marks may add as much again. */
const GUARDED_STEPS = 8;
const MARKS_A_STEP = 20;
/**
 * Sites above which orders are compared by their list schedules and an estimate of the cost of
 * guarding.
 */
const SITES_TO_GUARD_MAX = 5000;
const PRICE_OF_GUARD = 1.02;

/** The work with deadlines no later than they are, and the marks. */
interface Guard {
  readonly work: Work;
  readonly watch: Watch;
}

interface Written {
  readonly track: Track;
  readonly score: Score;
  readonly finishes: Float64Array;
}

type Way = (track: Track, before: Written | undefined) => Float64Array;

export class KeptSchedule {
  /** Sites examined so far, a measure of time. */
  steps = 0;
  readonly #work: Work;
  /** Distinct, ascending. */
  readonly #deadlines: Float64Array;
  readonly #marksMax: number;
  /** Looks ahead to all deadlines; to none where they are too many. */
  readonly #first: Guard;
  readonly #rounded = new Map<number, { readonly guard: Guard; readonly isPossible: boolean }>();

  /** The deadlines of the work can all be kept. */
  constructor(work: Work) {
    this.#work = work;
    this.#deadlines = distinctDeadlines(work, byDeadlineDescending(work)).toReversed();
    const affordable = Math.floor(SITES_TIMES_MARKS / Math.max(1, work.count));
    this.#marksMax = Math.min(MARKS_MAX, Math.max(MARKS_OF_MANY, affordable));
    const isFew = this.#deadlines.length <= this.#marksMax;
    this.#first = { work, watch: watchFor(work, isFew ? this.#deadlines : new Float64Array(0)) };
  }

  /** Lower is better; a closer check is worth its time only if the order can beat `best`. */
  score(order: Int32Array, best?: Score): Score {
    this.steps += this.#work.count;
    const listed = scoreOf(this.#work, listFinishes(this.#work, order), "min-sum");
    if (listed[0] === 0) return listed;
    if (this.#work.count > SITES_TO_GUARD_MAX) return [0, 0, listed[2] * PRICE_OF_GUARD, listed[3]];
    // Guarding an order usually makes its sum larger.
    if (best?.[0] === 0 && !isBetter([0, 0, listed[2], listed[3]], best)) return listed;
    for (const guard of this.#guards()) {
      this.steps += this.#work.count * (GUARDED_STEPS + guard.watch.marks.length / MARKS_A_STEP);
      const score = this.#guarded(guard, order);
      if (score[0] === 0) return score;
    }
    return listed;
  }

  /** Into a new track. */
  write(order: Int32Array, newTrack: () => Track): Track {
    let best: Written | undefined;
    for (const finishesOf of this.#ways(order)) {
      const track = newTrack();
      const finishes = finishesOf(track, best);
      const score = scoreOf(this.#work, finishes, "min-sum");
      if (best === undefined || isBetter(score, best.score)) best = { track, score, finishes };
      if (score[0] === 0) break;
    }
    return best?.track ?? newTrack();
  }

  /** The first that keeps all deadlines is used; each receives the best before it. */
  *#ways(order: Int32Array): Generator<Way> {
    const isMany = this.#work.count > SITES_TO_GUARD_MAX && this.#deadlines.length > 0;
    // Without a call the guarded one is the list schedule.
    if (!isMany) yield (track) => listFinishes(this.#work, order, track);
    for (const guard of this.#guards()) {
      yield (track) => guardedFinishes(guard.work, order, guard.watch, track);
      if (isMany && guard === this.#first)
        yield (track, before) => {
          const fromSeconds = TROUBLE_SHARE * firstTrouble(this.#work, before?.finishes);
          const { work, watch } = this.#roundedTo(this.#marksMax / 2, fromSeconds);
          return guardedFinishes(work, order, watch, track);
        };
    }
    const urgentFirst = orderByUrgency(this.#work);
    yield (track) => guardedFinishes(this.#work, urgentFirst, this.#first.watch, track);
  }

  *#guards(): Generator<Guard> {
    yield this.#first;
    if (this.#deadlines.length === this.#first.watch.marks.length) return;
    for (const times of TIMES_MORE) {
      const known = this.#rounded.get(times);
      const guard = known?.guard ?? this.#roundedTo(times * this.#marksMax, 0);
      const isPossible = known?.isPossible ?? keepsDeadlines(guard.work);
      this.#rounded.set(times, { guard, isPossible });
      if (isPossible) yield guard;
    }
  }

  /** Rounds deadlines after some moment down to marks, except those that a site could not keep. */
  #roundedTo(most: number, fromSeconds: number): Guard {
    const { bytes, capBps, deadlineSeconds } = this.#work;
    const from = this.#deadlines.findIndex((seconds) => seconds >= fromSeconds);
    const marks = marksFor(this.#deadlines.subarray(Math.max(0, from)), most);
    const first = marks[0] as number;
    const rounded = deadlineSeconds.map((deadline, site) => {
      if (deadline === Number.POSITIVE_INFINITY || deadline < first) return deadline;
      const mark = lastBefore(marks, deadline);
      const aloneSeconds = (bytes[site] as number) / (capBps[site] as number);
      return aloneSeconds > mark ? deadline : mark;
    });
    const work = withDeadlines(this.#work, rounded);
    return { work, watch: watchFor(work, marks) };
  }

  #guarded({ work, watch }: Guard, order: Int32Array): Score {
    return scoreOf(this.#work, guardedFinishes(work, order, watch), "min-sum");
  }
}

/** The last possible start of the first late site. */
function firstTrouble(
  { bytes, capBps, deadlineSeconds, count }: Work,
  finishes?: Float64Array,
): number {
  let firstSeconds = Number.POSITIVE_INFINITY;
  for (let site = 0; site < count; site++) {
    const deadline = deadlineSeconds[site] as number;
    if (!isAfter(finishes?.[site] ?? 0, deadline)) continue;
    const callSeconds = deadline - (bytes[site] as number) / (capBps[site] as number);
    firstSeconds = Math.min(firstSeconds, callSeconds);
  }
  return firstSeconds;
}

/** Index of the last of ascending marks that is not above the value; the first when all are. */
function lastBefore(marks: Float64Array, value: number): number {
  let low = 0;
  let high = marks.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((marks[middle] as number) <= value) low = middle;
    else high = middle;
  }
  return marks[low] as number;
}
