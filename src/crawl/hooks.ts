/** The hooks of the library: functions of a program that a crawl calls. */

import type { Remark } from "../page/page.ts";
import type { ScoreFunction } from "../frontier/priority.ts";

/** A fetched page, before it is stored. */
export interface CrawledPage {
  readonly url: string;
  /** The HTTP status of the response. */
  readonly status: number;
  /** Number of links from a seed. */
  readonly depth: number;
  /** Response headers, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly contentType: string;
  readonly charset: string;
  readonly title: string;
  /** The body without its content coding (gzip, br, …), in its own charset. */
  readonly body: Uint8Array;
  /** Anomalies of the page, such as a truncated body. */
  readonly remarks: readonly Remark[];
  /** Whether the page repeats another one, or has not changed since the last crawl. */
  readonly duplicate: "exact" | "near" | "not_modified" | undefined;
  /** The visible text, computed on demand. */
  text(): string;
  /** Every link with its text, in page order, computed on demand. */
  links(): readonly { readonly url: string; readonly text: string; readonly nofollow: boolean }[];
}

/** A deadline that can no longer be met, or can be met again. */
export interface DeadlineNotice {
  readonly site: string;
  readonly isLate: boolean;
  /** Time from now to the deadline. */
  readonly deadlineInMs: number;
  /** Time from now to the expected end of the site. */
  readonly finishInMs: number;
}

/**
 * Functions that the crawl calls. A hook that throws ends the crawl with its error.
 *
 * @example
 * import { crawl, type CrawlHooks } from "weir";
 *
 * const hooks: CrawlHooks = {
 *   onPage: async (page) => console.log(page.url, page.text().length),
 *   onLink: (url) => !url.endsWith(".pdf"),
 *   score: ({ url }) => -url.length,
 * };
 * await crawl({ urls: ["https://example.org/"], ...hooks });
 */
export interface CrawlHooks {
  /** Called for every page and awaited; then the crawl stores the page as done. A kill may repeat the call. */
  readonly onPage?: (page: CrawledPage) => void | Promise<void>;
  /** Called for every new link; `false` drops it. `from` is the page with the link, undefined for a seed. */
  readonly onLink?: (url: string, from: string | undefined) => boolean | undefined;
  /** Replaces the crawl order: each site's URL with the highest score is fetched first. */
  readonly score?: ScoreFunction;
  /** Called when a site's deadline can no longer be met, and when it can be met again. */
  readonly onDeadline?: (notice: DeadlineNotice) => void;
}
