/** How the last run of a crawl ended, as far as its store knows. */

import type { Store } from "../store/store.ts";

/** The fact, kept in the store: the last run ended because it had all pages that --pages allows. */
const PAGES_USED_UP = "pages used up";

export function rememberPagesUsedUp(store: Pick<Store, "remember">, isUsedUp: boolean): void {
  store.remember(PAGES_USED_UP, isUsedUp ? "yes" : "");
}

/** Whether the last run left nothing that --refresh would have to finish first. */
export function hasEnded(store: Pick<Store, "totals" | "recall">): boolean {
  const { known, done, failed, skipped } = store.totals;
  const isComplete = known > 0 && known === done + failed + skipped;
  return isComplete || store.recall(PAGES_USED_UP) === "yes";
}
