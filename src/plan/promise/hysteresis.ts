/**
 * Successive plans. Each keeps the order of the first plan, or of the previous one, unless another
 * is clearly better: sites that are nearly equal must not change places all the time. If the first
 * order had to be left because a site seemed larger than it is, later plans return to it. And where
 * several target deadlines are possible, those are used whose finish times are nearest to the first
 * plan.
 */

import { type Incumbent, type OptimalPlan, planOptimal } from "../optimum/optimal.ts";
import { figuresOf, type Objective, type PlanTask } from "../plan.ts";

/** Seconds between plans. */
export const PLAN_SECONDS = 2;
/**
 * Gain, as a share of the sum, for which the first plan's order is left; less where it could not
 * keep all its promises.
 */
const GAIN_SHARE = 0.05;
const GAIN_SHARE_LATE = 0.02;
/** Difference to the first plan, in seconds, below which no other targets are tried. */
const NEAR_SECONDS = 0.1;
/**
 * Sites above which the order is not improved by local search, because the crawl is blocked
 * meanwhile.
 */
const SITES_TO_TRY_MAX = 20;

export class SteadyPlanner {
  readonly #objective: Objective;
  /** The sites in the order of the first plan and in that of the last one, by their keys. */
  #told: readonly string[] = [];
  #last: readonly string[] = [];
  #gainSeconds = 0;
  /** Finish times of the first plan. */
  #toldSeconds: ReadonlyMap<string, number> = new Map();

  constructor(objective: Objective) {
    this.#objective = objective;
  }

  /** Continues from a published plan; its order is left only for a gain of the whole. */
  begin(task: PlanTask, { plan, order, feasible }: OptimalPlan): void {
    const { maxSeconds, weightedSumSeconds } = figuresOf(task, plan);
    const wholeSeconds = this.#objective === "min-sum" ? weightedSumSeconds : maxSeconds;
    this.#gainSeconds = (feasible ? GAIN_SHARE : GAIN_SHARE_LATE) * wholeSeconds;
    this.#told = keysIn(task, order);
    this.#toldSeconds = new Map(plan.sites.map(({ key, finishSeconds }) => [key, finishSeconds]));
  }

  /** Plans tasks that differ only in their deadlines, this long after the first plan. */
  plan(tasks: readonly [PlanTask, ...PlanTask[]], sinceToldSeconds = 0): OptimalPlan {
    let nearest = this.#plan(tasks[0]);
    let offSeconds = this.#offTold(nearest, sinceToldSeconds);
    for (const task of tasks.slice(1)) {
      if (offSeconds <= NEAR_SECONDS) break;
      const planned = this.#plan(task);
      const off = this.#offTold(planned, sinceToldSeconds);
      if (off < offSeconds) [nearest, offSeconds] = [planned, off];
    }
    this.#last = keysIn(tasks[0], nearest.order);
    return nearest;
  }

  /** The greatest difference of a finish time to the first plan. */
  #offTold({ plan }: OptimalPlan, sinceToldSeconds: number): number {
    let worstSeconds = 0;
    for (const { key, finishSeconds } of plan.sites) {
      const toldSeconds = this.#toldSeconds.get(key);
      if (toldSeconds === undefined) continue;
      const offSeconds = Math.abs(sinceToldSeconds + finishSeconds - toldSeconds);
      worstSeconds = Math.max(worstSeconds, offSeconds);
    }
    return worstSeconds;
  }

  #plan(task: PlanTask): OptimalPlan {
    const effort = task.sites.length > SITES_TO_TRY_MAX ? "quick" : "full";
    const before = [
      ...incumbentIn(task, this.#told, this.#gainSeconds),
      ...incumbentIn(task, this.#last, 0),
    ];
    return planOptimal(task, this.#objective, effort, before);
  }
}

/** An earlier order, if it contains all the sites of this task. */
function incumbentIn(
  { sites }: PlanTask,
  keys: readonly string[],
  gainSeconds: number,
): Incumbent[] {
  const indexes = new Map(sites.map(({ key }, index) => [key, index]));
  const order = keys.flatMap((key) => indexes.get(key) ?? []);
  return order.length === sites.length ? [{ order, gainSeconds }] : [];
}

function keysIn({ sites }: PlanTask, order: readonly number[]): string[] {
  return order.map((index) => sites[index]?.key ?? "");
}
