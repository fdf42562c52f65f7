/**
 * The types of all answers under `api/`, shared by the server and the page so that they cannot
 * differ.
 */

import type { RateSpan } from "../control/rate-log.ts";
import type { SiteView, Snapshot } from "../control/snapshot.ts";
import type { BytesByPurpose } from "../bandwidth/history/ledger.ts";

/** A crawl at one moment: what the page is sent again and again. */
export interface Look {
  readonly name: string;
  readonly isRunning: boolean;
  /** On the wall clock. */
  readonly atMs: number;
  readonly snapshot: Snapshot;
  /** What sites have sent over the last seconds; absent for those that sent nothing. */
  readonly siteRatesBps: Readonly<Record<string, number>>;
  readonly hasSearch: boolean;
}

export const SITE_SORTS = [
  "due",
  "rate",
  "state",
  "site",
  "known",
  "pending",
  "pages",
  "bytes",
] as const;
export type SiteSort = (typeof SITE_SORTS)[number];

/** A site as a row; what only a running crawl knows is absent of the others. */
export interface SiteLine {
  readonly site: string;
  readonly known: number;
  readonly pending: number;
  readonly pages: number;
  readonly bytes: number;
  readonly rateBps: number;
  readonly live: SiteView | undefined;
}

export interface SitesAnswer {
  readonly total: number;
  readonly from: number;
  readonly lines: readonly SiteLine[];
}

export interface SiteAnswer {
  readonly line: SiteLine;
  readonly ledger: BytesByPurpose;
  readonly robots:
    | { readonly status: number; readonly fetchedAtMs: number; readonly text: string }
    | undefined;
}

export interface RatesAnswer {
  readonly spans: readonly RateSpan[];
}

export interface UrlLine {
  readonly id: number;
  readonly url: string;
  readonly depth: number;
  readonly attempts: number;
  /** Why it ended so, as far as is known without another request. */
  readonly why: string;
}

export interface UrlsAnswer {
  readonly reason: string;
  readonly meaning: string;
  readonly lines: readonly UrlLine[];
  readonly nextAfterId: number | undefined;
}

export interface UrlAnswer {
  readonly line: UrlLine;
  readonly reason: string | undefined;
  readonly meaning: string;
  /** What was decided by, in full: a line of robots.txt, a rule of the scope, what the network said. */
  readonly evidence: readonly { readonly what: string; readonly text: string }[];
  readonly redirectedFrom: string | undefined;
  readonly page:
    | {
        readonly status: number;
        readonly contentType: string;
        readonly title: string;
        readonly language: string;
        readonly wireBytes: number;
        readonly bodyBytes: number;
        readonly durationMs: number;
        readonly fetchedAtMs: number;
        readonly remarks: readonly string[];
        readonly copyOf: { readonly kind: string; readonly url: string } | undefined;
        readonly archive: string | undefined;
      }
    | undefined;
}

export interface ServerLine {
  readonly address: string;
  readonly sites: readonly string[];
  readonly measured: number;
  /** By hour; null where nothing is known. */
  readonly workingBps: readonly (number | null)[];
  readonly holidayBps: readonly (number | null)[];
  /** The hours of each kind of day in which it was measured; in the others it is expected to give their mean. */
  readonly workingHours: readonly number[];
  readonly holidayHours: readonly number[];
}

export interface ServersAnswer {
  readonly total: number;
  /** The hour it is now in the crawl's time zone. */
  readonly hour: number;
  readonly lines: readonly ServerLine[];
}

export interface ReasonsAnswer {
  readonly meanings: Readonly<Record<string, string>>;
}

export interface FoundPage {
  readonly url: string;
  readonly title: string;
  /** Plain text around what was found. */
  readonly excerpt: string;
  /** Stretches of it that were found, in order. */
  readonly marks: readonly (readonly [start: number, end: number])[];
}

export interface SearchAnswer {
  readonly total: number;
  readonly pages: readonly FoundPage[];
}

export interface ChangeAnswer {
  readonly ok: boolean;
  readonly message: string;
}
