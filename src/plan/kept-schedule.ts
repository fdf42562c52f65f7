/**
 * The schedule that an order stands for: the list schedule where that keeps all deadlines, else the
 * guarded one, which would be the same if it did.
 *
 * Guarding costs a pass over all sites for each distinct deadline. Where there are many, neighbours
 * are rounded down to the earliest of them, as long as all can still be kept.
 */

import { keepsDeadlines } from "./feasible.ts";
import { guardedFinishes } from "./guarded-schedule.ts";
import { byDeadlineDescending } from "./latest.ts";
import { listFinishes } from "./list-schedule.ts";
import { isBetter, type Score, scoreOf } from "./score.ts";
import type { Track } from "./track.ts";
import { withDeadlines, type Work } from "./work.ts";

/** Sites times stretches that may be gone through for one schedule. */
const STEPS_MAX = 3_200_000;
const SHARE_NEEDED_MAX = 0.8;
const DEADLINES_MIN = 4;
/** For one site and stretch, counted in those of a list schedule. */
const GUARDED_STEPS = 5;

export class KeptSchedule {
  /** Sites looked at so far, which is what time is spent on. */
  steps = 0;
  readonly #work: Work;
  readonly #guardedWork: Work | undefined;
  readonly #guardedSteps: number;

  /** The deadlines of the work can all be kept. */
  constructor(work: Work) {
    this.#work = work;
    this.#guardedWork = coarse(work);
    const stretches = distinct(this.#guardedWork ?? work);
    this.#guardedSteps = work.count * (stretches + 1) * GUARDED_STEPS;
  }

  /** Lower is better; `best` is what has to be beaten for a closer look to be worth it. */
  score(order: Int32Array, best?: Score): Score {
    this.steps += this.#work.count;
    const listed = scoreOf(this.#work, listFinishes(this.#work, order), "min-sum");
    if (listed[0] === 0 || this.#guardedWork === undefined) return listed;
    // Guarding an order makes its sum larger, as a rule.
    if (best !== undefined && !isBetter([0, 0, listed[2], listed[3]], best)) return listed;
    this.steps += this.#guardedSteps;
    return scoreOf(this.#work, guardedFinishes(this.#guardedWork, order), "min-sum");
  }

  write(order: Int32Array, track: Track): void {
    const listed = scoreOf(this.#work, listFinishes(this.#work, order), "min-sum");
    if (listed[0] === 0 || this.#guardedWork === undefined) listFinishes(this.#work, order, track);
    else guardedFinishes(this.#guardedWork, order, track);
  }
}

/** The same with as many deadlines as there is time for; undefined when those cannot all be kept. */
function coarse(work: Work): Work | undefined {
  const deadlinesMax = Math.max(DEADLINES_MIN, Math.floor(STEPS_MAX / Math.max(1, work.count)));
  if (distinct(work) <= deadlinesMax) return work;
  const dated = byDeadlineDescending(work).toReversed();
  const deadlineSeconds = work.deadlineSeconds.slice();
  for (const [place, site] of dated.entries()) {
    const part = Math.floor((place * deadlinesMax) / dated.length);
    const first = dated[Math.ceil((part * dated.length) / deadlinesMax)] as number;
    const earlier = work.deadlineSeconds[first] as number;
    // Whoever has little time to spare keeps its own.
    if ((work.bytes[site] as number) / (work.capBps[site] as number) <= SHARE_NEEDED_MAX * earlier)
      deadlineSeconds[site] = earlier;
  }
  const coarser = withDeadlines(work, deadlineSeconds);
  return distinct(coarser) <= 4 * deadlinesMax && keepsDeadlines(coarser) ? coarser : undefined;
}

function distinct({ deadlineSeconds }: Work): number {
  return new Set(deadlineSeconds).size;
}
