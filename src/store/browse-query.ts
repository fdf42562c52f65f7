/** Queries of a crawl's sites and ended URLs, a page at a time, for views. */

import type { StoredUrl } from "./store.ts";

export const SITE_ORDERS = ["site", "known", "pending", "pages", "bytes"] as const;
export type SiteOrder = (typeof SITE_ORDERS)[number];

export interface SiteQuery {
  readonly order: SiteOrder;
  readonly descending: boolean;
  /** Only sites whose name contains this text; empty for all. */
  readonly find: string;
  /** Sites to leave out. */
  readonly without: readonly string[];
  readonly from: number;
  readonly count: number;
}

export interface SiteCounts {
  readonly site: string;
  readonly known: number;
  readonly pending: number;
  readonly pages: number;
  readonly bytes: number;
}

export interface EndedPage {
  readonly urls: readonly StoredUrl[];
  /** Where to continue; undefined when there are no more. */
  readonly nextAfterId: number | undefined;
}
