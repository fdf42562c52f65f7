/**
 * Every setting, once. Flags, variables, `weir.yaml`, `--help` and `docs/settings.md` are made from
 * these tables; the names on the left, with their units, are what the program itself reads.
 */

import type { DescribedSettings, DescribedSiteSettings } from "./described-settings.ts";
import type { FieldTable } from "./field.ts";
import * as line from "./readers-bandwidth.ts";
import * as read from "./readers.ts";
import { BANDWIDTH } from "./schema-bandwidth.ts";
import { BOUNDS, JOB, MANNERS, PAGES } from "./schema-crawl.ts";
import { KEEPING, NETWORK, SHOWING } from "./schema-means.ts";
import { CLUSTER } from "./schema-cluster.ts";
import { PARALLEL } from "./schema-parallel.ts";
import { PLANNING, SITE_PLANNING } from "./schema-plan.ts";
import { REPEATING, SITE_REPEATING } from "./schema-rounds.ts";
import { TOPICS } from "./schema-topics.ts";

const HOUR = 3_600_000;

/** In the order of `--help`. */
export const GROUPS = {
  Job: JOB,
  Scope: BOUNDS,
  Bandwidth: BANDWIDTH,
  Deadlines: PLANNING,
  Recrawling: REPEATING,
  Processes: PARALLEL,
  Cluster: CLUSTER,
  Topics: TOPICS,
  Politeness: MANNERS,
  Network: NETWORK,
  Pages: PAGES,
  Storage: KEEPING,
  Output: SHOWING,
} as const satisfies Readonly<Record<string, FieldTable>>;

export const SETTINGS = {
  ...JOB,
  ...BOUNDS,
  ...BANDWIDTH,
  ...PLANNING,
  ...REPEATING,
  ...PARALLEL,
  ...CLUSTER,
  ...TOPICS,
  ...MANNERS,
  ...NETWORK,
  ...PAGES,
  ...KEEPING,
  ...SHOWING,
} as const satisfies FieldTable;

/** What one entry of `sites:` in a file may say. */
export const SITE_SETTINGS = {
  url: {
    key: "url",
    meaning: "Seed URL; the other keys of the entry apply to its site.",
    fallback: undefined,
    reader: read.words("URL", "an address, such as https://example.org/"),
  },
  delayMs: {
    key: "delay",
    meaning: "Delay of this site.",
    fallback: undefined,
    reader: read.duration({ least: 0, most: HOUR }),
  },
  concurrency: {
    key: "concurrency",
    meaning: "`concurrencyPerSite` of this site.",
    fallback: undefined,
    reader: read.integer({ least: 1, most: 256 }),
  },
  limitBps: {
    key: "limit",
    meaning: "`siteLimit` of this site.",
    fallback: undefined,
    reader: line.limit,
  },
  ...SITE_PLANNING,
  ...SITE_REPEATING,
} as const satisfies FieldTable;

/** Settings of one site, in `sites`. */
export interface SiteSettings extends DescribedSiteSettings {
  readonly url: string;
}

/** All settings of a crawl, by their names in the code; docs/settings.md describes each. */
export interface Settings extends DescribedSettings {
  /** Seed URLs, as written on the command line. */
  readonly urls: readonly string[];
  /** Seeds with settings of their own sites. */
  readonly sites: readonly SiteSettings[];
}
