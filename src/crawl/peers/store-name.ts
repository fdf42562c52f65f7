/** A name for a store among all that ever take part in a crawl: one that begins anew has another. */

import type { Random } from "../../base/random.ts";
import type { Store } from "../../store/store.ts";

/** The fact that keeps it. */
const STORE_NAME = "store name";

export function nameOf(store: Store, random: Random): string {
  const kept = store.recall(STORE_NAME);
  if (kept !== undefined) return kept;
  const name = Math.floor(random.next() * 2 ** 48).toString(36);
  store.remember(STORE_NAME, name);
  return name;
}
