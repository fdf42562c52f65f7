/**
 * When not all deadlines can be kept: which to give up, and how late those must be at least.
 *
 * Moore and Hodgson (1968): take sites by deadline, and whenever they no longer fit, give up the
 * largest. Without caps that leaves the fewest late. With caps it is a matter of trying (already two
 * machines with preemption make it hard, Lawler 1983): the largest whose going makes the rest fit.
 */

import { fitsAlone, keepsDeadlines, leastThat } from "./feasible.ts";
import { withDeadlines, type Work } from "./work.ts";

/** How many are asked whether their going would do. */
const TRIES_MAX = 12;

/** Deadlines that can all be kept: the fewest moved, and those all by the same, least time. */
export function deadlinesToKeep(work: Work): Float64Array {
  if (keepsDeadlines(work)) return work.deadlineSeconds;
  const late = lateSites(work);
  const moved = (bySeconds: number) => {
    const deadlineSeconds = work.deadlineSeconds.slice();
    for (const site of late) deadlineSeconds[site] = (deadlineSeconds[site] as number) + bySeconds;
    return deadlineSeconds;
  };
  return moved(leastThat(0, (seconds) => keepsDeadlines(withDeadlines(work, moved(seconds)))));
}

/** The sites to be late. */
export function lateSites(work: Work): number[] {
  const late: number[] = [];
  const rest: number[] = [];
  for (let site = 0; site < work.count; site++) {
    if (!fitsAlone(work, site)) late.push(site);
    else if ((work.deadlineSeconds[site] as number) < Number.POSITIVE_INFINITY) rest.push(site);
  }
  rest.sort((a, b) => (work.deadlineSeconds[a] as number) - (work.deadlineSeconds[b] as number));
  let kept: number[] = [];
  let waiting = rest;
  while (waiting.length > 0) {
    const fitting = longestFitting(work, kept, waiting);
    kept = [...kept, ...waiting.slice(0, fitting)];
    const next = waiting[fitting];
    if (next === undefined) break;
    waiting = waiting.slice(fitting + 1);
    const gone = oneToGo(work, [...kept, next]);
    late.push(gone);
    if (gone !== next) kept = [...kept.filter((site) => site !== gone), next];
  }
  return late;
}

/** How many of the waiting, from the first on, fit with the kept. */
function longestFitting(work: Work, kept: readonly number[], waiting: readonly number[]): number {
  let fits = 0;
  let fails = waiting.length + 1;
  while (fails - fits > 1) {
    const middle = fits === 0 && fails > waiting.length ? waiting.length : (fits + fails) >> 1;
    if (fit(work, [...kept, ...waiting.slice(0, middle)])) fits = middle;
    else fails = middle;
  }
  return fits;
}

/** The largest without which the others fit; the last when there is none. */
function oneToGo(work: Work, sites: readonly number[]): number {
  const bySize = sites.toSorted((a, b) => (work.bytes[b] as number) - (work.bytes[a] as number));
  const enough = bySize.slice(0, TRIES_MAX).find((site) =>
    fit(
      work,
      sites.filter((other) => other !== site),
    ),
  );
  return enough ?? (sites.at(-1) as number);
}

function fit(work: Work, sites: readonly number[]): boolean {
  const bytes = new Float64Array(work.count);
  for (const site of sites) bytes[site] = work.bytes[site] as number;
  return keepsDeadlines(work, bytes);
}
