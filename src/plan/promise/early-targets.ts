/**
 * How early each deadline is aimed at: decided once, in seconds, and kept.
 *
 * Were it a part of the time left, every plan would have less of it than the one before, and sites would be moved
 * about for that alone. With seconds that stay, a later plan is the rest of an earlier one as long as all goes as
 * planned. A crawl that is behind has all its aims later by that, or a little more, and none later than its deadline.
 *
 * Promises, each held by a test in `aims.test.ts`:
 *   1. what is left of a task that went as planned has the aims it had;
 *   2. when all deadlines can be kept there is an answer, as near to what was decided as can be kept.
 */

import { secondsAlone, type Slack } from "./slack.ts";
import { isFeasible } from "../feasible/feasible.ts";
import type { PlanTask } from "../plan.ts";

const STEPS = 10;
/**
 * Targets may be this much later than necessary: with none, a site with a target would preempt one
 * that is nearly done, for being a moment behind; and where all are behind, only deadlines would
 * decide the order.
 */
const LEEWAY_SECONDS = 0.25;
/** The same as a share of the remaining reserve, at most. */
const LEEWAY_SHARE = 0.5;
/** Rounds up, so that a task that takes all the time still fits into it. */
const ROUNDED_UP = 1 + 1e-9;

export class Aims {
  #inHandSeconds: ReadonlyMap<string, number> = new Map();
  #wanted: Slack | undefined;

  /** Whether targets were set for all deadlines of a task, with this slack. */
  knows({ sites }: PlanTask, wanted: Slack): boolean {
    return (
      this.#wanted === wanted &&
      sites.every(
        ({ key, deadlineSeconds }) => deadlineSeconds === undefined || this.#inHandSeconds.has(key),
      )
    );
  }

  /**
   * Stores the difference between the deadlines and the targets of two tasks with the same sites.
   */
  decide(task: PlanTask, aims: PlanTask, wanted: Slack): void {
    this.#wanted = wanted;
    this.#inHandSeconds = new Map(
      task.sites.flatMap(({ key, deadlineSeconds }, index) => {
        const aim = aims.sites[index]?.deadlineSeconds;
        if (deadlineSeconds === undefined || aim === undefined) return [];
        return [[key, Math.max(0, deadlineSeconds - aim)]];
      }),
    );
  }

  /**
   * Increases reserves where a task leaves more time than when they were set, and decreases none.
   */
  raise(task: PlanTask, aims: PlanTask): void {
    const before = this.#inHandSeconds;
    const wanted = this.#wanted;
    if (wanted === undefined) return;
    this.decide(task, aims, wanted);
    const isLess = [...this.#inHandSeconds].some(
      ([key, seconds]) => seconds < (before.get(key) ?? 0),
    );
    if (isLess) this.#inHandSeconds = before;
  }

  /** For a change of deadlines. */
  forget(): void {
    this.#wanted = undefined;
  }

  /**
   * The task with deadlines moved to the targets, or as early as possible where a crawl is too far
   * behind for that; and a variant slightly later, which may be nearer to the first plan. Empty
   * when the deadlines cannot all be kept.
   */
  of(task: PlanTask): PlanTask[] {
    const behindSeconds = this.#behindSeconds(task);
    if (behindSeconds === undefined) return [];
    return [0, LEEWAY_SECONDS].map((leeway) => this.#aimed(task, behindSeconds, leeway));
  }

  /** How much later all targets must be; undefined when not even that helps. */
  #behindSeconds(task: PlanTask): number | undefined {
    if (isFeasible(this.#aimed(task, 0, 0))) return 0;
    if (!isFeasible(task)) return undefined;
    let [least, most] = [0, Math.max(0, ...this.#inHandSeconds.values())];
    for (let step = 0; step < STEPS; step++) {
      const middle = (least + most) / 2;
      if (isFeasible(this.#aimed(task, middle, 0))) most = middle;
      else least = middle;
    }
    return most;
  }

  #aimed(task: PlanTask, behindSeconds: number, leewaySeconds: number): PlanTask {
    const sites = task.sites.map((site) => {
      const { key, deadlineSeconds } = site;
      if (deadlineSeconds === undefined) return site;
      const leftSeconds = Math.max(0, (this.#inHandSeconds.get(key) ?? 0) - behindSeconds);
      const inHand = leftSeconds - Math.min(leewaySeconds, LEEWAY_SHARE * leftSeconds);
      const aim = Math.max(deadlineSeconds - inHand, secondsAlone(task, site) * ROUNDED_UP);
      return { ...site, deadlineSeconds: Math.min(deadlineSeconds, aim) };
    });
    return { ...task, sites };
  }
}
