/**
 * Divides the rate so that promises are kept: how early deadlines are aimed at, and who is given up when not all can be kept.
 *
 * It begins with the plan that is told beforehand (`plan/promise/first-plan.ts`), and as long as all deadlines can be kept goes on
 * with what that kept in hand (`plan/promise/early-targets.ts`). Decision 012 says why.
 */

import { Aims } from "../../plan/promise/early-targets.ts";
import { planBeforehand } from "../../plan/promise/first-plan.ts";
import {
  mostSlack,
  PASSED_SECONDS,
  secondsAlone,
  type Slack,
  slackFor,
  withSlack,
} from "../../plan/promise/slack.ts";
import { withKeptDeadlines } from "../../plan/feasible/give-up.ts";
import { isLate, type PlanTask, type SiteTask, withoutDeadlines } from "../../plan/plan.ts";
import { hasPlaces } from "../../plan/schedule/columns.ts";
import { type Division, PlanChooser, type PlannerContext } from "./choose-plan.ts";
import type { Estimates } from "./estimate-sites.ts";
import type { Deadlines } from "./deadlines.ts";
import type { Site } from "../site.ts";

/** How far deadlines of sites of unknown size are stretched, at most: to four times their time. */
const DOUBT_SHARE = -3;
/** Nobody is given up for less than this part of the time left: what servers give is not known better. */
const NOISE_SHARE = -0.1;

/** A division of the rate, and what it rests on. */
export interface Divided {
  readonly task: PlanTask;
  readonly division: Division;
}

export class CautiousPlanner {
  readonly #context: PlannerContext;
  readonly #deadlines: Deadlines;
  readonly #estimates: Estimates;
  readonly #chooser: PlanChooser;
  readonly #aims = new Aims();
  /** No plan has been reported since the promises changed. */
  #isUnreported = true;
  #hasBegun = false;
  #toldAtMs = 0;
  /** Whether there was a plan of what is deadlines now. */
  #hasPlanned = false;
  /** Sites whose deadline is out of reach: they never delay those that can be in time. */
  #givenUp: ReadonlySet<string> = new Set();

  constructor(context: PlannerContext, deadlines: Deadlines, estimates: Estimates) {
    this.#context = context;
    this.#deadlines = deadlines;
    this.#estimates = estimates;
    this.#chooser = new PlanChooser(context);
  }

  /** What was deadlines has changed. */
  changed(): void {
    this.#aims.forget();
    this.#isUnreported = true;
    this.#hasPlanned = false;
  }

  /** Servers are as slow as they may be if all can be in time even so, and else as fast as they may be. */
  divide(sites: readonly Site[]): Divided {
    const { settings } = this.#context;
    const estimates = this.#estimates;
    const hopeful = estimates.taskOf(sites, "hope");
    // The paper's algorithms are for comparison, and know of no such care.
    if (settings.algorithm !== "optimal")
      return { task: hopeful, division: this.#chooser.divide(hopeful) };
    const careful = estimates.taskOf(sites, "care");
    this.#giveUp(hopeful, sites);
    const open = this.#withoutGivenUp(careful);
    const wanted = this.#slackFor(careful, sites);
    const inTime = this.#divideAsAimed(open, wanted, sites) ?? this.#divideInTime(open, wanted, 0);
    this.#hasPlanned = true;
    if (inTime !== undefined) return { task: careful, division: inTime };
    const division = this.#divideWithHope(this.#withoutGivenUp(hopeful), sites);
    return { task: hopeful, division };
  }

  /** With what was once decided to be kept in hand; undefined where sizes are not known, or somebody would be late. */
  #divideAsAimed(task: PlanTask, wanted: Slack, sites: readonly Site[]): Division | undefined {
    if (sites.length === 0 || hasPlaces(task)) return undefined;
    if (sites.some((site) => this.#estimates.isUnsaid(site))) return undefined;
    if (!this.#aims.knows(task, wanted)) this.#decide(task, wanted, sites);
    else this.#raise(task, wanted);
    // Where not all could be kept nothing was decided.
    if (!this.#aims.knows(task, wanted)) return undefined;
    const [first, ...others] = this.#aims.of(task);
    if (first === undefined) return undefined;
    const sinceToldMs = this.#context.clock.nowMs() - this.#toldAtMs;
    return this.#chooser.divideAsTold([first, ...others], sinceToldMs / 1000);
  }

  /** Where sizes were said too large, little could be kept in hand at first. */
  #raise(task: PlanTask, wanted: Slack): void {
    const slack = mostSlack(task, wanted, 0);
    if (slack !== undefined) this.#aims.raise(task, withSlack(task, slack));
  }

  /** At first just what is told beforehand, so that the crawl begins with that plan and no other. */
  #decide(task: PlanTask, wanted: Slack, sites: readonly Site[]): void {
    const { settings } = this.#context;
    const estimates = this.#estimates;
    if (!this.#isUnreported) {
      const slack = mostSlack(task, wanted, 0);
      if (slack !== undefined) this.#aims.decide(task, withSlack(task, slack), wanted);
      return;
    }
    this.#isUnreported = false;
    const now = this.#hasBegun ? task : estimates.toldTask(sites);
    this.#hasBegun = true;
    const told = planBeforehand(now, wanted, settings.objective ?? "min-sum");
    if (told.aims !== now) this.#aims.decide(now, told.aims, wanted);
    this.#chooser.begin(now, told);
    this.#toldAtMs = this.#context.clock.nowMs();
  }

  /**
   * Keeps a part of the time in hand, as much of it as there is. Nobody is given up for bytes that nobody has
   * seen: deadlines of sites whose size was not said are stretched alike, as little as will do. Sizes that were said
   * are believed: as few of these sites as possible are given up, and take what the others leave.
   */
  #divideWithHope(task: PlanTask, sites: readonly Site[]): Division {
    const wanted = this.#slackFor(task, sites);
    const division =
      this.#divideInTime(task, wanted, NOISE_SHARE) ?? this.#divideInDoubt(task, wanted, sites);
    if (division !== undefined) return division;
    const kept = withKeptDeadlines(task);
    return this.#divideInTime(kept, wanted, 0) ?? this.#chooser.divide(kept);
  }

  /** Undefined where every size was said, or no stretching is enough. */
  #divideInDoubt(task: PlanTask, wanted: Slack, sites: readonly Site[]): Division | undefined {
    const inDoubt = new Set<string>();
    for (const [index, { key, bytes }] of task.sites.entries())
      if (this.#estimates.isInDoubt(sites[index] as Site, bytes)) inDoubt.add(key);
    if (inDoubt.size === 0) return undefined;
    const firm = withKeptDeadlines(withoutDeadlines(task, ({ key }) => inDoubt.has(key)));
    const aims = withSlack(firm, mostSlack(firm, wanted, 0) ?? { share: 0, tailSeconds: 0 });
    const all = aims.sites.map((site, index) =>
      inDoubt.has(site.key) ? (task.sites[index] as SiteTask) : site,
    );
    const stretching: Slack = { share: 0, tailSeconds: 0, only: inDoubt };
    return this.#divideInTime({ ...task, sites: all }, stretching, DOUBT_SHARE);
  }

  #withoutGivenUp(task: PlanTask): PlanTask {
    return withoutDeadlines(task, ({ key }) => this.#givenUp.has(key));
  }

  /**
   * Gives up deadlines that have passed, and those that a site would miss with the line to itself, or by its delay
   * alone. Before anything has come, sizes that were said are all there is to go by; later, what servers give is not known so well that a
   * site would be given up for a moment, or taken back for one.
   */
  #giveUp(task: PlanTask, sites: readonly Site[]): void {
    const estimates = this.#estimates;
    const givenUp = new Set<string>();
    for (const [index, own] of task.sites.entries()) {
      const { key, bytes, deadlineSeconds = Infinity } = own;
      const isFirm = !this.#hasPlanned || this.#givenUp.has(key);
      const seconds = isFirm ? deadlineSeconds : deadlineSeconds * (1 - NOISE_SHARE);
      const isPassed = deadlineSeconds < PASSED_SECONDS;
      const site = sites[index] as Site;
      const isTooMany = estimates.secondsKnown(site) > seconds;
      const isTooMuch = !estimates.isInDoubt(site, bytes) && secondsAlone(task, own) > seconds;
      if (isPassed || isTooMany || isTooMuch) givenUp.add(key);
    }
    this.#givenUp = givenUp;
  }

  #slackFor(task: PlanTask, sites: readonly Site[]): Slack {
    const estimates = this.#estimates;
    const deadlines = this.#deadlines;
    return slackFor({
      sizes: !sites.some((site) => estimates.isUnsaid(site)),
      speeds: !task.sites.some(
        ({ key, capBps, deadlineSeconds }) =>
          deadlineSeconds !== undefined &&
          capBps < task.rateBps &&
          (deadlines.saidOf(key)?.capBps ?? deadlines.saidOf(key)?.limitBps) === undefined,
      ),
    });
  }

  /** With as much in hand as there is; undefined when the least share is still too much. */
  #divideInTime(task: PlanTask, wanted: Slack, leastShare: number): Division | undefined {
    const slack = mostSlack(task, wanted, leastShare);
    if (slack === undefined) return undefined;
    // With places and least rates a plan may need more than what is feasible without them.
    for (const share of [slack.share, leastShare]) {
      const cautious = withSlack(task, { ...slack, share });
      const division = this.#chooser.divide(cautious);
      const isKept = cautious.sites.every(
        (site, index) => !isLate(site, division.finishSeconds[index] ?? 0),
      );
      if (isKept) return division;
    }
    return undefined;
  }
}
