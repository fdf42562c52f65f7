/**
 * The schedule that an order stands for: the list schedule where that keeps all deadlines, else the
 * guarded one, which would be the same if it did.
 *
 * Guarding costs a pass over all sites for each distinct deadline. Where there are too many, each is
 * rounded down to one of a few, as long as all can still be kept; whoever has no time to spare for that
 * goes before all others instead, and is done as soon as it can be.
 */

import { keepsDeadlines } from "./feasible.ts";
import { guardedFinishes } from "./guarded-schedule.ts";
import { byDeadlineDescending, distinctDeadlines } from "./latest.ts";
import { listFinishes } from "./list-schedule.ts";
import { type Effort, orderByUrgency } from "./orders.ts";
import { byLastCall, pinnedFinishes } from "./pinned-schedule.ts";
import { isBetter, type Score, scoreOf } from "./score.ts";
import type { Track } from "./track.ts";
import { columnOf, withDeadlines, type Work } from "./work.ts";

/** Sites times stretches that may be gone through for one schedule. */
const STEPS_MAX = 4_000_000;
/** Where no order keeps all deadlines without guard, it may take so many times as long, if nobody waits for it. */
const TIMES_LONGER = [4, 16];
const DEADLINES_MIN = 4;
/** Whoever needs more of the time until its rounded deadline goes first. */
const SHARE_NEEDED_MAX = 0.8;
/** For one site and stretch, counted in those of a list schedule. */
const GUARDED_STEPS = 5;
/** With more sites than this, orders are compared by their list schedules, and what guarding them may cost. */
const SITES_TO_GUARD_MAX = 5000;
const PRICE_OF_GUARD = 1.02;

const NEVER: Score = [Infinity, 0, 0, 0];

/** Work that can be guarded in the time there is. */
interface Guard {
  readonly work: Work;
  readonly goesFirst: (site: number) => boolean;
  /** From deadline to deadline, and what is after them. */
  readonly stretches: number;
}

export class KeptSchedule {
  /** Sites looked at so far, which is what time is spent on. */
  steps = 0;
  readonly #work: Work;
  /** Sites by their last call; undefined when nobody has a deadline. */
  readonly #calls: Int32Array | undefined;
  /** Looked for when it is needed first. */
  #guard: Guard | "none" | undefined;
  readonly #stepsMax: number;
  readonly #effort: Effort;

  /** The deadlines of the work can all be kept. After so many steps no order is guarded any more. */
  constructor(work: Work, stepsMax: number, effort: Effort) {
    this.#work = work;
    this.#stepsMax = stepsMax;
    this.#effort = effort;
    const isDated = work.deadlineSeconds.some((seconds) => seconds < Number.POSITIVE_INFINITY);
    this.#calls = isDated ? byLastCall(work) : undefined;
  }

  /** Lower is better; `best` is what has to be beaten for a closer look to be worth it. */
  score(order: Int32Array, best?: Score): Score {
    this.steps += this.#work.count;
    const pinned = this.#pinned(order);
    if (pinned[0] === 0) return pinned;
    if (this.#work.count > SITES_TO_GUARD_MAX) return [0, 0, pinned[2] * PRICE_OF_GUARD, pinned[3]];
    const unguarded: Score = [0, 0, pinned[2], pinned[3]];
    // Guarding an order makes its sum larger, as a rule.
    const isWorthIt = isBetter(unguarded, best ?? NEVER) && this.steps <= this.#stepsMax;
    if (best?.[0] === 0 && !isWorthIt) return pinned;
    const guard = this.#usualGuard();
    if (guard === undefined) return pinned;
    this.steps += this.#work.count * guard.stretches * GUARDED_STEPS;
    return scoreOf(this.#work, guarded(guard, order), "min-sum");
  }

  write(order: Int32Array, track: Track): void {
    if (this.#pinned(order)[0] === 0) return void this.#finishes(order, track);
    const usual = this.#usualGuard();
    if (usual !== undefined) return void guarded(usual, order, track);
    const urgentFirst = orderByUrgency(this.#work);
    const urgentScore = this.#pinned(urgentFirst);
    const isInTime = this.#effort === "quick" && urgentScore[0] === 0;
    const guard = isInTime ? undefined : slowGuardFor(this.#work);
    if (guard !== undefined) return void guarded(guard, order, track);
    const isUrgent = isBetter(urgentScore, this.#pinned(order));
    this.#finishes(isUrgent ? urgentFirst : order, track);
  }

  #usualGuard(): Guard | undefined {
    this.#guard ??= guardFor(this.#work, 1) ?? "none";
    return this.#guard === "none" ? undefined : this.#guard;
  }

  #pinned(order: Int32Array): Score {
    return scoreOf(this.#work, this.#finishes(order), "min-sum");
  }

  #finishes(order: Int32Array, track?: Track): Float64Array {
    return this.#calls === undefined
      ? listFinishes(this.#work, order, track)
      : pinnedFinishes(this.#work, order, this.#calls, track);
  }
}

function guarded({ work, goesFirst }: Guard, order: Int32Array, track?: Track): Float64Array {
  const urgent = order.filter(goesFirst);
  const line = new Int32Array(order.length);
  line.set(urgent);
  line.set(
    order.filter((site) => !goesFirst(site)),
    urgent.length,
  );
  return guardedFinishes(work, line, track, urgent.length);
}

function slowGuardFor(work: Work): Guard | undefined {
  for (const times of TIMES_LONGER) {
    const guard = guardFor(work, times);
    if (guard !== undefined) return guard;
  }
  return undefined;
}

/** Undefined when the deadlines would have to be moved too far to be kept. */
function guardFor(work: Work, times: number): Guard | undefined {
  const most = Math.floor((times * STEPS_MAX) / Math.max(1, work.count));
  const deadlinesMax = Math.max(DEADLINES_MIN, most);
  const dated = byDeadlineDescending(work);
  const deadlines = distinctDeadlines(work, dated);
  if (deadlines.length <= deadlinesMax)
    return { work, goesFirst: () => false, stretches: deadlines.length + 1 };
  const { bytes, capBps, deadlineSeconds } = work;
  const marks = marksFor(columnOf(deadlineSeconds, dated), deadlinesMax);
  const toKeep = deadlineSeconds.slice();
  const toGuard = deadlineSeconds.slice();
  for (const site of dated) {
    const aloneSeconds = (bytes[site] as number) / (capBps[site] as number);
    const mark = lastBefore(marks, toKeep[site] as number);
    const isUrgent = aloneSeconds > SHARE_NEEDED_MAX * mark;
    toKeep[site] = isUrgent ? Math.min(toKeep[site] as number, aloneSeconds * (1 + 1e-12)) : mark;
    toGuard[site] = isUrgent ? Number.POSITIVE_INFINITY : mark;
  }
  if (!keepsDeadlines(withDeadlines(work, toKeep))) return undefined;
  const goesFirst = (site: number) =>
    toGuard[site] === Number.POSITIVE_INFINITY && toKeep[site] !== Number.POSITIVE_INFINITY;
  return { work: withDeadlines(work, toGuard), goesFirst, stretches: marks.length + 1 };
}

/**
 * Half of them where deadlines are dense, half of them at equal ratios. Takes the latest first; ascends from the
 * first deadline.
 */
function marksFor(deadlines: Float64Array, count: number): Float64Array {
  const last = deadlines[0] as number;
  const first = deadlines.at(-1) as number;
  const half = Math.floor(count / 2);
  const marks = [first];
  for (let part = 0; part < half; part++) {
    marks.push(deadlines[Math.floor((part * deadlines.length) / half)] as number);
    marks.push(first * (last / first) ** (part / half));
  }
  return Float64Array.from(new Set(marks)).sort();
}

/** The last of ascending marks that is not above the value; the first when all are. */
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
