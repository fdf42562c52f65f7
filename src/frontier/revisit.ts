/**
 * Whether a URL that has ended is asked for again in a new round, and which goes first.
 *
 * How often a page changes is told by how often it had changed when somebody looked. That misses
 * changes between two looks, and counting them plainly makes lively pages look slower than they are.
 * Cho and Garcia-Molina ("Estimating Frequency of Change", ACM TOIT 3(3), 2003, section 4.2) count
 * the looks that found nothing instead: for changes that come as a Poisson process the share of such
 * looks is exp(-rate * interval), whatever happened in between. Their estimate is `changeRate`, and
 * what a round will bring is reckoned with it (`fairChance`), because it is hardly biased.
 *
 * It is 0 after a single look that found nothing, and a page believed never to change is never looked
 * at again. So whether to look, and where first, follows `chanceOfChange`, which takes the share of quiet looks as (quiet + 1/2) / (looks + 1), which is
 * never 0 nor 1 (Krichevsky and Trofimov 1981). While nothing changes, a page is left out of rounds for
 * about a fifth of the time it has been watched, which grows with every look.
 *
 * Times are on the wall clock, because they are kept between runs; one that leaps costs a wrong guess.
 */

import { isRetryable, type Reason, settlementOf } from "../page/outcome.ts";
import type { Visits } from "../page/visits.ts";

export interface RevisitRules {
  /** A page is left out while it is less likely than this to have changed, */
  readonly chanceMin: number;
  /** unless it was last looked at so long ago. */
  readonly ageMaxMs: number;
  /** Whether only pages are asked for, and not what failed or led elsewhere; and these before new URLs. */
  readonly isRefresh: boolean;
}

export interface KnownUrl {
  readonly depth: number;
  readonly reason: Reason;
  /** When its page was last fetched or confirmed; 0 when it never had one. */
  readonly fetchedAtMs: number;
  readonly visits: Visits | undefined;
}

/** `left`: not this time; `dropped`: never again; `kept`: nothing could come of asking, or it is not wanted. */
export type RevisitVerdict =
  | { readonly kind: "ask"; readonly score: number }
  | { readonly kind: "left" | "dropped" | "kept" };

/** Nothing is known yet: as likely as not. */
const CHANCE_UNKNOWN = 0.5;
/**
 * New URLs have the scores of their order, which lie far between these: starting addresses go first,
 * because they lead to what is new; then what is new; then what is known, the likeliest first.
 */
const STARTS_FROM = 1e9;
const KNOWN_FROM = -1e9;
/** In a refresh known pages go before new ones, because they are what was asked for. */
const REFRESHED_FROM = 5e8;
/** So wide that links counted meanwhile hardly change the order. */
const CHANCE_WIDTH = 1e6;

/** By Cho and Garcia-Molina, in changes per millisecond; undefined before the first look. */
export function changeRate({ checks, changes, watchedMs }: Visits): number | undefined {
  if (checks === 0 || watchedMs <= 0) return undefined;
  const quiet = checks - changes;
  return Math.log((checks + 0.5) / (quiet + 0.5)) / (watchedMs / checks);
}

/** How likely the page is another by now. */
export function chanceOfChange(visits: Visits, nowMs: number): number {
  const { checks, changes, watchedMs, lastAtMs } = visits;
  if (checks === 0) return CHANCE_UNKNOWN;
  const quietShare = (checks - changes + 0.5) / (checks + 1);
  const intervals = Math.max(0, nowMs - lastAtMs) / Math.max(1, watchedMs / checks);
  return 1 - quietShare ** intervals;
}

/** The same by Cho and Garcia-Molina: the better guess for many pages together. */
export function fairChance(visits: Visits, nowMs: number): number {
  const rate = changeRate(visits);
  if (rate === undefined) return CHANCE_UNKNOWN;
  return 1 - Math.exp(-rate * Math.max(0, nowMs - visits.lastAtMs));
}

/** Of a URL that has ended, whether this round asks for it again. */
export function judgeRevisit(url: KnownUrl, nowMs: number, rules: RevisitRules): RevisitVerdict {
  const { depth, reason } = url;
  const from = rules.isRefresh ? REFRESHED_FROM : KNOWN_FROM;
  if (rules.isRefresh && reason !== "ok" && reason !== "not_modified") return { kind: "kept" };
  // Its site's robots.txt may have changed, and finding out takes no request.
  if (settlementOf(reason) === "skipped")
    return reason === "robots_denied" ? ask(from, CHANCE_UNKNOWN) : { kind: "kept" };
  if (isGone(reason) && url.visits !== undefined && isGone(url.visits.was))
    return { kind: "dropped" };
  if (depth === 0) return { kind: "ask", score: STARTS_FROM };
  if (isGone(reason) || isRetryable(reason)) return ask(from, CHANCE_UNKNOWN);
  const visits = visitsBefore(url);
  const chance = chanceOfChange(visits, nowMs);
  const isOld = nowMs - visits.lastAtMs >= rules.ageMaxMs;
  return isOld || chance >= rules.chanceMin ? ask(from, chance) : { kind: "left" };
}

/** What is remembered of a URL when it is asked for again: how it had ended. */
export function visitsBefore({ reason, fetchedAtMs, visits }: KnownUrl): Visits {
  const none = { checks: 0, changes: 0, watchedMs: 0, lastAtMs: fetchedAtMs };
  return { ...(visits ?? none), was: reason };
}

/** What is remembered once it has been asked. */
export function visitsAfter(before: Visits, atMs: number, hasChanged: boolean): Visits {
  // A URL that never had a page has no date yet, so there is no time between.
  const sinceMs = before.lastAtMs === 0 ? 0 : Math.max(0, atMs - before.lastAtMs);
  return {
    checks: before.checks + 1,
    changes: before.changes + (hasChanged ? 1 : 0),
    watchedMs: before.watchedMs + sinceMs,
    lastAtMs: atMs,
    was: before.was,
  };
}

/** Said by the server itself; asked once more in the next round, and then never again. */
export function isGone(reason: Reason): boolean {
  return reason === "http_404" || reason === "http_410";
}

function ask(from: number, chance: number): RevisitVerdict {
  return { kind: "ask", score: from + CHANCE_WIDTH * chance };
}
