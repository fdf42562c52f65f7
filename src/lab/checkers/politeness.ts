/**
 * Judges manners from the servers' log: pace, crowding and closed doors.
 *
 * Rules:
 *   `site-delay`, `address-delay`: two requests began closer than the delay allows;
 *   `site-crowd`, `address-crowd`: more requests under way than allowed;
 *   `forbidden`: a URL was asked for that robots.txt closes.
 *
 * O(n log n) in the requests.
 */

import { Heap } from "../../base/heap.ts";
import type { RequestEntry } from "../request-log.ts";
import type { Violation } from "./violation.ts";

export interface Manners {
  /** The crawler's own least time between two requests to a site. */
  readonly delayMs: number;
  /** What the site asks for in robots.txt, which binds every request but that for robots.txt. */
  readonly crawlDelayMsOf: (site: string) => number;
  readonly addressDelayMs: number;
  readonly siteConcurrencyMax: number;
  readonly addressConcurrencyMax: number;
  /** How far a real clock and a real network may shift a request; 0 in virtual time. */
  readonly toleranceMs: number;
  readonly isForbidden: (url: string) => boolean;
}

interface Party {
  lastStartMs: number;
  readonly ends: Heap<number>;
}

export function checkPoliteness(log: readonly RequestEntry[], manners: Manners): Violation[] {
  const violations: Violation[] = [];
  const parties = new Map<string, Party>();
  for (const entry of log.toSorted((a, b) => a.startMs - b.startMs)) {
    const url = entry.site + entry.path;
    if (manners.isForbidden(url)) violations.push({ rule: "forbidden", detail: url });
    const site = partyOf(parties, `site ${entry.site}`);
    const address = partyOf(parties, `address ${entry.address}`);
    violations.push(
      ...tooSoon("site-delay", site, entry, delayMsOf(entry, manners) - manners.toleranceMs),
      ...tooSoon("address-delay", address, entry, manners.addressDelayMs - manners.toleranceMs),
      ...tooMany("site-crowd", site, entry, manners.siteConcurrencyMax),
      ...tooMany("address-crowd", address, entry, manners.addressConcurrencyMax),
    );
  }
  return violations;
}

function delayMsOf(entry: RequestEntry, manners: Manners): number {
  if (entry.path === "/robots.txt") return manners.delayMs;
  return Math.max(manners.delayMs, manners.crawlDelayMsOf(entry.site));
}

function tooSoon(rule: string, party: Party, entry: RequestEntry, leastMs: number): Violation[] {
  const apartMs = entry.startMs - party.lastStartMs;
  party.lastStartMs = entry.startMs;
  // Sums of times that are no whole milliseconds differ in their last digits.
  if (apartMs >= leastMs - 1e-6) return [];
  const detail = `${entry.site}${entry.path} at ${entry.startMs} ms, ${apartMs} ms after the last`;
  return [{ rule, detail }];
}

function tooMany(rule: string, party: Party, entry: RequestEntry, countMax: number): Violation[] {
  while ((party.ends.peek() ?? Number.POSITIVE_INFINITY) <= entry.startMs) party.ends.pop();
  party.ends.push(entry.endMs);
  if (party.ends.size <= countMax) return [];
  const detail = `${entry.site}${entry.path} at ${entry.startMs} ms was number ${party.ends.size}`;
  return [{ rule, detail }];
}

function partyOf(parties: Map<string, Party>, key: string): Party {
  let party = parties.get(key);
  if (party === undefined) {
    party = { lastStartMs: Number.NEGATIVE_INFINITY, ends: new Heap((a, b) => a - b) };
    parties.set(key, party);
  }
  return party;
}
