/**
 * M-MAXT and M-SUMT of Zhu, Li, Xu and Cui: all sites at once, each at one constant rate, deadlines kept.
 *
 * Without deadlines the rate is divided in proportion to a weight of each site's bytes. A site that
 * would be late with its share gets what its deadline needs, D / t*, and the others divide the rest
 * again. The paper examines all sites again after every change. A site that is taken out takes more
 * than its share, so the shares of the others only fall: the same sites are taken out in any order,
 * and one pass is enough that begins with the largest ratio of need to share.
 *
 * Promises: the rates add up to at most U; a site with a deadline keeps it; otherwise the answer says
 * why there is none. As in the paper, caps are ignored. Its start-up time belongs to batches; where one
 * is given, all sites start together and it is subtracted from every deadline.
 *
 * O(n log n) in the number of sites.
 */

import { showBytes } from "../../base/units.ts";
import {
  type Allocation,
  type PlanTask,
  ROUNDING_SHARE,
  type SitePlan,
  type SiteTask,
} from "../plan.ts";

interface Claim {
  readonly index: number;
  readonly site: SiteTask;
  readonly weight: number;
  /** The rate that its deadline needs; 0 without one, Infinity when no rate can keep it. */
  readonly needBps: number;
}

/**
 * Algorithm 1: the earliest end of the last site that constant rates allow. Without deadlines every site gets
 * v = D / t̄ with t̄ = ΣD / U, so that all end together; a site whose deadline is before t̄ gets D / t*, and t̄ is
 * computed again from the others. Fails when no rate is left for some sites, when there are more sites than may be
 * crawled at once, or when a site would get less than the least rate.
 */
export function planMMaxt(task: PlanTask): Allocation {
  return planAtOnce(task, (bytes) => bytes);
}

/**
 * Algorithm 2: the least sum of finish times that constant rates allow. By the inequality of Cauchy Σ D/v is least
 * when D / v² is the same for all, v = U·√D / Σ√D (equation 5). Fails as M-MAXT does. *Erratum:* line 12 of the
 * algorithm tests t ≠ 0 where it must be t* ≠ 0: a site without a deadline is never late.
 */
export function planMSumt(task: PlanTask): Allocation {
  return planAtOnce(task, Math.sqrt);
}

function planAtOnce(task: PlanTask, weightOf: (bytes: number) => number): Allocation {
  const claims = claimsOf(task, weightOf);
  if (claims.length > task.sitesMax) return impossible(tooMany(claims.length, task.sitesMax));
  const ratesBps = task.sites.map(() => 0);
  const weightsFrom = sumsFrom(claims);
  let leftBps = task.rateBps;
  for (const [place, { index, site, weight, needBps }] of claims.entries()) {
    if (leftBps <= ROUNDING_SHARE * task.rateBps)
      return impossible(nothingLeft(task, claims, place));
    const levelBps = leftBps / (weightsFrom[place] as number);
    if (needBps <= levelBps * weight) {
      for (const rest of claims.slice(place)) ratesBps[rest.index] = levelBps * rest.weight;
      break;
    }
    if (needBps === Infinity) return impossible(tooLate(site, task.startupSeconds));
    ratesBps[index] = needBps;
    leftBps -= needBps;
  }
  if (leftBps < -ROUNDING_SHARE * task.rateBps)
    return impossible(nothingLeft(task, claims, claims.length));
  const slow = claims.find(({ index }) => isBelowLeast(task, ratesBps[index] as number));
  if (slow !== undefined)
    return impossible(tooSlow(task, slow.site, ratesBps[slow.index] as number));
  const sites = task.sites.map((site, index) => constant(task, site, ratesBps[index] as number));
  return { kind: "planned", plan: { sites } };
}

/** The most urgent first. Sites without bytes have no claim. */
function claimsOf(task: PlanTask, weightOf: (bytes: number) => number): Claim[] {
  return task.sites
    .map((site, index) => ({
      index,
      site,
      weight: weightOf(site.bytes),
      needBps: needOf(task, site),
    }))
    .filter(({ site }) => site.bytes > 0)
    .toSorted((a, b) => b.needBps / b.weight - a.needBps / a.weight || a.index - b.index);
}

function needOf({ startupSeconds }: PlanTask, { bytes, deadlineSeconds }: SiteTask): number {
  if (deadlineSeconds === undefined) return 0;
  return deadlineSeconds > startupSeconds ? bytes / (deadlineSeconds - startupSeconds) : Infinity;
}

/**
 * The weight of each claim and all after it; added, never subtracted, so that no precision is lost.
 */
function sumsFrom(claims: readonly Claim[]): number[] {
  const sums = claims.map(() => 0);
  let sum = 0;
  for (let place = claims.length - 1; place >= 0; place--) {
    sum += (claims[place] as Claim).weight;
    sums[place] = sum;
  }
  return sums;
}

function isBelowLeast({ rateMinBps }: PlanTask, rateBps: number): boolean {
  return rateBps < rateMinBps * (1 - ROUNDING_SHARE);
}

function constant({ startupSeconds }: PlanTask, site: SiteTask, rateBps: number): SitePlan {
  if (rateBps === 0) return { key: site.key, segments: [], finishSeconds: 0 };
  const finishSeconds = startupSeconds + site.bytes / rateBps;
  const segment = { fromSeconds: startupSeconds, toSeconds: finishSeconds, rateBps };
  return { key: site.key, segments: [segment], finishSeconds };
}

function impossible(why: string): Allocation {
  return { kind: "impossible", why };
}

function tooMany(count: number, sitesMax: number): string {
  return `${count} sites cannot all be crawled at once when ${sitesMax} are the most; they would have to be put in a sequence`;
}

function tooLate({ key, deadlineSeconds }: SiteTask, startupSeconds: number): string {
  return `the deadline of ${key}, ${deadlineSeconds} s, comes before its first byte could, at ${startupSeconds} s`;
}

function tooSlow({ rateMinBps }: PlanTask, { key }: SiteTask, rateBps: number): string {
  return `${key} would get ${perSecond(rateBps)}, and the least is ${perSecond(rateMinBps)}`;
}

/** The reason for the claims before a place, which got the rates that their deadlines need. */
function nothingLeft({ rateBps }: PlanTask, claims: readonly Claim[], place: number): string {
  const needBps = claims.slice(0, place).reduce((sum, claim) => sum + claim.needBps, 0);
  const rest = claims.length - place;
  const others = rest === 0 ? "" : `, and nothing is left for the other ${rest}`;
  return `at constant rates, ${place} of the deadlines need ${perSecond(needBps)} of ${perSecond(rateBps)}${others}`;
}

function perSecond(rateBps: number): string {
  return `${showBytes(rateBps)}/s`;
}
