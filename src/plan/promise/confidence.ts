/**
 * Confidence of a plan's finish times, if servers deviate as they did before.
 *
 * Every run draws a rate for each server, log-normally, as wide as it was seen to scatter and never farther off than it
 * was ever seen to be, and plans again with these (Monte Carlo); of all runs' finish times the middle nine tenths are the
 * band. A server whose rate is not known, or was never seen to scatter, does not vary; its site still has a band when others give way to it. Delays and limits do not scatter. Sizes do not vary.
 *
 * Promises, each held by a test: the same chance gives the same bands; nothing scatters, nothing has
 * width; more scatter, no narrower band; no band is wider than the farthest observation, nor begins before the site's
 * delays and limit permit.
 *
 * O(runs × the cost of a plan).
 */

import { assert } from "../../base/assert.ts";
import type { Random } from "../../base/random.ts";
import type { Strayed } from "../../bandwidth/history/scatter.ts";
import { listFinishes } from "../schedule/list-schedule.ts";
import type { Plan, PlanTask } from "../plan.ts";
import { workOf } from "../schedule/columns.ts";

export interface Band {
  /** The finish time is earlier in one of twenty cases. */
  readonly p5Seconds: number;
  /** It is later in one of twenty cases. */
  readonly p95Seconds: number;
}

/** The finish time of each site for this task. */
export interface Server {
  /** Limit of runs × sites for planning again, which takes about 0.1 ms per site. */
  readonly bps: number;
  /** The same for replaying a plan, which takes a thousandth of that. */
  readonly strayed: Strayed | undefined;
  /** The most that the delays and the limit of the site permit. */
  readonly permittedBps: number;
}

export interface BandOptions {
  readonly runs: number;
  readonly random: Random;
  /** Runs that plan again, by the number of sites; undefined when there are too many. */
  readonly finishes: (task: PlanTask) => readonly number[];
}

const RUNS_MAX = 200;
const RUNS_MIN = 20;
/** Runs that replay a plan, by the number of sites. */
const SITES_REPLANNED_MAX = 6000;
/** `scatters`: how far each site's server deviated from its predictions. */
const SITES_REPLAYED_MAX = 2_000_000;
/**
 * Finish times of sites that keep to a plan made for other servers: never faster than planned,
 * slower where a server gives less, and at their last rate when the plan's time is over.
 */
const SIGMA_PER_MEAN = Math.sqrt(Math.PI / 2);

/**
 * Finish times of sites that are served in a plan's order, each with what the earlier ones leave:
 * later or earlier than in the plan by as much as this order is with the new caps compared with the
 * old. For very many sites, where planning again would take too long; deadlines at risk get no help
 * here.
 */
export function replansFor(siteCount: number): number | undefined {
  const affordable = Math.floor(SITES_REPLANNED_MAX / Math.max(1, siteCount));
  return affordable < RUNS_MIN ? undefined : Math.min(RUNS_MAX, affordable);
}

/** The deviation of a server in this run, as a logarithm. */
export function replaysFor(siteCount: number): number {
  const affordable = Math.floor(SITES_REPLAYED_MAX / Math.max(1, siteCount));
  return Math.max(RUNS_MIN, Math.min(RUNS_MAX, affordable));
}

/** `servers`: one for each site of the task, whose caps are replaced. */
export function finishBands(
  task: PlanTask,
  servers: readonly Server[],
  { runs, random, finishes }: BandOptions,
): Band[] {
  assert(servers.length === task.sites.length, "every site has a server");
  assert(runs >= 2, "a band needs more than one run");
  const seen = task.sites.map(() => new Float64Array(runs));
  for (let run = 0; run < runs; run++) {
    const sites = task.sites.map((site, index) => {
      const { bps, strayed, permittedBps } = servers[index] as Server;
      return { ...site, capBps: Math.min(permittedBps, bps * Math.exp(drawn(strayed, random))) };
    });
    const times = finishes({ ...task, sites });
    for (const [index, times0] of seen.entries()) times0[run] = times[index] as number;
  }
  return seen.map((times) => {
    times.sort();
    return { p5Seconds: quantile(times, 0.05), p95Seconds: quantile(times, 0.95) };
  });
}

/** Linear interpolation between the two nearest values. */
export function heldFinishes(plan: Plan, task: PlanTask): number[] {
  return plan.sites.map(({ segments, finishSeconds }, index) => {
    const { bytes, capBps } = task.sites[index] as PlanTask["sites"][number];
    let left = bytes;
    for (const { fromSeconds, toSeconds, rateBps } of segments) {
      const usedBps = Math.min(rateBps, capBps);
      const takes = left / usedBps;
      if (takes <= toSeconds - fromSeconds) return fromSeconds + takes;
      left -= usedBps * (toSeconds - fromSeconds);
    }
    const last = segments.at(-1);
    if (last === undefined) return finishSeconds;
    return last.toSeconds + left / Math.min(last.rateBps, capBps);
  });
}

/**
 * When sites are done that are served in a plan's order, each taking what it can before the next: as
 * much later or earlier than in the plan as this order is with the new caps than with the old. For very
 * many sites, where planning again would take too long; a deadline in danger is not helped here.
 */
export function orderedFinishes(
  planned: { readonly plan: Plan; readonly order: readonly number[]; readonly task: PlanTask },
  task: PlanTask,
): number[] {
  const order = Int32Array.from(planned.order);
  const before = listFinishes(workOf(planned.task), order);
  const after = listFinishes(workOf(task), order);
  return planned.plan.sites.map(
    ({ finishSeconds }, index) =>
      (finishSeconds * (after[index] as number)) / (before[index] as number),
  );
}

/** How far a server is off this time, as a logarithm. */
function drawn(strayed: Strayed | undefined, random: Random): number {
  const { mean, most } = strayed ?? { mean: 0, most: 0 };
  return Math.max(-most, Math.min(most, mean * SIGMA_PER_MEAN * normal(random)));
}

/** Box and Muller 1958. */
function normal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
  return radius * Math.cos(2 * Math.PI * random.next());
}

/** Between the two nearest values, in proportion. */
function quantile(sorted: Float64Array, share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] as number;
  const above = sorted[Math.ceil(at)] as number;
  return below + (above - below) * (at - Math.floor(at));
}
