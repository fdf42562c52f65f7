/**
 * Asks the chosen algorithm for a plan, and says what it gives everybody now.
 *
 * An algorithm of the paper that finds no answer leaves the rate to `optimal`, and that is said once.
 * The mixed integer program is solved in a thread of its own: until its answer has come, and when it
 * has grown old, `optimal` holds.
 */

import type { Log } from "../base/log.ts";
import type { Settings } from "../config/schema.ts";
import { unreachable } from "../base/assert.ts";
import { planCpq } from "../plan/cpq.ts";
import { planMMaxt } from "../plan/m-maxt.ts";
import { planMSumt } from "../plan/m-sumt.ts";
import { planOptimal } from "../plan/optimal.ts";
import type { Allocation, Plan, PlanTask, SitePlan } from "../plan/plan.ts";

/** For each site of the task, by its index. */
export interface Division {
  readonly ratesBps: readonly number[];
  readonly finishSeconds: readonly number[];
  /** In which leftover goes to them. */
  readonly order: readonly number[];
}

/** With more sites than this the order is not improved by trying. */
const SITES_TO_TRY_MAX = 1000;
/** Plans are made again after this time. */
const SOON_SECONDS = 2;

export class Divider {
  readonly #settings: Settings;
  readonly #log: Log;
  #hasSaid = false;

  constructor(settings: Settings, log: Log) {
    this.#settings = settings;
    this.#log = log;
  }

  divide(task: PlanTask): Division {
    const { objective = "min-sum", algorithm } = this.#settings;
    if (task.sites.length === 0) return { ratesBps: [], finishSeconds: [], order: [] };
    if (algorithm !== "optimal" && algorithm !== "mip") {
      const allocation = byPaper(algorithm, task);
      if (allocation.kind === "planned")
        return divisionOf(allocation.plan, byFinish(allocation.plan));
      this.#say(`${algorithm} has no answer, optimal is used: ${allocation.why}`);
    }
    const effort = task.sites.length > SITES_TO_TRY_MAX ? "quick" : "full";
    const { plan, order } = planOptimal(task, objective, effort);
    return divisionOf(plan, order);
  }

  #say(message: string): void {
    if (this.#hasSaid) return;
    this.#hasSaid = true;
    this.#log.write({ level: "warn", message, values: {} });
  }
}

function byPaper(algorithm: "m-maxt" | "m-sumt" | "cpq", task: PlanTask): Allocation {
  switch (algorithm) {
    case "m-maxt":
      return planMMaxt(task);
    case "m-sumt":
      return planMSumt(task);
    case "cpq":
      return planCpq(task);
    default:
      return unreachable(algorithm);
  }
}

function byFinish({ sites }: Plan): number[] {
  return [...sites.keys()].sort(
    (a, b) => (sites[a]?.finishSeconds ?? 0) - (sites[b]?.finishSeconds ?? 0),
  );
}

function divisionOf({ sites }: Plan, order: readonly number[]): Division {
  return {
    ratesBps: sites.map(rateSoon),
    finishSeconds: sites.map(({ finishSeconds }) => finishSeconds),
    order,
  };
}

/** What a site gets on average until there is a new plan, or it is done. */
function rateSoon({ segments, finishSeconds }: SitePlan): number {
  const seconds = Math.min(SOON_SECONDS, finishSeconds);
  let bytes = 0;
  for (const { fromSeconds, toSeconds, rateBps } of segments)
    bytes += rateBps * Math.max(0, Math.min(seconds, toSeconds) - fromSeconds);
  return seconds > 0 ? bytes / seconds : 0;
}
