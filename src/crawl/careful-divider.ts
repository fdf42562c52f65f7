/**
 * Divides the rate so that promises are kept: how early deadlines are aimed at, and who is given up when not all can be kept.
 *
 * It begins with the plan that is told beforehand (`plan/beforehand.ts`), and as long as all deadlines can be kept goes on
 * with what that kept in hand (`plan/aims.ts`). Decision 012 says why.
 */

import type { Clock } from "../base/clock.ts";
import type { Settings } from "../config/schema.ts";
import { Aims } from "../plan/aims.ts";
import { planBeforehand } from "../plan/beforehand.ts";
import {
  mostSlack,
  PASSED_SECONDS,
  secondsAlone,
  type Slack,
  slackFor,
  withoutHope,
  withoutPassed,
  withSlack,
} from "../plan/caution.ts";
import { isLate, type PlanTask } from "../plan/plan.ts";
import { hasPlaces } from "../plan/work.ts";
import { type Division, Divider, type DividerParts } from "./divider.ts";
import type { Outlook } from "./outlook.ts";
import type { Promised } from "./promised.ts";
import type { Site } from "./roster.ts";

/** How far all deadlines are stretched while sizes may be wrong, at most: to four times their time. */
const DOUBT_SHARE = -3;
/** Nobody is given up for less than this part of the time left: what servers give is not known better. */
const NOISE_SHARE = -0.1;

/** A division of the rate, and what it rests on. */
export interface Divided {
  readonly task: PlanTask;
  readonly division: Division;
}

export interface CarefulDividerParts extends DividerParts {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly promised: Promised;
  readonly outlook: Outlook;
}

export class CarefulDivider {
  readonly #parts: CarefulDividerParts;
  readonly #divider: Divider;
  readonly #aims = new Aims();
  /** Nothing was told yet of what is promised now. */
  #isToldAnew = true;
  #hasBegun = false;
  #toldAtMs = 0;

  constructor(parts: CarefulDividerParts) {
    this.#parts = parts;
    this.#divider = new Divider(parts);
  }

  /** What was promised has changed. */
  changed(): void {
    this.#aims.forget();
    this.#isToldAnew = true;
  }

  /** Servers are as slow as they may be if all can be in time even so, and else as fast as they may be. */
  divide(sites: readonly Site[]): Divided {
    const { outlook, settings } = this.#parts;
    const hopeful = outlook.taskOf(sites, "hope");
    // The paper's algorithms are for comparison, and know of no such care.
    if (settings.algorithm !== "optimal")
      return { task: hopeful, division: this.#divider.divide(hopeful) };
    const careful = outlook.taskOf(sites, "care");
    const hopeless = this.#hopelessOf(hopeful, sites);
    const open = withoutHope(careful, ({ key }) => hopeless.has(key));
    const wanted = this.#slackFor(careful, sites);
    const inTime = this.#divideAsAimed(open, wanted, sites) ?? this.#divideInTime(open, wanted, 0);
    if (inTime !== undefined) return { task: careful, division: inTime };
    return { task: hopeful, division: this.#divideWithHope(hopeful, sites) };
  }

  /** With what was once decided to be kept in hand; undefined where sizes are not known, or somebody would be late. */
  #divideAsAimed(task: PlanTask, wanted: Slack, sites: readonly Site[]): Division | undefined {
    if (sites.length === 0 || hasPlaces(task)) return undefined;
    if (sites.some((site) => this.#parts.outlook.isUnsaid(site))) return undefined;
    if (!this.#aims.knows(task, wanted)) this.#decide(task, wanted, sites);
    else this.#raise(task, wanted);
    // Where not all could be kept nothing was decided.
    if (!this.#aims.knows(task, wanted)) return undefined;
    const [first, ...others] = this.#aims.of(task);
    if (first === undefined) return undefined;
    const sinceToldMs = this.#parts.clock.nowMs() - this.#toldAtMs;
    return this.#divider.divideAsTold([first, ...others], sinceToldMs / 1000);
  }

  /** Where sizes were said too large, little could be kept in hand at first. */
  #raise(task: PlanTask, wanted: Slack): void {
    const slack = mostSlack(task, wanted, 0);
    if (slack !== undefined) this.#aims.raise(task, withSlack(task, slack));
  }

  /** At first just what is told beforehand, so that the crawl begins with that plan and no other. */
  #decide(task: PlanTask, wanted: Slack, sites: readonly Site[]): void {
    const { outlook, settings } = this.#parts;
    if (!this.#isToldAnew) {
      const slack = mostSlack(task, wanted, 0);
      if (slack !== undefined) this.#aims.decide(task, withSlack(task, slack), wanted);
      return;
    }
    this.#isToldAnew = false;
    const now = this.#hasBegun ? task : outlook.toldTask(sites);
    this.#hasBegun = true;
    const told = planBeforehand(now, wanted, settings.objective ?? "min-sum");
    if (told.aims !== now) this.#aims.decide(now, told.aims, wanted);
    this.#divider.begin(now, told);
    this.#toldAtMs = this.#parts.clock.nowMs();
  }

  /**
   * Keeps a part of the time in hand, as much of it as there is. Nobody is given up for bytes that
   * nobody has seen: while sizes are only said or foreseen, all deadlines are stretched alike
   * instead, as little as will do. Who cannot be in time counts more, to be done soon, and no longer
   * takes from what the others have in hand.
   */
  #divideWithHope(task: PlanTask, sites: readonly Site[]): Division {
    const { outlook } = this.#parts;
    const isInDoubt = sites.some((site, index) =>
      outlook.isInDoubt(site, task.sites[index]?.bytes ?? 0),
    );
    const wanted = this.#slackFor(task, sites);
    const open = withoutPassed(task);
    const kept = this.#divideInTime(open, wanted, isInDoubt ? DOUBT_SHARE : NOISE_SHARE);
    if (kept !== undefined) return kept;
    const division = this.#divider.divide(open);
    const late = new Set(
      open.sites.filter((site, index) => isLate(site, division.finishSeconds[index] ?? 0)),
    );
    const hopeful = withoutHope(open, (site) => late.has(site));
    return this.#divideInTime(hopeful, wanted, 0) ?? division;
  }

  /** Those that would not be in time with the line to themselves, unless it is not known how much they have. */
  #hopelessOf(task: PlanTask, sites: readonly Site[]): ReadonlySet<string> {
    const { outlook } = this.#parts;
    const hopeless = task.sites.filter((own, index) => {
      const { bytes, deadlineSeconds = Infinity } = own;
      if (deadlineSeconds >= secondsAlone(task, own)) return false;
      return deadlineSeconds < PASSED_SECONDS || !outlook.isInDoubt(sites[index] as Site, bytes);
    });
    return new Set(hopeless.map(({ key }) => key));
  }

  #slackFor(task: PlanTask, sites: readonly Site[]): Slack {
    const { outlook, promised } = this.#parts;
    return slackFor({
      sizes: !sites.some((site) => outlook.isUnsaid(site)),
      speeds: !task.sites.some(
        ({ key, capBps, deadlineSeconds }) =>
          deadlineSeconds !== undefined &&
          capBps < task.rateBps &&
          (promised.saidOf(key)?.capBps ?? promised.saidOf(key)?.limitBps) === undefined,
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
      const division = this.#divider.divide(cautious);
      const isKept = cautious.sites.every(
        (site, index) => !isLate(site, division.finishSeconds[index] ?? 0),
      );
      if (isKept) return division;
    }
    return undefined;
  }
}
