/**
 * How certain a planned deadline is, and on which estimates it depends.
 *
 * A plan rests on facts (configured sizes and caps, measured servers) and on estimates: the size of
 * a site that was never crawled, a server or a line that was never measured. A deadline is sure if
 * it is kept even when every estimate is as bad as can be expected. Each estimate is tried alone
 * too, so that the promise can name those on which it depends.
 *
 * Promises, each held by a test in `certainty.test.ts`:
 *   1. without estimates, a deadline is sure or late;
 *   2. a worse estimate of one site makes no deadline of another site late;
 *   3. a deadline is certainly late only where its size, or its requests and delay, are facts.
 *
 * O(the cost of a plan), for each kind of estimate.
 */

import { planOptimal } from "../optimum/optimal.ts";
import { isLate, type PlanTask, type SiteTask } from "../plan.ts";

/** `unlikely`: late by the plan, which rests on an estimated size. */
export type Certainty = "sure" | "likely" | "unlikely" | "late";
const ESTIMATES = ["size", "server", "line"] as const;
export type Estimate = (typeof ESTIMATES)[number];

export interface Verdict {
  readonly certainty: Certainty;
  /** The estimates that decide; empty where none does. */
  readonly dependsOn: readonly Estimate[];
}

/** What is a fact about a site. */
export interface SiteEvidence {
  readonly hasSize: boolean;
  readonly hasServer: boolean;
  /** Its server's rate as bad as can be expected, where it was never measured. */
  readonly serverLeastBps: number;
  /** Its known requests at its delay take longer than its deadline. */
  readonly isTooMany: boolean;
}

/** A site of unknown size may be so many times as large. */
const SIZE_TIMES = 4;
/** A line that was never measured may give this share of the limit. */
const LINE_SHARE = 0.4;
/** Time that a crawl keeps in reserve before a sure deadline: a share and some seconds. */
const SURE_SHARE = 0.9;
const SURE_SECONDS = 2;

/** For each site; undefined without a deadline. `finishes`: of the plan. */
export function verdictsOf(
  task: PlanTask,
  finishes: readonly number[],
  {
    sites,
    isLineMeasured,
  }: { readonly sites: readonly SiteEvidence[]; readonly isLineMeasured: boolean },
): (Verdict | undefined)[] {
  const kinds = ESTIMATES.filter(
    (kind) =>
      (kind === "line" && !isLineMeasured) ||
      (kind === "size" && sites.some(({ hasSize }) => !hasSize)) ||
      (kind === "server" && sites.some(({ hasServer }) => !hasServer)),
  );
  const keptIf = (worse: readonly Estimate[]): boolean[] => {
    const worst = worsened(task, sites, worse);
    const isKept = keptBy(worst);
    const isShared = worse.includes("line") ? keptWhenShared(worst) : undefined;
    return isKept.map((kept, index) => kept && isShared?.[index] !== false);
  };
  const isSure = keptIf(kinds);
  const isKeptIf = new Map(kinds.map((kind) => [kind, keptIf([kind])]));
  return task.sites.map((site, index): Verdict | undefined => {
    if (site.deadlineSeconds === undefined) return undefined;
    const { hasSize, isTooMany } = sites[index] as SiteEvidence;
    if (isTooMany) return { certainty: "late", dependsOn: [] };
    if (isLate(site, finishes[index] as number))
      return hasSize
        ? { certainty: "late", dependsOn: [] }
        : { certainty: "unlikely", dependsOn: ["size"] };
    if (hasSize && (kinds.length === 0 || isSure[index] === true))
      return { certainty: "sure", dependsOn: [] };
    const alone = kinds.filter((kind) => isKeptIf.get(kind)?.[index] === false);
    const own: Estimate[] = hasSize ? [] : ["size"];
    const dependsOn = [...new Set([...own, ...(alone.length > 0 ? alone : kinds)])];
    return { certainty: "likely", dependsOn };
  });
}

/** The task with some estimates as bad as can be expected, and a reserve before deadlines. */
function worsened(
  task: PlanTask,
  sites: readonly SiteEvidence[],
  worse: readonly Estimate[],
): PlanTask {
  return {
    ...task,
    rateBps: task.rateBps * (worse.includes("line") ? LINE_SHARE : 1),
    sites: task.sites.map((site, index): SiteTask => {
      const { hasSize, hasServer, serverLeastBps } = sites[index] as SiteEvidence;
      const isLarger = worse.includes("size") && !hasSize;
      const isSlower = worse.includes("server") && !hasServer;
      const { deadlineSeconds } = site;
      return {
        ...site,
        bytes: site.bytes * (isLarger ? SIZE_TIMES : 1),
        capBps: Math.min(site.capBps, isSlower ? serverLeastBps : Infinity),
        // A crawl drops the deadline of a site of unknown size before any other.
        deadlineSeconds:
          deadlineSeconds === undefined || isLarger
            ? undefined
            : Math.max(1e-3, deadlineSeconds * SURE_SHARE - SURE_SECONDS),
      };
    }),
  };
}

function keptBy(task: PlanTask): boolean[] {
  const { plan } = planOptimal(task, "min-sum");
  return task.sites.map((site, index) => {
    const { deadlineSeconds } = site;
    const finishSeconds = plan.sites[index]?.finishSeconds ?? Infinity;
    return deadlineSeconds !== undefined && !isLate(site, finishSeconds);
  });
}

/**
 * Below the limit no download waits for another, so the order of a plan has no effect: all sites
 * share the line, and a site waits for as many bytes of each other site as it has itself.
 */
function keptWhenShared({ sites, rateBps, startupSeconds }: PlanTask): boolean[] {
  const sizes = Float64Array.from(sites, ({ bytes }) => bytes).sort();
  const sums = new Map<number, number>();
  let sum = 0;
  for (const [place, bytes] of sizes.entries()) {
    sum += bytes;
    sums.set(bytes, sum + bytes * (sizes.length - 1 - place));
  }
  return sites.map((site) => {
    const finishSeconds = startupSeconds + (sums.get(site.bytes) ?? 0) / rateBps;
    return site.deadlineSeconds !== undefined && !isLate(site, finishSeconds);
  });
}

/** A far server: the time of a round trip, and the rate of all its downloads together. */
const FAR_SECONDS = 0.15;
const SLOW_BPS = 50_000;
/** Where no window is set, as without a limit. */
const SYSTEM_WINDOW_BYTES = 65_536;

/**
 * The rate of a server that was never measured, as bad as can be expected: each request takes two
 * round trips, and a connection brings half of its window in each.
 */
export function serverLeastBps({
  pageBytes,
  windowBytes = SYSTEM_WINDOW_BYTES,
  concurrency,
}: {
  readonly pageBytes: number;
  readonly windowBytes: number | undefined;
  readonly concurrency: number;
}): number {
  const streamBps = windowBytes / 2 / FAR_SECONDS;
  const pageSeconds = 2 * FAR_SECONDS + pageBytes / streamBps;
  return Math.min(SLOW_BPS, (concurrency * pageBytes) / pageSeconds);
}
