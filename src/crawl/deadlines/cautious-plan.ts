/**
 * Plans with reserves before deadlines, and drops the deadlines that cannot be kept.
 *
 * The first plan is the published one (`plan/promise/first-plan.ts`). Servers are assumed to be as
 * slow as they may be if all deadlines can be kept even so, else as fast as they may be, so that no
 * site starts too late and none is dropped too early. Decisions 012, 024 and 032 say why.
 */

import { type Verdict, verdictsOf } from "../../plan/promise/certainty.ts";
import type { OptimalPlan } from "../../plan/optimum/optimal.ts";
import { planFirst } from "../../plan/promise/first-plan.ts";
import { type Reserve, Reserves, reserveFor, secondsAlone } from "../../plan/promise/reserves.ts";
import { withKeptDeadlines } from "../../plan/feasible/give-up.ts";
import { type PlanTask, withoutDeadlines } from "../../plan/plan.ts";
import { type Division, PlanChooser, type PlannerContext } from "./choose-plan.ts";
import type { Estimates } from "./estimate-sites.ts";
import type { Deadlines } from "./deadlines.ts";
import type { Promised } from "./stored-promises.ts";
import type { Site } from "../site.ts";

/** A deadline that is closer counts as passed, in seconds. */
export const PASSED_SECONDS = 0.1;
/** Share of the time left by which a site must be late to be dropped: rates are not known better. */
const NOISE_SHARE = 0.1;

/** Lowers the priority of a deadline below all configured ones. */
const UNKNOWN_WEIGHT = 1e-6;

/** A division of the rate, and the task that it answers. */
export interface Divided {
  readonly task: PlanTask;
  readonly division: Division;
}

export class CautiousPlanner {
  readonly #context: PlannerContext;
  readonly #deadlines: Deadlines;
  readonly #estimates: Estimates;
  readonly #chooser: PlanChooser;
  readonly #reserves = new Reserves();
  #hasPlanned = false;
  #verdicts = new Map<number, Verdict>();
  /** Sites whose own delay or size makes their deadline impossible: they never delay others. */
  #dropped: ReadonlySet<string> = new Set();

  constructor(context: PlannerContext, deadlines: Deadlines, estimates: Estimates) {
    this.#context = context;
    this.#deadlines = deadlines;
    this.#estimates = estimates;
    this.#chooser = new PlanChooser(context);
  }

  /** A deadline or a priority has changed. */
  changed(): void {
    this.#reserves.forget();
    this.#chooser.forget();
    this.#hasPlanned = false;
  }

  divide(sites: readonly Site[]): Divided {
    const { settings } = this.#context;
    const hopeful = this.#estimates.taskOf(sites, "hope");
    // The paper's algorithms are for comparison and keep no reserves.
    if (settings.algorithm !== "optimal")
      return { task: hopeful, division: this.#chooser.divide(hopeful) };
    this.#drop(hopeful, sites);
    const reserve = this.#reserveFor(hopeful, sites);
    this.#begin(sites, reserve);
    for (const task of [this.#estimates.taskOf(sites, "care"), hopeful]) {
      const targets = this.#reserves.targetsOf(this.#withoutDropped(task), reserve);
      if (targets !== undefined) return { task, division: this.#chooser.divide(targets) };
    }
    const kept = this.#kept(this.#withoutDropped(hopeful), sites);
    const targets = this.#reserves.targetsOf(kept, reserve) ?? kept;
    return { task: hopeful, division: this.#chooser.divide(targets) };
  }

  /** The order of the published plan, so that the crawl starts with it. */
  #begin(sites: readonly Site[], reserve: Reserve): void {
    if (this.#hasPlanned) return;
    this.#hasPlanned = true;
    const { objective = "min-sum" } = this.#context.settings;
    const task = this.#estimates.toldTask(sites);
    const first = planFirst(task, reserve, objective, this.#reserves);
    this.#chooser.begin(task, first);
    this.#promise(sites, task, first);
  }

  /** The deadlines of sites of unknown size are the first to be dropped. */
  #kept(task: PlanTask, sites: readonly Site[]): PlanTask {
    const ranked = task.sites.map((site, index) =>
      this.#estimates.isInDoubt(sites[index] as Site, site.bytes)
        ? { ...site, weight: site.weight * UNKNOWN_WEIGHT }
        : site,
    );
    const kept = withKeptDeadlines({ ...task, sites: ranked });
    return withoutDeadlines(task, (_, index) => kept.sites[index]?.deadlineSeconds === undefined);
  }

  /** How certain each deadline is by the published plan; stored for as long as the crawl. */
  #promise(sites: readonly Site[], task: PlanTask, { plan }: OptimalPlan): void {
    const finishes = plan.sites.map(({ finishSeconds }) => finishSeconds);
    const evidence = { sites: this.#estimates.evidenceOf(sites), isLineMeasured: false };
    this.#verdicts = new Map();
    const promises = new Map<Site, Promised>();
    for (const [index, verdict] of verdictsOf(task, finishes, evidence).entries()) {
      const site = sites[index] as Site;
      if (verdict === undefined) continue;
      this.#verdicts.set(site.id, verdict);
      const finishMs = 1000 * (finishes[index] as number);
      promises.set(site, { certainty: verdict.certainty, finishMs });
    }
    this.#deadlines.promise(promises);
  }

  /** By site, from the first plan. */
  get verdicts(): ReadonlyMap<number, Verdict> {
    return this.#verdicts;
  }

  #withoutDropped(task: PlanTask): PlanTask {
    return withoutDeadlines(task, ({ key }) => this.#dropped.has(key));
  }

  /**
   * Drops deadlines that have passed, and those that a site would miss with the line to itself, or
   * by its delay alone. Before anything has been received, configured sizes decide.
   */
  #drop(task: PlanTask, sites: readonly Site[]): void {
    const estimates = this.#estimates;
    const dropped = new Set<string>();
    for (const [index, own] of task.sites.entries()) {
      const { key, bytes, deadlineSeconds = Infinity } = own;
      const isFirm = !this.#hasPlanned || this.#dropped.has(key);
      const seconds = isFirm ? deadlineSeconds : deadlineSeconds * (1 + NOISE_SHARE);
      const isPassed = deadlineSeconds < PASSED_SECONDS;
      const site = sites[index] as Site;
      const isTooMany = estimates.secondsKnown(site) > seconds;
      const isTooMuch = !estimates.isInDoubt(site, bytes) && secondsAlone(task, own) > seconds;
      if (isPassed || isTooMany || isTooMuch) dropped.add(key);
    }
    this.#dropped = dropped;
  }

  #reserveFor(task: PlanTask, sites: readonly Site[]): Reserve {
    const estimates = this.#estimates;
    const deadlines = this.#deadlines;
    return reserveFor({
      sizes: !sites.some((site) => estimates.isUnsaid(site)),
      servers: !task.sites.some(
        ({ key, capBps, deadlineSeconds }) =>
          deadlineSeconds !== undefined &&
          capBps < task.rateBps &&
          (deadlines.saidOf(key)?.capBps ?? deadlines.saidOf(key)?.limitBps) === undefined,
      ),
    });
  }
}
