/** Settings about what a crawl may take of the line, and how it foresees and holds that. */

import type { FieldTable } from "./field.ts";
import * as line from "./readers-bandwidth.ts";
import * as read from "./readers.ts";

const HOUR = 3_600_000;

export const BANDWIDTH = {
  limitBps: {
    key: "limit",
    meaning:
      "Most bytes received per second by the whole crawl, with headers, TLS, robots.txt and packet headers. No limit by default.",
    fallback: undefined,
    reader: line.limit,
    orNone: true,
  },
  limitAt: {
    key: "limitAt",
    meaning:
      "Limit by time of the week: days (mon-fri, sat, daily, weekend, holiday), times, = and a rate, none or pause. `else` is the rest of the week; by default --limit.",
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
      "Most bytes received per calendar day or month, packet headers included. The crawl stops when it is used up; the same command resumes it in the next period. No quota by default.",
    fallback: undefined,
    reader: line.quota,
    orNone: true,
  },
  control: {
    key: "control",
    meaning:
      "How the limit is enforced: `paced` reserves bandwidth for each response and slows down large ones; `predict` starts only downloads that are expected to fit (Diligenti et al.); `onoff` starts a download below the limit and stops one above it (Shkapenyuk and Suel). The last two are for comparison.",
    fallback: "paced",
    reader: read.oneOf(["paced", "predict", "onoff"]),
  },
  searchDepthMax: {
    key: "maxDepthSearch",
    meaning: "How many queued URLs to try for one that fits under the limit.",
    fallback: "6",
    reader: read.integer({ least: 1, most: 10_000 }),
  },
  waitMaxMs: {
    key: "maxWait",
    meaning: "Longest time that a URL is skipped because it does not fit under the limit.",
    fallback: "30s",
    reader: read.duration({ least: 100, most: HOUR }),
  },
  packetOverhead: {
    key: "packetOverhead",
    meaning:
      "Share that packet headers and acknowledgements add to the received bytes. `auto` computes it from packet sizes.",
    fallback: "auto",
    reader: line.autoOrShare,
  },
  goodNeighbour: {
    key: "goodNeighbour",
    meaning: "Slow down while other programs use the line, detected by longer round-trip times.",
    fallback: "false",
    reader: read.onOff,
  },
  timeZone: {
    key: "timeZone",
    meaning:
      "Time zone of --limit-at, --quota and the speed table. By default that of the machine.",
    fallback: undefined,
    reader: line.timeZone,
  },
  holidays: {
    key: "holidays",
    meaning: "Country whose public holidays count as `holiday`. By default none.",
    fallback: undefined,
    reader: line.country,
    orNone: true,
  },
  speedGain: {
    key: "speedGain",
    meaning: "Weight of a new speed measurement against older ones (k).",
    fallback: "0.3",
    reader: line.decimal({ least: 0.01, most: 1 }),
  },
  speedSpreadMinutes: {
    key: "speedSpread",
    meaning: "How far a speed measurement applies around its time of day (σ of a Gaussian).",
    fallback: "120m",
    reader: line.minutes({ least: 1, most: 1440 }),
  },
  speedsFile: {
    key: "speeds",
    meaning:
      "File for the measured speeds of servers, which several crawls may share. By default in the crawl's folder.",
    fallback: undefined,
    reader: read.words("FILE", "the name of a file"),
    orNone: true,
  },
  serversMax: {
    key: "serversMax",
    meaning: "Most servers in the speed table; the least useful ones are removed.",
    fallback: "100000",
    reader: read.integer({ least: 1, most: 10_000_000 }),
  },
} as const satisfies FieldTable;
