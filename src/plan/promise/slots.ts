/**
 * The least time that politeness needs: requests to a site, and to an IP address that several sites share, begin no
 * closer than their delay, however fast the line is.
 *
 * n requests with a delay of d need n·d, and a plan takes that as a cap on the site's rate. An address that several
 * sites share is a line of its own: its rate is one request per address delay, and a site's cap on it one request per
 * delay of the site. So the same planner says when the address is done with each of them. Decision 025 says why.
 *
 * Promises, each held by a test in `slots.test.ts`:
 *   1. a site needs at least its requests times its delay;
 *   2. the last site of an address needs at least the requests of all of them times the address delay;
 *   3. a deadline that cannot be kept delays no other site of its address.
 */

import { type Reserve, Reserves } from "./reserves.ts";
import { withKeptDeadlines } from "../feasible/give-up.ts";
import { planOptimal } from "../optimum/optimal.ts";
import type { PlanTask, SiteTask } from "../plan.ts";

/** The remaining requests of a site, and the least time between them. */
export interface Politeness {
  /** URLs, robots.txt and sitemaps. */
  readonly requests: number;
  readonly delaySeconds: number;
  /** Sites with the same text here share an IP address. */
  readonly address: string;
  readonly addressDelaySeconds: number;
  /** undefined: at any time. */
  readonly deadlineSeconds: number | undefined;
}

/** The time that a site's requests need on an idle line. */
export interface Slots {
  readonly seconds: number;
  /** Whether the site's own delay is the longer one, or that of its address. */
  readonly by: "delay" | "address";
  readonly address: string;
  /**
   * Among sites that compete for their address the lowest goes first; undefined without
   * competition.
   */
  readonly turn: number | undefined;
}

/** Reserve before deadlines where sites compete for an address. */
const RESERVE: Reserve = { share: 0.05, tailSeconds: 0.8 };

/** For each site, by its index. */
export function slotsOf(sites: readonly Politeness[]): Slots[] {
  const slots = sites.map(({ requests, address, ...delays }): Slots => {
    const { delaySeconds, addressDelaySeconds } = delays;
    const by = addressDelaySeconds > delaySeconds ? "address" : "delay";
    const seconds = requests * Math.max(delaySeconds, addressDelaySeconds);
    return { seconds, by, address, turn: undefined };
  });
  for (const group of Map.groupBy(sites.keys(), (index) => sites[index]?.address).values())
    for (const [place, served] of contended(group.map((index) => sites[index] as Politeness))) {
      const site = group[place] as number;
      const { seconds, by, address } = slots[site] as Slots;
      const isLonger = served.seconds > seconds;
      slots[site] = {
        seconds: isLonger ? served.seconds : seconds,
        by: isLonger ? "address" : by,
        address,
        turn: served.turn,
      };
    }
  return slots;
}

/** The highest rate of a site with these slots; bytes are those of the plan's task. */
export function slotsCapBps(bytes: number, { seconds }: Slots): number {
  return seconds > 0 ? bytes / seconds : Infinity;
}

/** The same site, its rate capped by its slots. */
export function withSlots(site: SiteTask, slots: Slots): SiteTask {
  return { ...site, capBps: Math.min(site.capBps, slotsCapBps(site.bytes, slots)) };
}

/** An order of sites in which those that compete for an address are in their turn. */
export function withSlotsInTurn(order: readonly number[], slots: readonly Slots[]): number[] {
  const lastFirst = Map.groupBy(
    order.toSorted((a, b) => (slots[b]?.turn ?? 0) - (slots[a]?.turn ?? 0)),
    (index) => (slots[index]?.turn === undefined ? undefined : slots[index].address),
  );
  return order.map((index) => {
    const { address, turn } = slots[index] ?? {};
    return turn === undefined ? index : (lastFirst.get(address)?.pop() ?? index);
  });
}

/**
 * The finish time of each site on an address, and their turns; undefined where it can serve all of
 * them at their pace.
 */
function contended(
  sites: readonly Politeness[],
): Map<number, { readonly seconds: number; readonly turn: number }> {
  const rateBps = 1 / Math.max(...sites.map((site) => site.addressDelaySeconds));
  const capOf = ({ delaySeconds }: Politeness): number => Math.min(1 / delaySeconds, rateBps);
  const isFree = sites.reduce((sum, site) => sum + capOf(site), 0) <= rateBps;
  if (sites.length === 1 || rateBps === Infinity || isFree) return new Map();
  const task: PlanTask = {
    sites: sites.map((site, index) => ({
      key: `${index}`,
      bytes: site.requests,
      deadlineSeconds: site.deadlineSeconds,
      capBps: capOf(site),
      weight: 1,
    })),
    rateBps,
    sitesMax: Infinity,
    rateMinBps: 0,
    startupSeconds: 0,
  };
  const kept = withKeptDeadlines(task);
  const { plan } = planOptimal(new Reserves().targetsOf(kept, RESERVE) ?? kept, "min-sum");
  // The share of its pace that each site has now: the others wait for it.
  const shareOf = (place: number): number => {
    const [first] = plan.sites[place]?.segments ?? [];
    return first?.fromSeconds === 0 ? first.rateBps / capOf(sites[place] as Politeness) : 0;
  };
  const inTurn = [...sites.keys()].sort(
    (a, b) =>
      shareOf(b) - shareOf(a) ||
      (plan.sites[a]?.finishSeconds ?? 0) - (plan.sites[b]?.finishSeconds ?? 0),
  );
  return new Map(
    inTurn.map((place, turn) => [
      place,
      { seconds: plan.sites[place]?.finishSeconds ?? Infinity, turn },
    ]),
  );
}
