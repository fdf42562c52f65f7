/** Settings for politeness, and their minimum for public sites that the operator does not own. */

import { PUBLIC_ONLY, isAllowed } from "../fetch/address-guard.ts";
import { siteOf } from "../url/site.ts";
import { type CanonicalUrl, hostOf } from "../url/url.ts";
import type { FieldTable } from "./field.ts";
import * as read from "./readers.ts";
import type { Settings } from "./schema.ts";
import { isAddress } from "./seeds.ts";
import { VERSION } from "./version.ts";

const HOUR = 3_600_000;

export const POLITENESS = {
  delayMs: {
    key: "delay",
    meaning:
      "Least time between two requests to one site. By default 1s for public addresses, 0 for loopback.",
    reader: read.duration({ least: 0, most: HOUR }),
  },
  addressDelayMs: {
    key: "addressDelay",
    meaning:
      "Least time between two requests to one IP address, over all its sites. By default 250ms for public addresses, 0 for loopback.",
    reader: read.duration({ least: 0, most: HOUR }),
  },
  concurrencyPerSite: {
    key: "concurrencyPerSite",
    meaning: "Most requests to one site at the same time.",
    fallback: "2",
    reader: read.integer({ least: 1, most: 256 }),
  },
  concurrencyPerAddress: {
    key: "concurrencyPerAddress",
    meaning: "Most requests to one IP address at the same time.",
    fallback: "8",
    reader: read.integer({ least: 1, most: 1024 }),
  },
  userAgent: {
    key: "userAgent",
    meaning:
      "User agent; the name before the / is matched in robots.txt, X-Robots-Tag headers and robots meta tags.",
    fallback: `Weir/${VERSION}`,
    reader: read.headerText(
      "TEXT",
      "a product name of letters, - and _, and its version: Name/1.0 (comment)",
      /^[A-Za-z_-]+(\/[^\s()]+)?( .*)?$/,
    ),
  },
  contact: {
    key: "contact",
    meaning:
      "Mail address or web page where site owners can reach you, added to the user agent. Required for public sites.",
    reader: read.headerText(
      "MAIL|URL",
      "a mail address or an http(s) URL",
      /^(https?:\/\/[^\s()@/?#]+([/?#][^\s()]*)?|[^\s()@]+@[^\s()@]+)$/,
    ),
  },
  ownSites: {
    key: "ownSites",
    meaning:
      "You own the sites: public sites may be crawled without --contact and with delays under 100ms.",
    fallback: "false",
    reader: read.onOff,
  },
  ignoreRobots: {
    key: "ignoreRobots",
    meaning: "Do not fetch or obey robots.txt. Only for sites whose owner agreed.",
    fallback: "false",
    reader: read.onOff,
  },
  nofollow: {
    key: "nofollow",
    meaning:
      "Whether links are followed that a page marks with nofollow (rel, meta robots or X-Robots-Tag). Independent of robots.txt.",
    fallback: "obey",
    reader: read.oneOf(["obey", "ignore"]),
  },
  sitemaps: {
    key: "sitemaps",
    meaning: "Use the sitemaps named in robots.txt, and /sitemap.xml, as seeds.",
    fallback: "true",
    reader: read.onOff,
  },
} as const satisfies FieldTable;

const DELAY_MS_MIN = 100;
/** Names that are never public: RFC 2606, 6761, 6762, 8375 and ICANN's `internal`. */
const NAMES_RESERVED = /(^|\.)(test|example|invalid|localhost|local|internal|home\.arpa)$/;

export function politenessMistakes(settings: Settings, seeds: readonly CanonicalUrl[]): string[] {
  const foreign = settings.ownSites ? undefined : seeds.find(isPublic);
  if (foreign === undefined) return [];
  const found: string[] = [];
  const site = siteOf(foreign);
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
