/** The checks that every adapter of the store makes on a batch. */

import { assert } from "../base/assert.ts";
import type { Batch, Store } from "./store.ts";

/** Asserts the invariants of a batch; a violation is a bug in Weir. */
export function checkBatch(
  batch: Batch,
  next: Pick<Store, "nextUrlId" | "nextSiteId" | "nextParcelSeq">,
): void {
  let urlId = next.nextUrlId;
  for (const url of batch.urls) assert(url.id === urlId++, "ids of URLs count up without a gap");
  let siteId = next.nextSiteId;
  for (const site of batch.sites) {
    assert(site.id >= 1 && site.id <= siteId, "ids of sites count up without a gap");
    if (site.id === siteId) siteId++;
    assert(bookedBytes(site.ledger) <= site.bytes, "no more bytes are booked than received");
  }
  for (const { id, confidence } of batch.topics) {
    assert(id >= 1 && id < urlId, "a batch refers only to known URLs");
    assert(confidence >= 0 && confidence <= 1, "confidence is a share");
  }
  let seq = next.nextParcelSeq - 1;
  for (const parcel of batch.outgoing) {
    assert(parcel.seq > seq, "numbers of parcels increase");
    seq = parcel.seq;
  }
  const { known, done, failed, skipped } = batch.totals;
  assert(known === urlId - 1, "the totals know as many URLs as there are rows");
  assert(done + failed + skipped <= known, "no more URLs have ended than are known");
  assert(
    bookedBytes(batch.totals.ledger) <= batch.totals.bytes,
    "no more bytes are booked than received",
  );
}

export function bookedBytes(ledger: Readonly<Record<string, number>>): number {
  let sum = 0;
  for (const bytes of Object.values(ledger)) sum += bytes;
  return sum;
}
