/**
 * The least time that politeness needs: requests to a site, and to an IP address that several sites share, begin no
 * closer than their delay, however fast the line is.
 *
 * n requests with a delay of d need n·d, and a plan takes that as a cap on the site's rate. Sites that share an
 * address share its delay and are served one after the other: by deadline, and last the sites without one and those
 * whose deadline cannot be kept, the fewest requests first. Decision 025 says why.
 *
 * Promises, each held by a test in `slots.test.ts`:
 *   1. a site needs at least its requests times its delay;
 *   2. the last site of an address needs at least the requests of all of them times the address delay;
 *   3. a deadline that cannot be kept delays no other site of its address.
 *
 * O(n log n).
 */

import { goneAt } from "./late.ts";
import { orderBy, sorted } from "./order-by.ts";
import type { SiteTask } from "./plan.ts";

/** The requests that a site still needs, and how far apart they must begin. */
export interface Politeness {
  /** URLs, robots.txt and sitemaps. */
  readonly requests: number;
  readonly delaySeconds: number;
  /** Sites with the same text here share an IP address. */
  readonly address: string;
  readonly addressDelaySeconds: number;
  /** undefined: any time will do. */
  readonly deadlineSeconds: number | undefined;
}

/** What a site's requests need with the line idle. */
export interface Slots {
  readonly seconds: number;
  /** Whether the site's own delay decides, or that of its address. */
  readonly by: "delay" | "address";
  readonly address: string;
  /** When the address has served the site and all that come before it. */
  readonly servedSeconds: number;
}

/** For each site, by its index. */
export function slotsOf(sites: readonly Politeness[]): Slots[] {
  const slots: Slots[] = [];
  for (const group of Map.groupBy(sites.keys(), (index) => sites[index]?.address).values()) {
    let servedSeconds = 0;
    for (const place of inTurn(group.map((index) => sites[index] as Politeness))) {
      const site = group[place] as number;
      const { requests, delaySeconds, addressDelaySeconds, address } = sites[site] as Politeness;
      servedSeconds += requests * addressDelaySeconds;
      const ownSeconds = requests * delaySeconds;
      const by = servedSeconds > ownSeconds ? "address" : "delay";
      slots[site] = { seconds: Math.max(ownSeconds, servedSeconds), by, address, servedSeconds };
    }
  }
  return slots;
}

/** The most that a site can take by these slots; bytes are those of the plan's task. */
export function slotsCapBps(bytes: number, { seconds }: Slots): number {
  return seconds > 0 ? bytes / seconds : Infinity;
}

/** An order of sites in which those that share an address come as the address serves them. */
export function withSlotsInTurn(order: readonly number[], slots: readonly Slots[]): number[] {
  const served = order.toSorted(
    (a, b) => (slots[b]?.servedSeconds ?? 0) - (slots[a]?.servedSeconds ?? 0),
  );
  const lastFirst = Map.groupBy(served, (index) => slots[index]?.address);
  return order.map((index) => {
    const { address, servedSeconds = 0 } = slots[index] ?? {};
    return servedSeconds > 0 ? (lastFirst.get(address)?.pop() ?? index) : index;
  });
}

/** Sites of one address in the order in which they are served. */
function inTurn(sites: readonly Politeness[]): Int32Array {
  const seconds = (index: number): number => {
    const { requests, addressDelaySeconds } = sites[index] as Politeness;
    return requests * addressDelaySeconds;
  };
  const deadlineSeconds = Float64Array.from(sites, (site) => {
    const { requests, delaySeconds, deadlineSeconds: due = Infinity } = site;
    return requests * delaySeconds > due ? Infinity : due;
  });
  const needed = { count: sites.length, bytes: Float64Array.from(sites.keys(), seconds) };
  const byDeadline = orderBy(sites.length, (index) => deadlineSeconds[index] as number);
  for (const late of goneAt({ ...needed, deadlineSeconds }, byDeadline, 1))
    deadlineSeconds[late] = Infinity;
  const bySize = orderBy(sites.length, seconds);
  // Equal ones stay as they were.
  return sorted(bySize, deadlineSeconds);
}

/** The same site, its rate capped by its slots. */
export function withSlots(site: SiteTask, slots: Slots): SiteTask {
  return { ...site, capBps: Math.min(site.capBps, slotsCapBps(site.bytes, slots)) };
}
