/** Runs all checkers on a finished crawl of one process, with the politeness its settings and sites require. */

import type { Settings } from "../config/schema.ts";
import { type Books, checkAccounts, checkTruth } from "./checkers/accounts.ts";
import { checkArchive } from "./checkers/archive.ts";
import { checkOnce } from "./checkers/once.ts";
import { checkPoliteness, type PolitenessRules } from "./checkers/politeness.ts";
import type { Violation } from "./violation.ts";
import { groundTruth } from "./ground-truth.ts";
import type { RequestEntry } from "./request-log.ts";
import { siteNamed } from "./world.ts";
import { DECOY_PATH } from "./world/html.ts";
import type { World } from "./world/plan.ts";

/** A finished crawl: its books, its archive, and the log of the servers. */
export interface Evidence {
  readonly world: World;
  readonly settings: Settings;
  readonly books: Books;
  readonly log: readonly RequestEntry[];
  /** URLs of the records in the archive; a record's offset is its index in this list. */
  readonly archived: readonly string[];
  readonly crashedAtMs: readonly number[];
  readonly toleranceMs: number;
}

/** The crawler's default delay per site, when the settings have none. */
const DELAY_MS = 1_000;
/** The crawler's default delay per address that is not loopback. */
const ADDRESS_DELAY_MS = 250;

/**
 * Runs all checkers on a finished crawl of one process. An empty list means that no promise was broken.
 *
 * @example
 * import { type Evidence, judge } from "weir/lab";
 *
 * export function assertFaultless(evidence: Evidence): void {
 *   const violations = judge(evidence);
 *   if (violations.length > 0) throw new Error(JSON.stringify(violations));
 * }
 */
export function judge(evidence: Evidence): Violation[] {
  const { world, settings, books, log, archived, crashedAtMs } = evidence;
  const always = [
    ...checkAccounts(books),
    ...checkArchive(books, ({ offset }) => archived[offset]),
    ...checkPoliteness(log, politenessRulesOf(evidence)),
  ];
  // A watching crawl requests pages repeatedly and finds them changed.
  if (settings.watch) return always;
  return [
    ...always,
    ...checkTruth(books, world),
    ...checkOnce({
      log,
      stored: archived,
      crashedAtMs,
      // Requests that are open, pages just received, and pages waiting for the archive.
      uncommittedMax: 3 * settings.connectionsMax,
      mayRepeat: (path) => path === "/robots.txt" || path.startsWith("/sitemap"),
    }),
  ];
}

export function politenessRulesOf({
  world,
  settings,
  toleranceMs,
}: Pick<Evidence, "world" | "settings" | "toleranceMs">): PolitenessRules {
  const forbidden = new Set<string>();
  for (const { url, fate } of groundTruth(world)) if (fate === "forbidden") forbidden.add(url);
  return {
    delayMs: settings.delayMs ?? DELAY_MS,
    crawlDelayMsOf: (origin) => siteNamed(world, new URL(origin).host)?.crawlDelayMs ?? 0,
    addressDelayMs: settings.addressDelayMs ?? ADDRESS_DELAY_MS,
    siteConcurrencyMax: settings.concurrencyPerSite,
    addressConcurrencyMax: settings.concurrencyPerAddress,
    toleranceMs,
    isForbidden: (url) => forbidden.has(url) || url.endsWith(DECOY_PATH),
  };
}
