/** What a program that uses the library may hang into a crawl. */

import type { Remark } from "../page/page.ts";
import type { ScoreFunction } from "../frontier/priority.ts";

/** A page as a hook sees it, before it is stored. */
export interface CrawledPage {
  readonly url: string;
  readonly status: number;
  readonly depth: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly contentType: string;
  readonly charset: string;
  readonly title: string;
  /** Decoded of its content coding; in its own charset. */
  readonly body: Uint8Array;
  readonly remarks: readonly Remark[];
  readonly duplicate: "exact" | "near" | "not_modified" | undefined;
  /** The visible text; worked out when asked for. */
  text(): string;
  /** Every link with its words, in page order; worked out when asked for. */
  links(): readonly { readonly url: string; readonly text: string; readonly nofollow: boolean }[];
}

/** A promise that cannot be kept any more, or can again. */
export interface DeadlineNotice {
  readonly site: string;
  readonly isLate: boolean;
  /** Both counted from now. */
  readonly deadlineInMs: number;
  readonly finishInMs: number;
}

export interface CrawlHooks {
  /** Called for every page; the crawl notes it as done when this has resolved. */
  readonly onPage?: (page: CrawledPage) => void | Promise<void>;
  /** Called for every link not met before; `false` leaves it out. */
  readonly onLink?: (url: string, from: string | undefined) => boolean | undefined;
  /** Replaces the order: of a site's waiting URLs the highest score goes first. */
  readonly score?: ScoreFunction;
  /** Called as soon as a site's deadline comes out of reach, and when it is in reach again. */
  readonly onDeadline?: (notice: DeadlineNotice) => void;
}
