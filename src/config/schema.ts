/**
 * All settings. Flags, variables, `weir.yaml`, `--help` and `docs/settings.md` are generated from
 * these tables; the program reads settings by the names on the left, which contain the units.
 */

import type { FieldTable, Resolved } from "./field.ts";
import { CLUSTER } from "./cluster.ts";
import { BOUNDS, JOB, PAGES } from "./crawl.ts";
import { PLANNING, SITE_PLANNING } from "./deadlines.ts";
import { BANDWIDTH, limitReader } from "./limit.ts";
import { NETWORK } from "./network.ts";
import { KEEPING, SHOWING } from "./output.ts";
import { POLITENESS } from "./politeness.ts";
import { PARALLEL } from "./processes.ts";
import * as read from "./readers.ts";
import { REPEATING, SITE_REPEATING } from "./recrawl.ts";
import { TOPICS } from "./topics.ts";

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
  Politeness: POLITENESS,
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
  ...POLITENESS,
  ...NETWORK,
  ...PAGES,
  ...KEEPING,
  ...SHOWING,
} as const satisfies FieldTable;

/** Keys of one entry of `sites:` in a file. */
export const SITE_SETTINGS = {
  url: {
    key: "url",
    meaning: "Seed URL; the other keys of the entry apply to its site.",
    reader: read.words("URL", "a URL, such as https://example.org/"),
  },
  delayMs: {
    key: "delay",
    meaning: "Delay of this site.",
    reader: read.duration({ least: 0, most: HOUR }),
  },
  concurrency: {
    key: "concurrency",
    meaning: "`concurrencyPerSite` of this site.",
    reader: read.integer({ least: 1, most: 256 }),
  },
  limitBps: {
    key: "limit",
    meaning: "`siteLimit` of this site.",
    reader: limitReader,
  },
  ...SITE_PLANNING,
  ...SITE_REPEATING,
} as const satisfies FieldTable;

/** Settings of one site, in `sites`. */
export interface SiteSettings extends Omit<Resolved<typeof SITE_SETTINGS>, "url"> {
  readonly url: string;
}

/** All settings of a crawl, by their names in a program (docs/settings.md). */
export interface Settings extends Resolved<typeof SETTINGS> {
  /** Seed URLs, as written on the command line. */
  readonly urls: readonly string[];
  /** Seeds with settings of their own sites. */
  readonly sites: readonly SiteSettings[];
}
