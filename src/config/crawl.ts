/** Settings for what is crawled: the job, how far it goes, and which pages. */

import { ORDERS } from "../frontier/priority.ts";
import type { FieldTable } from "./field.ts";
import * as read from "./readers.ts";

const DAY = 86_400_000;
const COMMA_OR_SPACE = /[\s,]+/;

export const JOB = {
  configFile: {
    key: "config",
    meaning: "Settings file. By default ./weir.yaml, if it exists and no URL is given.",
    reader: read.words("FILE", "the name of a file"),
    flagOnly: true,
  },
  seedsFile: {
    key: "seeds",
    meaning:
      "File of seed URLs, one per line; # starts a comment. Invalid lines are reported and skipped.",
    reader: read.words("FILE", "the name of a file"),
  },
  outFolder: {
    key: "out",
    meaning:
      "Folder for state, archive and report, readable only by its owner (mode 0700). By default weir-data/<first site>.",
    reader: read.words("DIR", "the name of a folder"),
  },
  fresh: {
    key: "fresh",
    meaning: "Delete the state of an earlier crawl in the folder and start over.",
    fallback: "false",
    reader: read.onOff,
    flagOnly: true,
  },
  refresh: {
    key: "refresh",
    meaning:
      "Fetch the pages of the last run again before new ones; unchanged pages cost one 304 response each. An interrupted run is finished first.",
    fallback: "false",
    reader: read.onOff,
    flagOnly: true,
  },
} as const satisfies FieldTable;

export const BOUNDS = {
  pagesMax: {
    key: "pages",
    meaning:
      "Stop after this many pages, earlier runs included; with --refresh, after this many fetched again. No limit by default.",
    reader: read.integer({ least: 1, most: 1e12 }),
  },
  depthMax: {
    key: "depth",
    meaning: "Follow at most this many links from a seed; 0 fetches only the seeds.",
    reader: read.integer({ least: 0, most: 100_000 }),
  },
  timeMaxMs: {
    key: "time",
    meaning: "Stop this run after this time; the same command resumes it. No limit by default.",
    reader: read.duration({ least: 100, most: 3650 * DAY }),
  },
  patienceMs: {
    key: "patience",
    meaning:
      "When only sites that cannot be reached are left, stop after this time without a response; the same command tries them again. By default 15m, or until the latest deadline. With --watch it never stops.",
    reader: read.duration({ least: 1000, most: 365 * DAY }),
  },
  scope: {
    key: "scope",
    meaning:
      "Links to follow: `site` same scheme, host and port as a seed; `domain` same registrable domain; `host-list` hosts of the seeds; `any` all. Where a seed redirects to counts as a seed.",
    fallback: "site",
    reader: read.oneOf(["site", "domain", "host-list", "any"]),
  },
  include: {
    key: "include",
    meaning:
      "Follow only URLs that match one of these patterns, seeds included; * matches any text.",
    reader: read.words("PATTERN", "patterns of URLs, such as https://example.org/docs/*"),
    separator: /\s+/,
  },
  exclude: {
    key: "exclude",
    meaning:
      "Never follow URLs that match one of these patterns, seeds included; wins over --include.",
    reader: read.words("PATTERN", "patterns of URLs, such as */print/*"),
    separator: /\s+/,
  },
  order: {
    key: "order",
    meaning:
      "Crawl order: `breadth` fewest links from a seed first; `backlinks` most linked first; `pagerank` highest PageRank first; `topic` most likely about --topic first.",
    fallback: "breadth",
    reader: read.oneOf(ORDERS),
  },
  siteUrlsMax: {
    key: "siteBudget",
    meaning:
      "Most URLs accepted per site; bounds endless sites. No budget and no defence against traps refuses a seed.",
    fallback: "1000000",
    reader: read.integer({ least: 1, most: 1e12 }),
  },
  domainUrlsMax: {
    key: "domainBudget",
    meaning:
      "Most URLs accepted per registrable domain of a seed, all its hosts together; other domains get less, depending on how many domains link to them.",
    fallback: "1000000",
    reader: read.integer({ least: 1, most: 1e12 }),
  },
  traps: {
    key: "traps",
    meaning:
      "What to do with URLs of a pattern that has brought only copies and pages not to be indexed (sort orders, edit pages, login forms): learn requests them last, and then a sample; off requests all.",
    fallback: "learn",
    reader: read.oneOf(["learn", "off"]),
  },
  patternUrlsMax: {
    key: "patternBudget",
    meaning:
      "Most URLs per site that differ only in numbers or query values; bounds calendars and similar traps.",
    fallback: "50000",
    reader: read.integer({ least: 1, most: 1e12 }),
  },
} as const satisfies FieldTable;

export const PAGES = {
  acceptTypes: {
    key: "acceptTypes",
    meaning:
      "Media types to download; other responses are cut off after the headers. All types by default.",
    reader: read.mediaType,
    separator: COMMA_OR_SPACE,
  },
  images: {
    key: "images",
    meaning: "Follow image links too (img, srcset).",
    fallback: "false",
    reader: read.onOff,
  },
  dropQuery: {
    key: "dropQuery",
    meaning: "Remove the query (from the ?) from every URL.",
    fallback: "false",
    reader: read.onOff,
  },
  stripSessionIds: {
    key: "stripSessionIds",
    meaning: "Remove session ids (jsessionid, PHPSESSID and similar) from URLs.",
    fallback: "false",
    reader: read.onOff,
  },
  nearDuplicates: {
    key: "nearDuplicates",
    meaning: "Detect pages that are nearly the same as another page.",
    fallback: "true",
    reader: read.onOff,
  },
} as const satisfies FieldTable;
