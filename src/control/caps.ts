/**
 * Lists the caps that cut something off in a crawl: how often, and the setting that raises each.
 *
 * Taken from counts that a crawl stores anyway: outcomes, links left out, remarks. A rule may occur
 * in several of them, and counts once for each URL, link or file.
 */

import type { Totals } from "../store/store.ts";

export interface Cap {
  /** The rule, as in `outcomes`, `refusedLinks` or `remarks`. */
  readonly cap: string;
  /** The flag that changes it; null for a fixed cap. */
  readonly setting: string | null;
  readonly count: number;
}

interface Known {
  /** What is counted, in the plural. */
  readonly what: string;
  readonly setting: string | null;
}

const KNOWN: Readonly<Record<string, Known>> = {
  body_too_large: { what: "bodies too large", setting: "--body-max, --decoded-max" },
  redirect_limit: { what: "redirect chains too long", setting: "--redirects" },
  header_too_large: { what: "response heads too large", setting: null },
  header_too_many: { what: "responses with too many header fields", setting: null },
  depth: { what: "links deeper than the limit", setting: "--depth" },
  depth_limit: { what: "links more than 50 links from a seed", setting: null },
  url_too_long: { what: "links longer than 2,048 bytes", setting: null },
  outlinks_capped: { what: "image candidates beyond the 1,000th of a srcset", setting: null },
  trap_depth: { what: "links with more than 20 path segments", setting: null },
  trap_repeat: { what: "links that repeat path segments", setting: null },
  trap_pattern: { what: "links beyond the budget of a pattern", setting: "--pattern-budget" },
  trap_duplicates: { what: "links in patterns of copies", setting: "--traps" },
  trap_useless: { what: "URLs in patterns of worthless pages", setting: "--traps" },
  trap_budget: { what: "links beyond the budget of a site", setting: "--site-budget" },
  trap_domain: { what: "links beyond the budget of a domain", setting: "--domain-budget" },
  sitemap_capped: { what: "sitemaps cut off or left out", setting: null },
  sitemap_depth: { what: "sitemaps nested too deep", setting: null },
  robots_capped: { what: "robots.txt files cut off at 512 KiB", setting: null },
  crawl_delay_excessive: { what: "crawl delays shortened", setting: null },
  text_capped: { what: "pages whose text is searchable only in part", setting: null },
};

export function capsOf(
  totals: Pick<Totals, "outcomes" | "refusedLinks" | "remarks">,
): readonly Cap[] {
  const { outcomes, refusedLinks, remarks } = totals;
  return Object.entries(KNOWN).flatMap(([cap, { setting }]) => {
    // A page with a cut srcset has a remark besides the count of its image candidates.
    const marked = cap === "outlinks_capped" ? 0 : (remarks[cap] ?? 0);
    const count = (outcomes[cap] ?? 0) + (refusedLinks[cap] ?? 0) + marked;
    return count === 0 ? [] : [{ cap, setting, count }];
  });
}

/** What a cap counts, in the plural. */
export function capMeaning({ cap }: Cap): string {
  return KNOWN[cap]?.what ?? cap;
}
