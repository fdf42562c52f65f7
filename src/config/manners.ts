/**
 * What may not be asked of strangers: crawling a public site without saying who does it, or
 * without a pause. Whoever owns the sites says so (`--own-sites`) and is not held up.
 */

import { isAllowed, PUBLIC_ONLY } from "../fetch/address-guard.ts";
import { siteOf } from "../url/site.ts";
import { type CanonicalUrl, hostOf } from "../url/url.ts";
import type { Settings } from "./schema.ts";
import { isAddress } from "./seeds.ts";

const DELAY_MS_MIN = 100;
/** Names that lead nowhere public: RFC 2606, 6761, 6762, 8375 and ICANN's `internal`. */
const NAMES_RESERVED = /(^|\.)(test|example|invalid|localhost|local|internal|home\.arpa)$/;

export function rudeness(settings: Settings, seeds: readonly CanonicalUrl[]): string[] {
  const stranger = settings.ownSites ? undefined : seeds.find(isPublic);
  if (stranger === undefined) return [];
  const found: string[] = [];
  const site = siteOf(stranger);
  if (settings.contact === undefined)
    found.push(
      `${site} is public: give a contact with --contact you@example.org (or WEIR_CONTACT, or contact: in weir.yaml); --own-sites if it is yours`,
    );
  for (const [flag, delayMs] of [
    ["--delay", settings.delayMs],
    ["--address-delay", settings.addressDelayMs],
  ] as const)
    if (delayMs !== undefined && delayMs < DELAY_MS_MIN)
      found.push(
        `${flag} ${delayMs}ms: at least ${DELAY_MS_MIN}ms for ${site}, which is public; --own-sites if it is yours`,
      );
  return found;
}

export function isPublic(url: CanonicalUrl): boolean {
  const host = hostOf(url).replace(/^\[|\]$/g, "");
  if (isAddress(host)) return isAllowed(host, 80, PUBLIC_ONLY);
  return host.includes(".") && !NAMES_RESERVED.test(host);
}
