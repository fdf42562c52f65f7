/** Derives the limits of each part from the settings: memory, politeness, budgets of URLs. */

import type { Settings, SiteSettings } from "../config/schema.ts";
import { POLITENESS_DEFAULTS, type PolitenessLimits } from "../frontier/politeness.ts";
import { TRAP_DEFAULTS, type TrapLimits } from "../frontier/traps.ts";
import { siteOf } from "../url/site.ts";
import { canonicalUrl, isRefused } from "../url/url.ts";

/** The share of --memory that a part may use. */
interface MemoryUse {
  readonly share: number;
  readonly entryBytes: number;
  readonly entriesMin: number;
}

export const SIEVE: MemoryUse = { share: 1 / 8, entryBytes: 8, entriesMin: 4096 };
export const WAITING: MemoryUse = { share: 1 / 4, entryBytes: 600, entriesMin: 256 };
export const SITES: MemoryUse = { share: 1 / 8, entryBytes: 4096, entriesMin: 64 };
/** Share of --memory for ranks, which are kept only if they order the queue. */
export const RANKS_SHARE = 1 / 4;
export const NEAR: MemoryUse = { share: 1 / 16, entryBytes: 64, entriesMin: 256 };

export function politenessLimits(settings: Settings): PolitenessLimits {
  const { delayMs = 0, addressDelayMs = 0 } = settings;
  const siteDelaysMs = settings.sites.map((site) => site.delayMs ?? 0);
  return {
    ...POLITENESS_DEFAULTS,
    siteConcurrencyMax: settings.concurrencyPerSite,
    addressConcurrencyMax: settings.concurrencyPerAddress,
    delayMaxMs: Math.max(POLITENESS_DEFAULTS.delayMaxMs, delayMs, addressDelayMs, ...siteDelaysMs),
  };
}

export function trapLimits(settings: Settings): TrapLimits {
  const { patternUrlsMax } = settings;
  // Queries multiply pages without adding content, so their budget is a part of the whole one.
  const shareOf = (usually: number): number =>
    Math.min(
      patternUrlsMax,
      Math.max(usually, Math.floor((usually * patternUrlsMax) / TRAP_DEFAULTS.shapeUrlsMax)),
    );
  return {
    ...TRAP_DEFAULTS,
    learns: settings.traps === "learn",
    hopsMax: settings.depthMax ?? TRAP_DEFAULTS.hopsMax,
    shapeUrlsMax: patternUrlsMax,
    queryShapeUrlsMax: shareOf(TRAP_DEFAULTS.queryShapeUrlsMax),
    queriesPerPathShapeMax: shareOf(TRAP_DEFAULTS.queriesPerPathShapeMax),
    siteUrlsMax: settings.siteUrlsMax,
    trustedDomainUrlsMax: settings.domainUrlsMax,
  };
}

export function entriesIn({ memoryBytes }: Settings, use: MemoryUse): number {
  return Math.max(use.entriesMin, Math.floor((memoryBytes * use.share) / use.entryBytes));
}

/** Settings of single sites, by site. */
export function settingsBySite(sites: readonly SiteSettings[]): Map<string, SiteSettings> {
  const bySite = new Map<string, SiteSettings>();
  for (const own of sites) {
    const url = canonicalUrl(own.url);
    if (!isRefused(url)) bySite.set(siteOf(url), own);
  }
  return bySite;
}
