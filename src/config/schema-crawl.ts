/** Settings about what is crawled: the job, how far it goes, with which manners, which pages. */

import { ORDERS } from "../frontier/priority.ts";
import type { FieldTable } from "./field.ts";
import * as read from "./readers.ts";
import { VERSION } from "./version.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const COMMA_OR_SPACE = /[\s,]+/;

export const JOB = {
  configFile: {
    key: "config",
    meaning:
      "A file of settings. Without it, and without any address, ./weir.yaml is used if it is there.",
    fallback: undefined,
    reader: read.words("FILE", "the name of a file"),
    flagOnly: true,
  },
  seedsFile: {
    key: "seeds",
    meaning:
      "A file of addresses to start from, one a line; # starts a comment. Bad lines are listed, good ones used.",
    fallback: undefined,
    reader: read.words("FILE", "the name of a file"),
  },
  outFolder: {
    key: "out",
    meaning:
      "Folder for everything the crawl keeps: state, archive, status. Only its owner can read it (mode 0700). By default weir-data/<first site>.",
    fallback: undefined,
    reader: read.words("DIR", "the name of a folder"),
  },
  fresh: {
    key: "fresh",
    meaning: "Start over: forget what an earlier crawl left in the folder.",
    fallback: "false",
    reader: read.onOff,
    flagOnly: true,
  },
  refresh: {
    key: "refresh",
    meaning:
      "Fetch the pages of the last run again, before any new ones; unchanged pages cost one 304 response each. A run that was interrupted is finished first.",
    fallback: "false",
    reader: read.onOff,
    flagOnly: true,
  },
} as const satisfies FieldTable;

export const BOUNDS = {
  pagesMax: {
    key: "pages",
    meaning:
      "Stop after this many pages in all, those of earlier runs included; after --refresh, those fetched since. No end by default.",
    fallback: undefined,
    reader: read.integer({ least: 1, most: 1e12 }),
  },
  depthMax: {
    key: "depth",
    meaning: "Follow at most this many links from a starting address; 0 fetches only these.",
    fallback: undefined,
    reader: read.integer({ least: 0, most: 100_000 }),
  },
  timeMaxMs: {
    key: "time",
    meaning: "Stop this run after so long; the same command goes on later. No end by default.",
    fallback: undefined,
    reader: read.duration({ least: 100, most: 3650 * DAY }),
  },
  scope: {
    key: "scope",
    meaning:
      "Which links to follow: `site` the same scheme, host and port as a starting address; `domain` the same registrable domain; `host-list` the hosts of the starting addresses; `any` all of them.",
    fallback: "site",
    reader: read.oneOf(["site", "domain", "host-list", "any"]),
  },
  include: {
    key: "include",
    meaning:
      "Follow only addresses that match one of these, seeds included; * stands for anything.",
    fallback: undefined,
    reader: read.words("PATTERN", "patterns of addresses, such as https://example.org/docs/*"),
    separator: /\s+/,
  },
  exclude: {
    key: "exclude",
    meaning:
      "Never follow addresses that match one of these, seeds included, whatever includes say.",
    fallback: undefined,
    reader: read.words("PATTERN", "patterns of addresses, such as */print/*"),
    separator: /\s+/,
  },
  order: {
    key: "order",
    meaning:
      "What comes first: `breadth` the fewest links from the start; `backlinks` the most linked to; `pagerank` what the most linked to link to; `topic` what is likely about --topic.",
    fallback: "breadth",
    reader: read.oneOf(ORDERS),
  },
  siteUrlsMax: {
    key: "siteBudget",
    meaning: "Most addresses admitted of one site, against sites without end.",
    fallback: "1000000",
    reader: read.integer({ least: 1, most: 1e12 }),
  },
  domainUrlsMax: {
    key: "domainBudget",
    meaning:
      "Most addresses admitted of one registrable domain that a starting address belongs to, all its hosts together; others get less, by how many domains link to them.",
    fallback: "1000000",
    reader: read.integer({ least: 1, most: 1e12 }),
  },
  patternUrlsMax: {
    key: "patternBudget",
    meaning:
      "Most addresses of one site that differ only in numbers or in the values of the query, against calendars and the like.",
    fallback: "50000",
    reader: read.integer({ least: 1, most: 1e12 }),
  },
} as const satisfies FieldTable;

export const MANNERS = {
  delayMs: {
    key: "delay",
    meaning:
      "Least time between two requests to one site. By default 1s for public addresses and 0 for loopback.",
    fallback: undefined,
    reader: read.duration({ least: 0, most: HOUR }),
  },
  addressDelayMs: {
    key: "addressDelay",
    meaning:
      "Least time between two requests to one IP address, whatever its sites. By default 250ms for public addresses and 0 for loopback.",
    fallback: undefined,
    reader: read.duration({ least: 0, most: HOUR }),
  },
  concurrencyPerSite: {
    key: "concurrencyPerSite",
    meaning: "Most requests to one site at the same time.",
    fallback: "2",
    reader: read.integer({ least: 1, most: 256 }),
  },
  concurrencyPerAddress: {
    key: "concurrencyPerAddress",
    meaning: "Most requests to one IP address at the same time.",
    fallback: "8",
    reader: read.integer({ least: 1, most: 1024 }),
  },
  userAgent: {
    key: "userAgent",
    meaning:
      "How the crawler names itself; the name before the / is looked for in robots.txt, in X-Robots-Tag headers and in robots meta tags.",
    fallback: `Weir/${VERSION}`,
    reader: read.headerText(
      "TEXT",
      "a product name of letters, - and _, and its version: Name/1.0 (comment)",
      /^[A-Za-z_-]+(\/[^\s()]+)?( .*)?$/,
    ),
  },
  contact: {
    key: "contact",
    meaning:
      "An address or page where the owner of a site can reach you; it is added to the user agent. Needed for public sites.",
    fallback: undefined,
    reader: read.headerText(
      "MAIL|URL",
      "a mail address or an http(s) address",
      /^(https?:\/\/[^\s()@/?#]+([/?#][^\s()]*)?|[^\s()@]+@[^\s()@]+)$/,
    ),
  },
  ownSites: {
    key: "ownSites",
    meaning:
      "The sites are yours: allows public ones to be crawled without contact or with a delay under 100ms.",
    fallback: "false",
    reader: read.onOff,
  },
  ignoreRobots: {
    key: "ignoreRobots",
    meaning: "Do not ask for robots.txt nor obey it. Only for sites whose owner agreed.",
    fallback: "false",
    reader: read.onOff,
  },
  sitemaps: {
    key: "sitemaps",
    meaning: "Start also from the sitemaps that robots.txt names, and from /sitemap.xml.",
    fallback: "true",
    reader: read.onOff,
  },
} as const satisfies FieldTable;

export const PAGES = {
  acceptTypes: {
    key: "acceptTypes",
    meaning:
      "Media types worth reading; of others only the headers are read. By default everything is.",
    fallback: undefined,
    reader: read.mediaType,
    separator: COMMA_OR_SPACE,
  },
  images: {
    key: "images",
    meaning: "Follow images too (img, srcset).",
    fallback: "false",
    reader: read.onOff,
  },
  dropQuery: {
    key: "dropQuery",
    meaning: "Cut the query (from the ?) off every address.",
    fallback: "false",
    reader: read.onOff,
  },
  stripSessionIds: {
    key: "stripSessionIds",
    meaning: "Take session ids (jsessionid, PHPSESSID and the like) out of addresses.",
    fallback: "false",
    reader: read.onOff,
  },
  nearDuplicates: {
    key: "nearDuplicates",
    meaning: "Notice pages that are nearly the same as another.",
    fallback: "true",
    reader: read.onOff,
  },
} as const satisfies FieldTable;
