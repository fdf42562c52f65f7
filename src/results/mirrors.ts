/**
 * Finds mirrors in a crawl: sites with most of their pages, byte for byte, on another site.
 *
 * Computed on request. Without enough copies nothing is read; otherwise the last half million pages
 * are read, about 10 µs each.
 */

import { mirrorsAmong, type Copy } from "../page/mirrors.ts";
import type { Store } from "../store/store.ts";

export interface NamedMirror {
  readonly site: string;
  /** The larger site with the same pages. */
  readonly of: string;
  readonly pagesShared: number;
  /** Share of the smaller site's pages. */
  readonly share: number;
}

const COPIES_MIN = 10;
const PAGES_LOOKED_AT_MAX = 500_000;

export function mirrorsIn(
  store: Pick<Store, "totals" | "lastPageSeq" | "pagesAfter" | "url" | "sites">,
): NamedMirror[] {
  if (store.totals.duplicatesExact < COPIES_MIN) return [];
  const rows = new Map<number, { key: string; pages: number }>();
  for (const { id, key, pages } of store.sites()) rows.set(id, { key, pages });
  const nameOf = (id: number): string => rows.get(id)?.key ?? "";
  return mirrorsAmong(copiesIn(store), (id) => rows.get(id)?.pages ?? 0).map((mirror) => {
    const { siteId, ofSiteId, pagesShared, share } = mirror;
    return { site: nameOf(siteId), of: nameOf(ofSiteId), pagesShared, share };
  });
}

function* copiesIn(store: Pick<Store, "lastPageSeq" | "pagesAfter" | "url">): Generator<Copy> {
  for (const { page } of store.pagesAfter(store.lastPageSeq - PAGES_LOOKED_AT_MAX)) {
    if (page.likeness?.kind !== "exact") continue;
    const siteId = store.url(page.id)?.siteId;
    const ofSiteId = store.url(page.likeness.ofId)?.siteId;
    if (siteId !== undefined && ofSiteId !== undefined) yield { siteId, ofSiteId };
  }
}
