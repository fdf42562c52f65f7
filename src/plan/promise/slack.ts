/**
 * How a running crawl plans with a reserve: a plan must not finish a site at the last moment.
 *
 * The shortest-first order uses all the time that a deadline leaves. So deadlines are planned
 * earlier than they are, by as much of the remaining time as possible; and where not even all of it
 * is enough, all are extended alike before any is given up (decision 012).
 */

import { isFeasible } from "../feasible/feasible.ts";
import type { PlanTask, SiteTask } from "../plan.ts";

/**
 * A share of the time left, and at most this many seconds for a site's last pages, which are slow.
 */
export interface Slack {
  readonly share: number;
  readonly tailSeconds: number;
  /** Applies to these sites only; undefined: to all. */
  readonly only?: ReadonlySet<string>;
}

/**
 * The reserve, as a share of the time left: larger where a server slower than the line is known
 * only by measurement, largest where sizes were not given.
 */
const SLACK: Slack = { share: 0.05, tailSeconds: 0.8 };
const MEASURED_SLACK: Slack = { share: 0.1, tailSeconds: 1 };
const UNSAID_SLACK: Slack = { share: 0.4, tailSeconds: 1 };
/** A time shorter than this counts as over. */
export const PASSED_SECONDS = 0.1;
/** The tail's share of a short time. */
const TAIL_SHARE = 0.1;
const STEPS = 10;
/** Rounds up, so that a task that takes all the time still fits into it. */
const ROUNDED_UP = 1 + 1e-9;
/** Share of the time left that trial requests to servers may take. */
const TRIED_SHARE = 0.01;

/** The reserve, by whether all promised sizes were given, and all speeds below the line's. */
export function slackFor(said: { readonly sizes: boolean; readonly speeds: boolean }): Slack {
  if (!said.sizes) return UNSAID_SLACK;
  return said.speeds ? SLACK : MEASURED_SLACK;
}

/**
 * Moves deadlines earlier by a slack; a share below zero extends them, and needs no tail. None
 * becomes earlier than its site needs with the line to itself, so an impossible deadline costs the
 * others nothing.
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

/** The time that a site needs with the line to itself. */
export function secondsAlone(
  { rateBps, startupSeconds }: PlanTask,
  { bytes, capBps }: SiteTask,
): number {
  return startupSeconds + bytes / Math.min(rateBps, capBps);
}

/**
 * The largest slack, from the wanted one down to a least share, with which all deadlines can be
 * kept.
 */
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

/** Number of trial pages per server: all together take a small share of the time left. */
export function pagesToTry({ sites }: PlanTask, pageBytes: number, pagesMax: number): number {
  const promised = sites.filter(({ deadlineSeconds }) => deadlineSeconds !== undefined);
  const leftBytes = sites.reduce((sum, { bytes }) => sum + bytes, 0);
  const pages = Math.floor((TRIED_SHARE * leftBytes) / (promised.length * pageBytes || 1));
  return Math.min(pagesMax, Math.max(1, pages));
}
