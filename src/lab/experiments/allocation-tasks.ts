/**
 * The tasks that the experiments on allocation share: what sites there are and when they are due.
 *
 * The paper (Zhu, Li, Xu, Cui: *Optimal Bandwidth Allocation for Web Crawler Systems*) gives the numbers of
 * sites and crawlers and the rates, and neither sizes nor deadlines. Ours were chosen before any result
 * was seen. Sizes are spread evenly over orders of magnitude, as sizes of sites are. Deadlines are made for
 * a wanted rigour, the paper's Σ D/t*: what all of them together need at constant rates.
 */

import { randomFrom } from "../../base/random.ts";
import type { PlanTask, SiteTask } from "../../plan/plan.ts";
import { spread } from "../world/dice.ts";

export const PAPER = "Zhu et al., Optimal Bandwidth Allocation for Web Crawler Systems";

/** The paper's rates are in kbit/s. */
export const KBPS = 125;
export const SIX = { sites: 6, sitesDue: 4, bytesMin: 2e6, bytesMax: 40e6 } as const;
/** When a deadline comes among those of the same rigour: half as early to half as late again. */
const DUE_SPREAD = { least: 0.5, most: 1.5 };

export interface SixWanted {
  readonly seed: number;
  readonly rateBps: number;
  /** Σ D/t*. */
  readonly rigourBps: number;
  /** Sizes are stretched until they add up to this. */
  readonly bytes?: number;
}

/** Six sites, all crawled at once; the first four have deadlines. */
export function sixSites({ seed, rateBps, rigourBps, bytes }: SixWanted): PlanTask {
  const random = randomFrom(seed);
  const drawn = Array.from({ length: SIX.sites }, () =>
    spread(random.next(), SIX.bytesMin, SIX.bytesMax),
  );
  const stretch = bytes === undefined ? 1 : bytes / sumOf(drawn);
  const sizes = drawn.map((size) => size * stretch);
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
  /** One site in three is due, at any time from 0.2 to 1.2 of what all need at this rate. */
  dueShare: 1 / 3,
  dueAtBps: 8e6,
  dueMin: 0.2,
  dueMax: 1.2,
} as const;

/** More sites than crawlers: the same ones, with the same deadlines, whatever the rate. */
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
