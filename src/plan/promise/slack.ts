/**
 * How a running crawl plans with care: a plan's last moment is no place for a promise.
 *
 * The shortest-first order uses up whatever time a deadline leaves. So deadlines are planned earlier
 * than they are, by as much of the time left as can be had; and where not even all of it is enough, they are
 * stretched alike before anybody is given up (decision 012).
 */

import { isFeasible } from "../feasible/feasible.ts";
import type { PlanTask, SiteTask } from "../plan.ts";

/** A part of the time left, and so many seconds at most for a site's last pages, which come slowly. */
export interface Slack {
  readonly share: number;
  readonly tailSeconds: number;
  /** Deadlines of these sites only; undefined: of all. */
  readonly only?: ReadonlySet<string>;
}

/**
 * What is kept in hand of the time left, if it can be: more where a server that is too slow for the
 * line is known only by measuring it, and most where sizes were not said.
 */
const SLACK: Slack = { share: 0.05, tailSeconds: 0.8 };
const MEASURED_SLACK: Slack = { share: 0.1, tailSeconds: 1 };
const UNSAID_SLACK: Slack = { share: 0.4, tailSeconds: 1 };
/** Less time than this is none. */
export const PASSED_SECONDS = 0.1;
/** Of a short time, the tail is this part. */
const TAIL_SHARE = 0.1;
const STEPS = 10;
/** So that what takes all the time there is still fits into it. */
const ROUNDED_UP = 1 + 1e-9;
/** What trying servers may take of all that is left. */
const TRIED_SHARE = 0.01;

/** How much to keep in hand, by whether all promised sizes were said, and all speeds below the line's. */
export function slackFor(said: { readonly sizes: boolean; readonly speeds: boolean }): Slack {
  if (!said.sizes) return UNSAID_SLACK;
  return said.speeds ? SLACK : MEASURED_SLACK;
}

/**
 * Deadlines earlier by a slack; a share below zero stretches them, and needs no tail. None is earlier than what
 * its site needs with the line to itself: one that is out of reach costs the others nothing of theirs.
 */
export function withSlack(task: PlanTask, { share, tailSeconds, only }: Slack): PlanTask {
  const sites = task.sites.map((site) => {
    const { key, deadlineSeconds } = site;
    if (deadlineSeconds === undefined || only?.has(key) === false) return site;
    const tail = share > 0 ? Math.min(tailSeconds, deadlineSeconds * TAIL_SHARE) : 0;
    const wantedSeconds = deadlineSeconds * (1 - share) - tail;
    return {
      ...site,
      deadlineSeconds: Math.max(wantedSeconds, secondsAlone(task, site) * ROUNDED_UP),
    };
  });
  return { ...task, sites };
}

/** What a site needs with the line to itself. */
export function secondsAlone(
  { rateBps, startupSeconds }: PlanTask,
  { bytes, capBps }: SiteTask,
): number {
  return startupSeconds + bytes / Math.min(rateBps, capBps);
}

/** The largest slack, down from the one wanted to a least share, with which all deadlines can be kept. */
export function mostSlack(task: PlanTask, wanted: Slack, leastShare: number): Slack | undefined {
  const isEnough = (share: number): boolean => isFeasible(withSlack(task, { ...wanted, share }));
  if (isEnough(wanted.share)) return wanted;
  if (!isEnough(leastShare)) return undefined;
  let least = leastShare;
  let most = wanted.share;
  for (let step = 0; step < STEPS; step++) {
    const middle = (least + most) / 2;
    if (isEnough(middle)) least = middle;
    else most = middle;
  }
  return { ...wanted, share: least };
}

/** How many pages are asked of each server to try it: all together a small part of what is left. */
export function pagesToTry({ sites }: PlanTask, pageBytes: number, pagesMax: number): number {
  const promised = sites.filter(({ deadlineSeconds }) => deadlineSeconds !== undefined);
  const leftBytes = sites.reduce((sum, { bytes }) => sum + bytes, 0);
  const pages = Math.floor((TRIED_SHARE * leftBytes) / (promised.length * pageBytes || 1));
  return Math.min(pagesMax, Math.max(1, pages));
}
