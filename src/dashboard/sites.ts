/**
 * The table of sites, a few rows at a time: counts from the store, and live values of the sites in
 * the running crawl's snapshot.
 *
 * An order that only the crawl knows (deadline, rate, state) puts these sites first and the others
 * behind them, by pages. So ten thousand sites cost one page of rows.
 */

import { bookedIn } from "../bandwidth/history/ledger.ts";
import type { SiteView } from "../control/snapshot.ts";
import type { StoreBrowser } from "../store/joined/browse.ts";
import type { SiteCounts, SiteOrder } from "../store/browse-query.ts";
import type { Look, SiteAnswer, SiteLine, SitesAnswer, SiteSort } from "./shapes.ts";

export const COUNT_MAX = 200;
const ROBOTS_CHARACTERS_MAX = 64 * 1024;

interface SitesWish {
  readonly sort: SiteSort;
  readonly descending: boolean;
  readonly find: string;
  readonly from: number;
  readonly count: number;
}

export function sitesAnswer(look: Look, store: StoreBrowser, wish: SitesWish): SitesAnswer {
  const find = wish.find.toLowerCase();
  const first = firstOf(look, { ...wish, find });
  const without = first.map(({ site }) => site);
  const order: SiteOrder = isLive(wish.sort) ? "pages" : wish.sort;
  const descending = isLive(wish.sort) ? true : wish.descending;
  const ownLines = first.slice(wish.from, wish.from + wish.count);
  const rows = store.sites({
    order,
    descending,
    find,
    without,
    from: Math.max(0, wish.from - first.length),
    count: wish.count - ownLines.length,
  });
  const known = new Map(look.snapshot.sites.map((site) => [site.site, site]));
  return {
    total: first.length + store.countSites({ find, without }),
    from: wish.from,
    lines: [
      ...ownLines.map((site) => lineOf(look, site, site)),
      ...rows.map((row) => lineOf(look, row, known.get(row.site))),
    ],
  };
}

export function siteAnswer(look: Look, store: StoreBrowser, key: string): SiteAnswer | undefined {
  const row = store.site(key);
  if (row === undefined) return undefined;
  const live = look.snapshot.sites.find(({ site }) => site === key);
  const { robots } = row;
  return {
    line: lineOf(look, { ...row, site: key }, live),
    ledger: bookedIn(row),
    robots:
      robots === undefined
        ? undefined
        : { ...robots, text: fromBytes(robots.text).slice(0, ROBOTS_CHARACTERS_MAX) },
  };
}

/** It is kept a character a byte. */
export function fromBytes(text: string): string {
  return Buffer.from(text, "latin1").toString();
}

function isLive(sort: SiteSort): sort is "due" | "rate" | "state" {
  return sort === "due" || sort === "rate" || sort === "state";
}

/** Those that a live order puts before the others. */
function firstOf({ snapshot, siteRatesBps }: Look, wish: SitesWish): readonly SiteView[] {
  if (!isLive(wish.sort)) return [];
  const meant = snapshot.sites.filter(({ site }) => site.includes(wish.find));
  const rateOf = ({ site }: SiteView): number => siteRatesBps[site] ?? 0;
  const sorted = meant.toSorted((a, b) => {
    const byWish =
      wish.sort === "due"
        ? urgencyOf(a) - urgencyOf(b)
        : wish.sort === "rate"
          ? rateOf(b) - rateOf(a)
          : STATES.indexOf(a.state) - STATES.indexOf(b.state);
    return byWish || b.pages - a.pages || (a.site < b.site ? -1 : 1);
  });
  return wish.descending ? sorted : sorted.toReversed();
}

/** Running promises by their time, then kept and broken ones, then who was promised nothing. */
function urgencyOf({ deadlineMs, forecast, pending }: SiteView): number {
  if (deadlineMs === undefined) return pending > 0 ? 3e15 : 4e15;
  return pending === 0 ? 1e15 + deadlineMs : (forecast?.deadlineInMs ?? deadlineMs);
}

const STATES: readonly SiteView["state"][] = [
  "back-off",
  "locating",
  "robots",
  "opening",
  "fetching",
  "polite delay",
  "ready",
  "idle",
];

function lineOf({ siteRatesBps }: Look, counts: SiteCounts, live: SiteView | undefined): SiteLine {
  // The crawl knows more than was committed yet.
  const { known, pending, pages, bytes } = live ?? counts;
  const rateBps = siteRatesBps[counts.site] ?? 0;
  return { site: counts.site, known, pending, pages, bytes, rateBps, live };
}
