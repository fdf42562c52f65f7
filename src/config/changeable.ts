/** What may change while a crawl runs: by the names of `weir set`, read like the settings. */

import { visible } from "../base/visible.ts";
import type { FieldTable } from "./field.ts";
import { suggestion } from "./nearest.ts";
import { onOff } from "./readers.ts";
import { SETTINGS } from "./schema.ts";

export const CHANGEABLE = {
  limit: SETTINGS.limitBps,
  "limit-at": SETTINGS.limitAt,
  "site-limit": SETTINGS.siteLimitBps,
  quota: SETTINGS.quota,
  pause: {
    key: "pause",
    meaning: "Whether to wait with everything new.",
    fallback: undefined,
    reader: onOff,
  },
  connections: SETTINGS.connectionsMax,
  delay: SETTINGS.delayMs,
  pages: SETTINGS.pagesMax,
} as const satisfies FieldTable;

export type ChangeableKey = keyof typeof CHANGEABLE;

export function isChangeable(key: string): key is ChangeableKey {
  return Object.hasOwn(CHANGEABLE, key);
}

/** What is said of a key that is none, with the nearest one that is. */
export function unchangeable(key: string): string {
  const keys = Object.keys(CHANGEABLE);
  const instead = suggestion(key, keys) || `; these can: ${keys.join(", ")}`;
  return `${visible(key, 80)} cannot be changed while a crawl runs${instead}`;
}
