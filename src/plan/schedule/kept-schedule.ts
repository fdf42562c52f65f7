/**
 * The schedule of an order: the list schedule where that keeps all deadlines, else the guarded one,
 * which would be the same if it did.
 *
 * A guard that looks ahead to every deadline keeps all that can be kept. With too many deadlines
 * for that it looks ahead to a few of them, and every site is still called in time for its own.
 */

import { guardedFinishes, watchFor } from "./guarded-schedule.ts";
import { byDeadlineDescending, distinctDeadlines } from "./level-schedule.ts";
import { listFinishes } from "./list-schedule.ts";
import { marksFor } from "./marks.ts";
import { type Score, scoreOf } from "./score.ts";
import { Track } from "./recorder.ts";
import type { Work } from "./columns.ts";

/** Most deadlines to look ahead to, and with how many sites. */
const MARKS_MAX = 1000;
const SITES_MAX = 5000;
/** With more sites or deadlines: the deadlines looked ahead to. */
const MARKS_OF_MANY = 60;

export interface Kept {
  readonly track: Track;
  readonly score: Score;
}

/** The rates of an order; the deadlines of the work can all be kept. */
export function keptSchedule(work: Work, order: Int32Array, startupSeconds: number): Kept {
  const listed = new Track(work.count, startupSeconds);
  const score = scoreOf(work, listFinishes(work, order, listed), "min-sum");
  if (score[0] === 0) return { track: listed, score };
  const track = new Track(work.count, startupSeconds);
  const finishes = guardedFinishes(work, order, watchFor(work, marksOf(work)), track);
  return { track, score: scoreOf(work, finishes, "min-sum") };
}

function marksOf(work: Work): Float64Array {
  const deadlines = distinctDeadlines(work, byDeadlineDescending(work)).toReversed();
  const areFew = deadlines.length <= MARKS_MAX && work.count <= SITES_MAX;
  return areFew ? deadlines : marksFor(deadlines, MARKS_OF_MANY);
}
