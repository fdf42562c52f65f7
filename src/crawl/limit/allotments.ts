/** What the settings allot to each part of a crawl: memory, manners, budgets, and the way a limit is held. */

import { Admission } from "../../bandwidth/papers/admission.ts";
import type { Controller } from "../../bandwidth/controller.ts";
import { Governor } from "../../bandwidth/paced/governor.ts";
import { OnOff } from "../../bandwidth/papers/on-off.ts";
import { unreachable } from "../../base/assert.ts";
import type { Settings } from "../../config/schema.ts";
import { COURTESY_DEFAULTS, type CourtesyLimits } from "../../frontier/politeness.ts";
import { TRAP_DEFAULTS, type TrapLimits } from "../../frontier/traps.ts";

/** What a part may take of the memory that was granted. */
interface MemoryUse {
  readonly share: number;
  readonly entryBytes: number;
  readonly entriesMin: number;
}

export const SIEVE: MemoryUse = { share: 1 / 8, entryBytes: 8, entriesMin: 4096 };
export const WAITING: MemoryUse = { share: 1 / 4, entryBytes: 600, entriesMin: 256 };
export const SITES: MemoryUse = { share: 1 / 8, entryBytes: 4096, entriesMin: 64 };
/** Of the memory, beside what the others have: ranks are kept only where they order the queue. */
export const RANKS_SHARE = 1 / 4;
export const NEAR: MemoryUse = { share: 1 / 16, entryBytes: 64, entriesMin: 256 };

export function controllerFor(settings: Settings, nowMs: number): Controller {
  switch (settings.control) {
    case "paced":
      return new Governor(nowMs, undefined, settings.waitMaxMs);
    case "predict":
      return new Admission(undefined, settings.waitMaxMs);
    case "onoff":
      return new OnOff(nowMs, undefined);
    default:
      return unreachable(settings.control);
  }
}

export function courtesyLimits(settings: Settings): CourtesyLimits {
  const { delayMs = 0, addressDelayMs = 0 } = settings;
  const siteDelaysMs = settings.sites.map((site) => site.delayMs ?? 0);
  return {
    ...COURTESY_DEFAULTS,
    siteConcurrencyMax: settings.concurrencyPerSite,
    addressConcurrencyMax: settings.concurrencyPerAddress,
    delayMaxMs: Math.max(COURTESY_DEFAULTS.delayMaxMs, delayMs, addressDelayMs, ...siteDelaysMs),
  };
}

export function trapLimits(settings: Settings): TrapLimits {
  const { patternUrlsMax } = settings;
  // Queries make many pages of little, so theirs is a part of the budget, if it is a large one.
  const shareOf = (usually: number): number =>
    Math.min(
      patternUrlsMax,
      Math.max(usually, Math.floor((usually * patternUrlsMax) / TRAP_DEFAULTS.shapeUrlsMax)),
    );
  return {
    ...TRAP_DEFAULTS,
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
