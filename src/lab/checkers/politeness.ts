/**
 * Checks politeness on the servers' log: delays, concurrency and forbidden URLs.
 *
 * Rules:
 *   `site-delay`, `address-delay`: two requests started closer than the delay;
 *   `site-crowd`, `address-crowd`: more concurrent requests than allowed;
 *   `forbidden`: a request for a URL that robots.txt disallows.
 *
 * O(n log n) in the requests.
 */

import { Heap } from "../../base/heap.ts";
import type { RequestEntry } from "../request-log.ts";
import type { Violation } from "../violation.ts";

/** The politeness that a crawl must keep. */
export interface PolitenessRules {
  /** The crawler's own minimum delay between two requests to a site. */
  readonly delayMs: number;
  /** Crawl-delay of the site's robots.txt, which applies to all requests except for robots.txt itself. */
  readonly crawlDelayMsOf: (site: string) => number;
  readonly addressDelayMs: number;
  readonly siteConcurrencyMax: number;
  readonly addressConcurrencyMax: number;
  /** Permitted shift of a request by a real clock and network; 0 in virtual time. */
  readonly toleranceMs: number;
  readonly isForbidden: (url: string) => boolean;
}

interface Target {
  lastStartMs: number;
  readonly ends: Heap<number>;
}

/**
 * Checks delays, concurrency and forbidden URLs on the log of the servers.
 *
 * @example
 * import { checkPoliteness, runSim } from "weir/lab";
 *
 * const { log } = await runSim({ seed: 1, settings: { delayMs: 1000 } });
 * const violations = checkPoliteness(log, {
 *   delayMs: 1000,
 *   crawlDelayMsOf: () => 0,
 *   addressDelayMs: 0,
 *   siteConcurrencyMax: 2,
 *   addressConcurrencyMax: 8,
 *   toleranceMs: 0,
 *   isForbidden: () => false,
 * });
 * console.log(violations);
 */
export function checkPoliteness(log: readonly RequestEntry[], rules: PolitenessRules): Violation[] {
  const violations: Violation[] = [];
  const targets = new Map<string, Target>();
  for (const entry of log.toSorted((a, b) => a.startMs - b.startMs)) {
    const url = entry.site + entry.path;
    if (rules.isForbidden(url)) violations.push({ rule: "forbidden", detail: url });
    const site = targetOf(targets, `site ${entry.site}`);
    const address = targetOf(targets, `address ${entry.address}`);
    violations.push(
      ...tooSoon("site-delay", site, entry, delayMsOf(entry, rules) - rules.toleranceMs),
      ...tooSoon("address-delay", address, entry, rules.addressDelayMs - rules.toleranceMs),
      ...tooMany("site-crowd", site, entry, rules.siteConcurrencyMax),
      ...tooMany("address-crowd", address, entry, rules.addressConcurrencyMax),
    );
  }
  return violations;
}

function delayMsOf(entry: RequestEntry, rules: PolitenessRules): number {
  if (entry.path === "/robots.txt") return rules.delayMs;
  return Math.max(rules.delayMs, rules.crawlDelayMsOf(entry.site));
}

function tooSoon(rule: string, target: Target, entry: RequestEntry, leastMs: number): Violation[] {
  const apartMs = entry.startMs - target.lastStartMs;
  target.lastStartMs = entry.startMs;
  // The tolerance covers rounding errors in sums of fractional milliseconds.
  if (apartMs >= leastMs - 1e-6) return [];
  const detail = `${entry.site}${entry.path} at ${entry.startMs} ms, ${apartMs} ms after the last`;
  return [{ rule, detail }];
}

function tooMany(rule: string, target: Target, entry: RequestEntry, countMax: number): Violation[] {
  while ((target.ends.peek() ?? Number.POSITIVE_INFINITY) <= entry.startMs) target.ends.pop();
  target.ends.push(entry.endMs);
  if (target.ends.size <= countMax) return [];
  const detail = `${entry.site}${entry.path} at ${entry.startMs} ms was concurrent request ${target.ends.size}`;
  return [{ rule, detail }];
}

function targetOf(targets: Map<string, Target>, key: string): Target {
  let target = targets.get(key);
  if (target === undefined) {
    target = { lastStartMs: Number.NEGATIVE_INFINITY, ends: new Heap((a, b) => a - b) };
    targets.set(key, target);
  }
  return target;
}
