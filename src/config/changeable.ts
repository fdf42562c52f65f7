/** Settings that can change while a crawl runs: the names of `weir set`, read like the settings. */

import { visible } from "../base/visible.ts";
import { canonicalUrl, isRefused } from "../url/url.ts";
import { siteOf } from "../url/site.ts";
import type { FieldTable, Reader } from "./field.ts";
import { suggestion } from "./nearest.ts";
import { oneOf, onOff } from "./readers.ts";
import { SETTINGS, SITE_SETTINGS } from "./schema.ts";

export const CHANGEABLE = {
  limit: SETTINGS.limitBps,
  "limit-at": SETTINGS.limitAt,
  "site-limit": SETTINGS.siteLimitBps,
  quota: SETTINGS.quota,
  pause: {
    key: "pause",
    meaning: "Whether to pause new requests.",
    reader: onOff,
  },
  stop: {
    key: "stop",
    meaning: "Stop the crawl: running requests finish, and the same command resumes.",
    reader: oneOf(["now"]),
  },
  connections: SETTINGS.connectionsMax,
  delay: SETTINGS.delayMs,
  pages: SETTINGS.pagesMax,
  deadline: {
    key: "deadline",
    meaning: "When a site must be done, counted from the start: SITE=DURATION, or SITE=none.",
    reader: ofSite(SITE_SETTINGS.deadlineMs.reader, "45m"),
  },
  priority: {
    key: "priority",
    meaning: "How much a second of a site's waiting counts: SITE=N.",
    reader: ofSite(SITE_SETTINGS.priority.reader, "3"),
  },
} as const satisfies FieldTable;

interface ForSite<T> {
  readonly site: string;
  /** undefined for none. */
  readonly value: T | undefined;
}

/** A value for one site: the site, =, and the text that its entry in a file would have. */
function ofSite<T>(reader: Reader<T>, example: string): Reader<ForSite<T>> {
  return {
    placeholder: `SITE=${reader.placeholder}`,
    expects: `a site, = and ${reader.expects}: https://news.example=${example}`,
    read(text) {
      const at = text.lastIndexOf("=");
      const url = canonicalUrl(text.slice(0, Math.max(0, at)).trim());
      const words = text.slice(at + 1).trim();
      const value = words === "none" ? undefined : reader.read(words);
      if (at < 0 || isRefused(url) || (value === undefined && words !== "none")) return undefined;
      return { site: siteOf(url), value };
    },
  };
}

type ChangeableKey = keyof typeof CHANGEABLE;

export function isChangeable(key: string): key is ChangeableKey {
  return Object.hasOwn(CHANGEABLE, key);
}

/** The message for a key that cannot be changed, with the most similar key that can. */
export function unchangeable(key: string): string {
  const keys = Object.keys(CHANGEABLE);
  const instead = suggestion(key, keys) || `; these can: ${keys.join(", ")}`;
  return `${visible(key, 80)} cannot be changed while a crawl runs${instead}`;
}
