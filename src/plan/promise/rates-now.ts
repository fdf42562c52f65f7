/**
 * What a plan gives everybody at a moment, as claims (`shares.ts`), and until when.
 *
 * At any moment of a plan some sites have all their servers give, one has what is left of the line, and the others
 * wait. That is an order, and is kept as one: the first in it are done when they were planned to be. A mean over
 * some seconds would be parts for many, of which all are done late. Who should have been done by now, or is about
 * to be, goes first of all.
 *
 * Where it is not well known what a server gives, an order would let it take what others need; then all have parts.
 *
 * Promise: claims go by the plan's rates, those without one last (`claims.test.ts`). O(segments).
 */

import type { Segment, SitePlan } from "../plan.ts";
import type { Claim } from "./fair-queue.ts";

export interface Claimant {
  readonly siteId: number;
  readonly planned: Pick<SitePlan, "segments" | "finishSeconds">;
  /** The assumed rate of its server. */
  readonly capBps: number;
  /** Whether it is well known. */
  readonly isSure: boolean;
  readonly headStart: number;
}

/** Seconds between plans. */
export const PLAN_SECONDS = 2;

interface ClaimsNow {
  /** In the order in which sites get leftover rate. */
  readonly claims: readonly Claim[];
  /** The next change of a rate in the plan; Infinity for never. */
  readonly untilSeconds: number;
}

/** A site that has this share of its cap in the plan gets all of it. */
const ALL_SHARE = 0.98;
/** Factor on an uncertain cap for the claim of a site that needs the full rate of its server. */
const UNSURE_TIMES = 1.3;
/** Least time for which claims hold: segments of a plan may last a hundredth of a second. */
const LEAST_SECONDS = 0.1;

const [ENDING, ALL, PART, NOTHING] = [0, 1, 2, 3];

/** For sites in the plan's order, and the rate of the line for all of them. */
export function claimsAt(
  atSeconds: number,
  claimants: readonly Claimant[],
  wholeBps: number,
): ClaimsNow {
  const untilSeconds = changeAfter(atSeconds + LEAST_SECONDS, claimants);
  const span = {
    fromSeconds: atSeconds,
    toSeconds: Math.min(untilSeconds, atSeconds + PLAN_SECONDS),
  };
  const given = claimants.map((claimant) => {
    const rateBps = rateIn(span, claimant.planned.segments);
    return { claimant, rateBps, kind: kindOf(claimant, rateBps, { atSeconds, wholeBps }) };
  });
  const isDoubtful = given.some(
    ({ claimant, rateBps, kind }) =>
      kind === ALL && !claimant.isSure && rateBps < ALL_SHARE * wholeBps,
  );
  const parts = given.filter(({ kind }) => kind === PART).length;
  const hasRest = parts === 1 && !isDoubtful;
  const claims = given
    .toSorted((a, b) => a.kind - b.kind)
    .map(({ claimant, rateBps, kind }): Claim => {
      const { siteId, headStart, isSure } = claimant;
      if (kind === PART && hasRest) return { siteId, headStart, rateBps: Infinity, isRest: true };
      if (kind === ENDING) return { siteId, headStart, rateBps: Infinity };
      if (kind !== ALL) return { siteId, headStart, rateBps };
      const isFree = isSure || rateBps >= ALL_SHARE * wholeBps;
      return { siteId, headStart, rateBps: isFree ? Infinity : rateBps * UNSURE_TIMES };
    });
  return { claims, untilSeconds };
}

function kindOf(
  { planned, capBps }: Claimant,
  rateBps: number,
  { atSeconds, wholeBps }: { readonly atSeconds: number; readonly wholeBps: number },
): number {
  if (planned.finishSeconds <= atSeconds + LEAST_SECONDS) return ENDING as number;
  if (rateBps >= ALL_SHARE * Math.min(capBps, wholeBps)) return ALL as number;
  return (rateBps > 0 ? PART : NOTHING) as number;
}

/** The next change of a rate after a moment. */
function changeAfter(seconds: number, claimants: readonly Claimant[]): number {
  let next = Infinity;
  for (const { planned } of claimants)
    for (const { fromSeconds, toSeconds } of planned.segments) {
      if (fromSeconds >= seconds) {
        next = Math.min(next, fromSeconds);
        break;
      }
      if (toSeconds >= seconds) next = Math.min(next, toSeconds);
    }
  return next;
}

/** The mean rate within a span of time. */
function rateIn(
  { fromSeconds, toSeconds }: Omit<Segment, "rateBps">,
  segments: readonly Segment[],
): number {
  let bytes = 0;
  for (const segment of segments) {
    if (segment.fromSeconds >= toSeconds) break;
    const from = Math.max(fromSeconds, segment.fromSeconds);
    bytes += segment.rateBps * Math.max(0, Math.min(toSeconds, segment.toSeconds) - from);
  }
  return bytes / (toSeconds - fromSeconds);
}
