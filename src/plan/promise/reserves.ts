/**
 * Time kept in reserve before deadlines: a plan must not finish a site at the last moment.
 *
 * An order of the shortest first uses all the time that a deadline leaves. So a crawl plans with
 * earlier targets. How much earlier is decided once per deadline, in seconds: as a share of the time
 * left it would shrink with every plan, and sites would change places for that alone. Where not all
 * targets can be kept, all of them are later by the same time, at most as late as their deadlines.
 *
 * Promises, each held by a test in `reserves.test.ts`:
 *   1. when all deadlines can be kept, so can the targets;
 *   2. what is left of a task that went as planned has the targets it had.
 */

import { isFeasible } from "../feasible/feasible.ts";
import type { PlanTask, SiteTask } from "../plan.ts";

/** A share of the time until the deadline, and some seconds for the last pages, which are slow. */
export interface Reserve {
  readonly share: number;
  readonly tailSeconds: number;
}

/** Where all sizes are configured, and every server slower than the line. */
const CONFIGURED: Reserve = { share: 0.05, tailSeconds: 0.8 };
const MEASURED_SERVERS: Reserve = { share: 0.1, tailSeconds: 1 };
const UNKNOWN_SIZES: Reserve = { share: 0.4, tailSeconds: 1 };
/** The tail's share of a short time. */
const TAIL_SHARE = 0.1;
/** Halvings of the time by which targets are later. */
const STEPS = 10;
/** Rounds up, so that a task that takes all the time still fits into it. */
const ROUNDED_UP = 1 + 1e-9;

export function reserveFor(configured: {
  readonly sizes: boolean;
  readonly servers: boolean;
}): Reserve {
  if (!configured.sizes) return UNKNOWN_SIZES;
  return configured.servers ? CONFIGURED : MEASURED_SERVERS;
}

export class Reserves {
  #secondsOf = new Map<string, number>();
  #reserve: Reserve | undefined;

  /** For a change of deadlines. */
  forget(): void {
    this.#secondsOf.clear();
  }

  /** The task with target deadlines; undefined when its deadlines cannot all be kept. */
  targetsOf(task: PlanTask, reserve: Reserve): PlanTask | undefined {
    if (this.#reserve !== reserve) this.forget();
    this.#reserve = reserve;
    for (const { key, deadlineSeconds } of task.sites)
      if (deadlineSeconds !== undefined && !this.#secondsOf.has(key))
        this.#secondsOf.set(key, secondsBefore(deadlineSeconds, reserve));
    const earliest = this.#later(task, 0);
    if (isFeasible(earliest)) return earliest;
    if (!isFeasible(task)) return undefined;
    let [least, most] = [0, Math.max(0, ...this.#secondsOf.values())];
    for (let step = 0; step < STEPS; step++) {
      const middle = (least + most) / 2;
      if (isFeasible(this.#later(task, middle))) most = middle;
      else least = middle;
    }
    return this.#later(task, most);
  }

  #later(task: PlanTask, bySeconds: number): PlanTask {
    const sites = task.sites.map((site) => {
      const { key, deadlineSeconds } = site;
      if (deadlineSeconds === undefined) return site;
      const reserve = Math.max(0, (this.#secondsOf.get(key) ?? 0) - bySeconds);
      const target = Math.max(deadlineSeconds - reserve, secondsAlone(task, site) * ROUNDED_UP);
      return { ...site, deadlineSeconds: Math.min(deadlineSeconds, target) };
    });
    return { ...task, sites };
  }
}

function secondsBefore(deadlineSeconds: number, { share, tailSeconds }: Reserve): number {
  return deadlineSeconds * share + Math.min(tailSeconds, deadlineSeconds * TAIL_SHARE);
}

/** The time that a site needs with the line to itself. */
export function secondsAlone(
  { rateBps, startupSeconds }: PlanTask,
  { bytes, capBps }: SiteTask,
): number {
  return startupSeconds + bytes / Math.min(rateBps, capBps);
}
