/**
 * The common tasks of the experiments on allocation: sites with sizes and deadlines.
 *
 * The paper (Zhu, Li, Xu, Cui: *Optimal Bandwidth Allocation for Web Crawler Systems*) gives the numbers of
 * sites and crawlers and the rates, but neither sizes nor deadlines. These were chosen before any result was
 * known. Sizes are log-uniform. Deadlines are generated for a given rigour, the paper's Σ D/t*: the sum of the
 * constant rates they need.
 */

import { randomFrom } from "../../base/random.ts";
import type { PlanTask, SiteTask } from "../../plan/plan.ts";
import { spread } from "../world/dice.ts";

export const PAPER = "Zhu et al., Optimal Bandwidth Allocation for Web Crawler Systems";

/** The paper's rates are in kbit/s. */
export const KBPS = 125;
export const SIX = { sites: 6, sitesDue: 4, bytesMin: 2e6, bytesMax: 40e6 } as const;
/** Random factor of deadlines of the same rigour. */
const DUE_SPREAD = { least: 0.5, most: 1.5 };

export interface SixSitesOptions {
  readonly seed: number;
  readonly rateBps: number;
  /** Σ D/t*. */
  readonly rigourBps: number;
  /** Sizes are scaled to this sum. */
  readonly bytes?: number;
}

/** Six concurrent sites; the first four have deadlines. */
export function sixSites({ seed, rateBps, rigourBps, bytes }: SixSitesOptions): PlanTask {
  const random = randomFrom(seed);
  const drawn = Array.from({ length: SIX.sites }, () =>
    spread(random.next(), SIX.bytesMin, SIX.bytesMax),
  );
  const scale = bytes === undefined ? 1 : bytes / sumOf(drawn);
  const sizes = drawn.map((size) => size * scale);
  const paces = sizes.slice(0, SIX.sitesDue).map((size) => {
    const { least, most } = DUE_SPREAD;
    return size / (least + (most - least) * random.next());
  });
  const pace = rigourBps / sumOf(paces);
  const due = paces.map((needed, index) => (sizes[index] as number) / (needed * pace));
  return taskWith(sizes, due, { rateBps });
}

export const MANY = {
  sites: 600,
  crawlers: 30,
  bytesMin: 1e6,
  bytesMax: 30e6,
  startupSeconds: 1,
  /** One site in three has a deadline, at 0.2 to 1.2 times the time that all need at this rate. */
  dueShare: 1 / 3,
  dueAtBps: 8e6,
  dueMin: 0.2,
  dueMax: 1.2,
} as const;

/** More sites than crawlers; sizes and deadlines do not depend on the rate. */
export function manySites(seed: number, rateBps: number): PlanTask {
  const random = randomFrom(seed);
  const sizes = Array.from({ length: MANY.sites }, () =>
    spread(random.next(), MANY.bytesMin, MANY.bytesMax),
  );
  const allSeconds = sumOf(sizes) / MANY.dueAtBps;
  const due = sizes.map(() => {
    const isDue = random.next() < MANY.dueShare;
    const at = MANY.dueMin + (MANY.dueMax - MANY.dueMin) * random.next();
    return isDue ? allSeconds * at : undefined;
  });
  const { crawlers: sitesMax, startupSeconds } = MANY;
  return taskWith(sizes, due, { rateBps, sitesMax, startupSeconds });
}

export function bytesOf({ sites }: PlanTask): number {
  return sumOf(sites.map(({ bytes }) => bytes));
}

function taskWith(
  sizes: readonly number[],
  due: readonly (number | undefined)[],
  rest: Partial<PlanTask> & Pick<PlanTask, "rateBps">,
): PlanTask {
  const sites = sizes.map((bytes, index): SiteTask => ({
    key: `site${index}`,
    bytes: Math.round(bytes),
    deadlineSeconds: due[index],
    capBps: Infinity,
    weight: 1,
  }));
  return { sites, sitesMax: Infinity, rateMinBps: 0, startupSeconds: 0, ...rest };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
