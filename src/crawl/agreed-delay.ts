/**
 * The delay between requests to a site, and to its IP address: as configured, or as its robots.txt demands.
 *
 * Pure, and also used before the first request: a plan must use the delay that the crawl will keep.
 */

import type { Settings } from "../config/schema.ts";
import { type RobotsRules, rulesFor } from "../fetch/robots.ts";
import { siteDelay } from "../frontier/politeness.ts";
import { robotNameOf } from "../page/robots-tags.ts";
import type { StoredRobots } from "../store/store.ts";

export const CRAWL_DELAY_MAX_MS = 60_000;
const PUBLIC_DELAY_MS = 1000;
const PUBLIC_ADDRESS_DELAY_MS = 250;

export function agreedDelayMs(
  configuredMs: number | undefined,
  isLoopback: boolean,
  { crawlDelayMs }: Pick<RobotsRules, "crawlDelayMs">,
): number {
  const ownMs = configuredMs ?? (isLoopback ? 0 : PUBLIC_DELAY_MS);
  return siteDelay(ownMs, crawlDelayMs, CRAWL_DELAY_MAX_MS).delayMs;
}

export function agreedAddressDelayMs(
  { addressDelayMs }: Pick<Settings, "addressDelayMs">,
  isLoopback: boolean,
): number {
  return addressDelayMs ?? (isLoopback ? 0 : PUBLIC_ADDRESS_DELAY_MS);
}

/** Both delays of a site that has not been resolved yet, from its host or last known IP address and its robots.txt. */
export function delaysInAdvance(
  host: string,
  configuredMs: number | undefined,
  robots: StoredRobots | undefined,
  settings: Pick<Settings, "addressDelayMs" | "ignoreRobots" | "userAgent">,
): { readonly delayMs: number; readonly addressDelayMs: number } {
  const isOwn = isLoopbackHost(host);
  const rules = robots === undefined || settings.ignoreRobots ? {} : rulesIn(robots, settings);
  return {
    delayMs: agreedDelayMs(configuredMs, isOwn, { crawlDelayMs: undefined, ...rules }),
    addressDelayMs: agreedAddressDelayMs(settings, isOwn),
  };
}

export function rulesIn(
  { status, text }: StoredRobots,
  { userAgent }: Pick<Settings, "userAgent">,
): RobotsRules {
  return rulesFor(status, Buffer.from(text, "latin1"), robotNameOf(userAgent));
}

/** Requests for robots.txt and the sitemap before a site's first page. */
export function errandsBefore({
  ignoreRobots,
  sitemaps,
}: Pick<Settings, "ignoreRobots" | "sitemaps">): number {
  return Number(!ignoreRobots) + Number(sitemaps);
}

function isLoopbackHost(host: string): boolean {
  return /^127\.|^\[?::1\]?$|(^|\.)localhost$/.test(host);
}
