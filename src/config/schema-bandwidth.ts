/** Settings about what a crawl may take of the line, and how it foresees and holds that. */

import type { FieldTable } from "./field.ts";
import * as line from "./readers-bandwidth.ts";
import * as read from "./readers.ts";

const HOUR = 3_600_000;

export const BANDWIDTH = {
  limitBps: {
    key: "limit",
    meaning:
      "Most bytes received per second, all sites and everything else together: headers, TLS, robots.txt, packets. No limit by default.",
    fallback: undefined,
    reader: line.limit,
    orNone: true,
  },
  limitAt: {
    key: "limitAt",
    meaning:
      "The limit by the time of the week: days (mon-fri, sat, daily, weekend, holiday), times, = and a rate, none or pause; else for the rest, which without it is what `limit` says.",
    fallback: undefined,
    reader: line.calendar,
    orNone: true,
  },
  siteLimitBps: {
    key: "siteLimit",
    meaning:
      "Most bytes received per second from one site, packet headers included. No limit by default.",
    fallback: undefined,
    reader: line.limit,
    orNone: true,
  },
  quota: {
    key: "quota",
    meaning:
      "Most bytes received per calendar day or month, packet headers included. The crawl stops when it is used up; the same command goes on when there is room again. No quota by default.",
    fallback: undefined,
    reader: line.quota,
    orNone: true,
  },
  control: {
    key: "control",
    meaning:
      "How the limit is held: `paced` reserves what an answer will bring and paces the reading of large ones; `predict` only starts what is expected to fit (Diligenti et al.); `onoff` starts one more below the limit and stops one above it (Shkapenyuk and Suel). The last two are for comparison.",
    fallback: "paced",
    reader: read.oneOf(["paced", "predict", "onoff"]),
  },
  searchDepthMax: {
    key: "maxDepthSearch",
    meaning: "How far down the queue to look for an address that fits under the limit.",
    fallback: "6",
    reader: read.integer({ least: 1, most: 10_000 }),
  },
  waitMaxMs: {
    key: "maxWait",
    meaning: "No address is passed over longer than this because it does not fit under the limit.",
    fallback: "30s",
    reader: read.duration({ least: 100, most: HOUR }),
  },
  packetOverhead: {
    key: "packetOverhead",
    meaning:
      "What packet headers and acknowledgements add to the bytes that programs see. `auto` reckons it from packet sizes.",
    fallback: "auto",
    reader: line.autoOrShare,
  },
  goodNeighbour: {
    key: "goodNeighbour",
    meaning:
      "Take less as soon as others use the line: yields while the round-trip time of its own connections is raised.",
    fallback: "false",
    reader: read.onOff,
  },
  timeZone: {
    key: "timeZone",
    meaning:
      "The time zone of hours and days in the calendar, the quota and the speeds of servers. By default the machine's.",
    fallback: undefined,
    reader: line.timeZone,
  },
  holidays: {
    key: "holidays",
    meaning:
      "The country whose public holidays count as holidays, as weekends do. By default only weekends.",
    fallback: undefined,
    reader: line.country,
    orNone: true,
  },
  speedGain: {
    key: "speedGain",
    meaning: "How much a new measurement of a server's speed counts against what was known (k).",
    fallback: "0.3",
    reader: line.decimal({ least: 0.01, most: 1 }),
  },
  speedSpreadMinutes: {
    key: "speedSpread",
    meaning: "How far around its time of day a measurement teaches (the Gaussian's σ).",
    fallback: "120m",
    reader: line.minutes({ least: 1, most: 1440 }),
  },
  speedsFile: {
    key: "speeds",
    meaning:
      "A file that keeps the speeds of servers, for several crawls to share. By default in the crawl's folder.",
    fallback: undefined,
    reader: read.words("FILE", "the name of a file"),
    orNone: true,
  },
  serversMax: {
    key: "serversMax",
    meaning: "Most servers whose speeds are kept; beyond it the least useful are forgotten.",
    fallback: "100000",
    reader: read.integer({ least: 1, most: 10_000_000 }),
  },
} as const satisfies FieldTable;
