/**
 * The settings of each seed's site: those of its own entry, otherwise the general ones.
 *
 * Each site is listed once, for any number of its URLs. If several entries of a file name one site,
 * the last one counts.
 */

import { siteOf, type SiteKey } from "../url/site.ts";
import { type CanonicalUrl, canonicalUrl, isRefused } from "../url/url.ts";
import type { Settings, SiteSettings } from "./schema.ts";

export interface SiteWish {
  readonly site: SiteKey;
  readonly deadlineSeconds: number | undefined;
  readonly sizeBytes: number | undefined;
  readonly pagesExpected: number | undefined;
  /** The highest rate of its servers, as written. */
  readonly capBps: number | undefined;
  /** The limit of the site, its own or the one for every site. */
  readonly limitBps: number | undefined;
  readonly weight: number;
  readonly efficiency: number;
  readonly concurrency: number;
  readonly delayMs: number | undefined;
}

/** In the order of the first seed of each site; `seeds` are all seeds of the request. */
export function siteWishes(settings: Settings, seeds: readonly CanonicalUrl[]): SiteWish[] {
  const own = new Map(entriesBySite(settings).map(([site, entries]) => [site, entries.at(-1)]));
  return [...new Set(seeds.map(siteOf))].map((site) => wishOf(site, own.get(site), settings));
}

/** All entries of each site, in the order written. */
export function entriesBySite({
  sites,
}: Settings): [site: SiteKey, entries: readonly SiteSettings[]][] {
  const bySite = new Map<SiteKey, SiteSettings[]>();
  for (const entry of sites) {
    const url = canonicalUrl(entry.url);
    if (isRefused(url)) continue;
    const held = bySite.get(siteOf(url));
    if (held === undefined) bySite.set(siteOf(url), [entry]);
    else held.push(entry);
  }
  return [...bySite];
}

function wishOf(site: SiteKey, own: SiteSettings | undefined, settings: Settings): SiteWish {
  const deadlineMs = own?.deadlineMs ?? settings.deadlineMs;
  return {
    site,
    deadlineSeconds: deadlineMs === undefined ? undefined : deadlineMs / 1000,
    sizeBytes: own?.sizeBytes,
    pagesExpected: own?.pagesExpected,
    capBps: own?.capBps,
    limitBps: own?.limitBps ?? settings.siteLimitBps,
    weight: own?.priority ?? 1,
    efficiency: own?.efficiency ?? 1,
    concurrency: own?.concurrency ?? settings.concurrencyPerSite,
    delayMs: own?.delayMs ?? settings.delayMs,
  };
}
