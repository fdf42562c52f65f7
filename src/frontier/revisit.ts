/**
 * Decides whether a new crawl round fetches a finished URL again, and in which order.
 *
 * The rate of change of a page is estimated from the share of checks that found a change. That misses
 * several changes between two checks, and plain counting underestimates frequently changing pages.
 * Cho and Garcia-Molina ("Estimating Frequency of Change", ACM TOIT 3(3), 2003, section 4.2) count
 * the checks without a change instead: for changes that form a Poisson process the share of such
 * checks is exp(-rate * interval), for any number of changes in between. Their estimate is `changeRate`;
 * the expected size of a round is computed with it (`fairChance`), because it has hardly any bias.
 *
 * It is 0 after a single check without a change, and a page that is believed never to change is never
 * checked again. So the decision and the order follow `chanceOfChange`, which estimates the share of checks without
 * a change as (unchanged + 1/2) / (checks + 1), never 0 or 1 (Krichevsky and Trofimov 1981). While nothing changes, a
 * page is left out of rounds for about a fifth of the time it has been watched, which grows with every check.
 *
 * Times are wall-clock times, because they are stored between runs; a jump of the clock costs a wrong estimate.
 */

import { isRetryable, type Reason, settlementOf } from "../page/outcome.ts";
import type { Visits } from "../page/visits.ts";

export interface RevisitRules {
  /** A page is left out while it is less likely than this to have changed. */
  readonly chanceMin: number;
  /** A page last checked this long ago is fetched at any chance of change. */
  readonly ageMaxMs: number;
  /** Fetches only pages, not failed or redirected URLs; and pages before new URLs. */
  readonly isRefresh: boolean;
}

export interface KnownUrl {
  readonly depth: number;
  readonly reason: Reason;
  /** When its page was last fetched or confirmed; 0 without a page. */
  readonly fetchedAtMs: number;
  readonly visits: Visits | undefined;
}

/** `left`: not in this round; `dropped`: never again; `kept`: a request is useless or unwanted. */
type RevisitVerdict =
  | { readonly kind: "recrawl"; readonly score: number }
  | { readonly kind: "left" | "dropped" | "kept" };

/** The chance of a change without any check. */
const CHANCE_UNKNOWN = 0.5;
/**
 * Base scores of URLs in a round. New URLs have the scores of their order, which lie between these: seeds are first,
 * because they lead to new pages; then new URLs; then known ones, the most likely to have changed first.
 */
const SEEDS_FROM = 1e9;
const KNOWN_FROM = -1e9;
/** In a refresh known pages go before new ones. */
const REFRESHED_FROM = 5e8;
/** Score between a chance of 0 and 1: wide enough that links found later hardly change the order. */
const CHANCE_WIDTH = 1e6;

/** Changes per millisecond, by Cho and Garcia-Molina; undefined before the first check. */
export function changeRate({ checks, changes, watchedMs }: Visits): number | undefined {
  if (checks === 0 || watchedMs <= 0) return undefined;
  const unchanged = checks - changes;
  return Math.log((checks + 0.5) / (unchanged + 0.5)) / (watchedMs / checks);
}

/** The probability that the page has changed by now. */
export function chanceOfChange(visits: Visits, nowMs: number): number {
  const { checks, changes, watchedMs, lastAtMs } = visits;
  if (checks === 0) return CHANCE_UNKNOWN;
  const unchangedShare = (checks - changes + 0.5) / (checks + 1);
  const intervals = Math.max(0, nowMs - lastAtMs) / Math.max(1, watchedMs / checks);
  return 1 - unchangedShare ** intervals;
}

/** The same probability by Cho and Garcia-Molina: more accurate for the sum over many pages. */
export function fairChance(visits: Visits, nowMs: number): number {
  const rate = changeRate(visits);
  if (rate === undefined) return CHANCE_UNKNOWN;
  return 1 - Math.exp(-rate * Math.max(0, nowMs - visits.lastAtMs));
}

/** Decides whether this round fetches a finished URL again. */
export function judgeRevisit(url: KnownUrl, nowMs: number, rules: RevisitRules): RevisitVerdict {
  const { depth, reason } = url;
  const from = rules.isRefresh ? REFRESHED_FROM : KNOWN_FROM;
  if (rules.isRefresh && reason !== "ok" && reason !== "not_modified") return { kind: "kept" };
  // The site's robots.txt may have changed, and checking it takes no request.
  if (settlementOf(reason) === "skipped")
    return reason === "robots_denied" ? recrawl(from, CHANCE_UNKNOWN) : { kind: "kept" };
  if (isGone(reason) && url.visits !== undefined && isGone(url.visits.was))
    return { kind: "dropped" };
  if (depth === 0) return { kind: "recrawl", score: SEEDS_FROM };
  if (isGone(reason) || isRetryable(reason)) return recrawl(from, CHANCE_UNKNOWN);
  const visits = visitsBefore(url);
  const chance = chanceOfChange(visits, nowMs);
  const isOld = nowMs - visits.lastAtMs >= rules.ageMaxMs;
  return isOld || chance >= rules.chanceMin ? recrawl(from, chance) : { kind: "left" };
}

/** The visits to store when a URL is queued again: its outcome before the recrawl. */
export function visitsBefore({ reason, fetchedAtMs, visits }: KnownUrl): Visits {
  const none = { checks: 0, changes: 0, watchedMs: 0, lastAtMs: fetchedAtMs };
  return { ...(visits ?? none), was: reason };
}

/** The visits to store after a check. */
export function visitsAfter(before: Visits, atMs: number, hasChanged: boolean): Visits {
  // A URL that never had a page has no earlier date, so no time has passed.
  const sinceMs = before.lastAtMs === 0 ? 0 : Math.max(0, atMs - before.lastAtMs);
  return {
    checks: before.checks + 1,
    changes: before.changes + (hasChanged ? 1 : 0),
    watchedMs: before.watchedMs + sinceMs,
    lastAtMs: atMs,
    was: before.was,
  };
}

/** Reported by the server itself; fetched once more in the next round, and then never again. */
export function isGone(reason: Reason): boolean {
  return reason === "http_404" || reason === "http_410";
}

function recrawl(from: number, chance: number): RevisitVerdict {
  return { kind: "recrawl", score: from + CHANCE_WIDTH * chance };
}
