/** What every adapter asks of a batch, and how reopening pages changes the totals. */

import { assert } from "../base/assert.ts";
import type { Reason } from "../page/outcome.ts";
import type { Batch, Totals } from "./store.ts";

/** The parts of a batch that its sender could only get wrong by our own mistake. */
export function checkBatch(
  batch: Batch,
  next: { readonly nextUrlId: number; readonly nextSiteId: number },
): void {
  let urlId = next.nextUrlId;
  for (const url of batch.urls) assert(url.id === urlId++, "ids of URLs count up without a gap");
  let siteId = next.nextSiteId;
  for (const site of batch.sites) {
    assert(site.id >= 1 && site.id <= siteId, "ids of sites count up without a gap");
    if (site.id === siteId) siteId++;
    assert(bookedBytes(site.ledger) <= site.bytes, "no more bytes are booked than came");
  }
  const { known, done, failed, skipped } = batch.totals;
  assert(known === urlId - 1, "the totals know as many URLs as there are rows");
  assert(done + failed + skipped <= known, "no more URLs have ended than are known");
  assert(
    bookedBytes(batch.totals.ledger) <= batch.totals.bytes,
    "no more bytes are booked than came",
  );
}

export function bookedBytes(ledger: Readonly<Record<string, number>>): number {
  let sum = 0;
  for (const bytes of Object.values(ledger)) sum += bytes;
  return sum;
}

/** Whether a new round asks for the URL again: it was answered with a page. */
export function isReopened(reason: Reason): boolean {
  return reason === "ok" || reason === "not_modified";
}

/** The totals once `reopened[reason]` URLs of each reason wait again. */
export function totalsAfterReopening(
  totals: Totals,
  reopened: Readonly<Record<string, number>>,
): Totals {
  const outcomes: Record<string, number> = { ...totals.outcomes };
  let count = 0;
  for (const [reason, urls] of Object.entries(reopened)) {
    count += urls;
    const left = (outcomes[reason] ?? 0) - urls;
    if (left > 0) outcomes[reason] = left;
    else delete outcomes[reason];
  }
  return { ...totals, done: totals.done - count, outcomes };
}
