/**
 * Asks the chosen algorithm for a plan, and says what it gives everybody now.
 *
 * An algorithm of the paper that finds no answer leaves the rate to `optimal`, and that is said once.
 * The mixed integer program is solved in a thread of its own, again whenever its answer does not know
 * all sites; until it has come `optimal` holds. Of its answer the batches are used: sizes change while
 * a crawl runs, and who is crawled with whom is what it decides.
 */

import { planByName } from "../../plan/papers/by-name.ts";
import { type OptimalPlan, planOptimal } from "../../plan/optimum/optimal.ts";
import { PLAN_SECONDS } from "../../plan/promise/rates-now.ts";
import { hasPlaces } from "../../plan/schedule/columns.ts";
import {
  type Allocation,
  figuresOf,
  type Objective,
  type Plan,
  type PlanTask,
  type Segment,
  type SitePlan,
} from "../../plan/plan.ts";
import type { CrawlContext } from "../context.ts";

/** For each site of the task, by its index. */
export interface Division {
  readonly ratesBps: readonly number[];
  readonly finishSeconds: readonly number[];
  readonly segments: readonly (readonly Segment[])[];
  /** In which leftover goes to them. */
  readonly order: readonly number[];
}

export type PlannerContext = Pick<CrawlContext, "clock" | "settings" | "log" | "emit">;

/** Time limit of the solver; the crawl continues meanwhile. */
const MIP_SECONDS_MAX = 60;
/**
 * Gain, as a share of the sum of finish times, for which the order of the last plan is left: sites
 * that are nearly equal must not change places with every estimate.
 */
const GAIN_SHARE = 0.02;
/** The same as a share of the first plan's sum: what is left becomes small towards the end. */
const GAIN_SHARE_OF_FIRST = 0.05;

export class PlanChooser {
  readonly #context: PlannerContext;
  #hasSaid = false;
  /** The sites in the order of the last plan, by their keys. */
  #order: readonly string[] = [];
  #gainSeconds = 0;
  /** The start of each site's interval, by its key. */
  #batches: ReadonlyMap<string, number> = new Map();
  /** The sites of the last question: without an answer for them, there is none for some of them either. */
  #asked: ReadonlySet<string> = new Set();
  #mipWhy = "it is being solved";
  #isSolving = false;

  constructor(context: PlannerContext) {
    this.#context = context;
  }

  /** Continues with the order of a published plan. */
  begin({ sites }: PlanTask, { plan, order }: OptimalPlan): void {
    const sum = sites.reduce(
      (total, { weight }, index) => total + weight * (plan.sites[index]?.finishSeconds ?? 0),
      0,
    );
    this.#gainSeconds = GAIN_SHARE_OF_FIRST * sum;
    this.#order = order.map((index) => sites[index]?.key ?? "");
  }

  forget(): void {
    this.#order = [];
  }

  divide(task: PlanTask): Division {
    const { algorithm, objective = "min-sum" } = this.#context.settings;
    if (task.sites.length === 0)
      return { ratesBps: [], finishSeconds: [], segments: [], order: [] };
    if (algorithm !== "optimal") {
      const allocation = algorithm === "mip" ? this.#byMip(task) : planByName(algorithm, task);
      if (allocation.kind === "planned")
        return divisionOf(allocation.plan, byFinish(allocation.plan));
      this.#say(`${algorithm} has no answer, optimal is used: ${allocation.why}`);
    }
    const { plan, order } = this.#steadyPlan(task, objective);
    this.#order = order.map((index) => task.sites[index]?.key ?? "");
    return divisionOf(plan, order);
  }

  #steadyPlan(task: PlanTask, objective: Objective): OptimalPlan {
    const fresh = planOptimal(task, objective);
    const indexes = new Map(task.sites.map(({ key }, index) => [key, index]));
    const order = this.#order.flatMap((key) => indexes.get(key) ?? []);
    if (order.length !== task.sites.length || hasPlaces(task)) return fresh;
    const steady = planOptimal(task, objective, order);
    const sumOf = ({ plan }: OptimalPlan): number => figuresOf(task, plan).weightedSumSeconds;
    const gain = sumOf(steady) - sumOf(fresh);
    const isWorth = gain > Math.max(this.#gainSeconds, GAIN_SHARE * sumOf(steady));
    return isWorth || steady.late.length > fresh.late.length ? fresh : steady;
  }

  #byMip(task: PlanTask): Allocation {
    const knowsAll = task.sites.every(({ key }) => this.#batches.has(key));
    const wasAsked = task.sites.every(({ key }) => this.#asked.has(key));
    if (!wasAsked && !this.#isSolving)
      this.#solve(task).catch((fault: unknown) => this.#context.emit({ kind: "fault", fault }));
    if (!knowsAll) return { kind: "impossible", why: this.#mipWhy };
    return { kind: "planned", plan: inBatches(task, this.#batches) };
  }

  async #solve(task: PlanTask): Promise<void> {
    this.#isSolving = true;
    this.#asked = new Set(task.sites.map(({ key }) => key));
    const { solveMip } = await import("../../solver/solve-mip.ts");
    const { allocation } = await solveMip(task, { secondsMax: MIP_SECONDS_MAX });
    this.#isSolving = false;
    if (allocation.kind === "impossible") this.#mipWhy = allocation.why;
    else
      this.#batches = new Map(
        allocation.plan.sites.map(({ key, segments: [first] }) => [key, first?.fromSeconds ?? 0]),
      );
  }

  #say(message: string): void {
    if (this.#hasSaid) return;
    this.#hasSaid = true;
    this.#context.log.write({ level: "warn", message, values: {} });
  }
}

/** Batch after batch, each with the whole rate, divided by what its sites have left. */
function inBatches(task: PlanTask, batches: ReadonlyMap<string, number>): Plan {
  const wholeBytes = new Map<number, number>();
  for (const { key, bytes } of task.sites) {
    const batch = batches.get(key) ?? Infinity;
    wholeBytes.set(batch, (wholeBytes.get(batch) ?? 0) + bytes);
  }
  const spans = new Map<number, { readonly fromSeconds: number; readonly toSeconds: number }>();
  let fromSeconds = 0;
  for (const [batch, bytes] of [...wholeBytes].sort(([a], [b]) => a - b)) {
    const toSeconds = fromSeconds + bytes / task.rateBps;
    spans.set(batch, { fromSeconds, toSeconds });
    fromSeconds = toSeconds;
  }
  return {
    sites: task.sites.map(({ key, bytes }) => {
      const span = spans.get(batches.get(key) ?? Infinity) ?? { fromSeconds: 0, toSeconds: 0 };
      const rateBps = bytes / (span.toSeconds - span.fromSeconds);
      return { key, segments: [{ ...span, rateBps }], finishSeconds: span.toSeconds };
    }),
  };
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
    segments: sites.map(({ segments }) => segments),
    order,
  };
}

/** What a site gets on average until there is a new plan, or it is done. */
function rateSoon({ segments, finishSeconds }: SitePlan): number {
  const seconds = Math.min(PLAN_SECONDS, finishSeconds);
  let bytes = 0;
  for (const { fromSeconds, toSeconds, rateBps } of segments)
    bytes += rateBps * Math.max(0, Math.min(seconds, toSeconds) - fromSeconds);
  return seconds > 0 ? bytes / seconds : 0;
}
