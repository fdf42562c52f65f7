/** Settings about the means: the network, what is kept, what is shown. */

import type { FieldTable } from "./field.ts";
import { dashboardHost, dashboardPort, dashboardToken } from "./readers-dashboard.ts";
import * as read from "./readers.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const KIB = 2 ** 10;
const MIB = 2 ** 20;
const GIB = 2 ** 30;
const COMMA_OR_SPACE = /[\s,]+/;

export const NETWORK = {
  connectionsMax: {
    key: "connections",
    meaning:
      "Most requests at the same time, over all sites. Fewer, with a message, where the system's limit of open files (`ulimit -n`) allows no more.",
    fallback: "64",
    reader: read.integer({ least: 1, most: 16_384 }),
  },
  allowPrivate: {
    key: "allowPrivate",
    meaning:
      "Private or loopback address ranges that may be crawled, such as 127.0.0.0/8; all others are refused.",
    fallback: undefined,
    reader: read.addressRange,
    separator: COMMA_OR_SPACE,
  },
  insecureTls: {
    key: "insecureTls",
    meaning: "Accept certificates that cannot be verified; such pages are marked.",
    fallback: "false",
    reader: read.onOff,
  },
  proxy: {
    key: "proxy",
    meaning:
      "Send every request through this proxy. User and password in the URL are used to log in and never shown.",
    fallback: undefined,
    reader: read.proxyUrl,
    secret: true,
  },
  cookies: {
    key: "cookies",
    meaning: "Store cookies during the run and return them to the site that set them.",
    fallback: "false",
    reader: read.onOff,
  },
  retriesMax: {
    key: "retries",
    meaning:
      "Most retries of a URL that fails while its site responds, if a retry could help. Failures of the site cost its URLs nothing.",
    fallback: "3",
    reader: read.integer({ least: 0, most: 20 }),
  },
  redirectsMax: {
    key: "redirects",
    meaning: "Most redirects followed in a row.",
    fallback: "5",
    reader: read.integer({ least: 0, most: 20 }),
  },
  bodyBytesMax: {
    key: "bodyMax",
    meaning: "Most bytes read of one response body; a longer one fails.",
    fallback: "8MiB",
    reader: read.size({ least: KIB, most: GIB }),
  },
  decodedBytesMax: {
    key: "decodedMax",
    meaning: "Most bytes of one body after decompression.",
    fallback: "16MiB",
    reader: read.size({ least: KIB, most: GIB }),
  },
  connectTimeoutMs: {
    key: "connectTimeout",
    meaning: "Timeout for connecting.",
    fallback: "10s",
    reader: read.duration({ least: 10, most: HOUR }),
  },
  tlsTimeoutMs: {
    key: "tlsTimeout",
    meaning: "Timeout for the TLS handshake.",
    fallback: "10s",
    reader: read.duration({ least: 10, most: HOUR }),
  },
  firstByteTimeoutMs: {
    key: "firstByteTimeout",
    meaning: "Timeout for the first byte of a response.",
    fallback: "20s",
    reader: read.duration({ least: 10, most: HOUR }),
  },
  idleTimeoutMs: {
    key: "idleTimeout",
    meaning: "Longest pause within a body.",
    fallback: "15s",
    reader: read.duration({ least: 10, most: HOUR }),
  },
  totalTimeoutMs: {
    key: "totalTimeout",
    meaning: "Timeout for a whole request.",
    fallback: "30s",
    reader: read.duration({ least: 10, most: DAY }),
  },
  speedFloorBps: {
    key: "speedFloor",
    meaning: "Give up a body that is slower than this on average; 0 turns this off.",
    fallback: "1KiB/s",
    reader: read.rate({ least: 0, most: GIB }),
  },
} as const satisfies FieldTable;

export const KEEPING = {
  warc: {
    key: "warc",
    meaning: "Store pages in WARC files.",
    fallback: "true",
    reader: read.onOff,
  },
  warcBytesMax: {
    key: "warcSize",
    meaning: "Size at which a WARC file is closed and the next one started.",
    fallback: "1GiB",
    reader: read.size({ least: 64 * KIB, most: 1024 * GIB }),
  },
  warcLevel: {
    key: "warcLevel",
    meaning: "Compression level: 0 none, 1 fast, 9 small.",
    fallback: "1",
    reader: read.integer({ least: 0, most: 9 }),
  },
  searchIndex: {
    key: "searchIndex",
    meaning:
      "Index pages for full-text search during the crawl. Otherwise the first `weir search` builds the index from the archive.",
    fallback: "false",
    reader: read.onOff,
  },
  searchStemming: {
    key: "searchStemming",
    meaning:
      "Stemming in a new search index: `english` matches professors with professor; `none` suits other languages.",
    fallback: "english",
    reader: read.oneOf(["english", "none"]),
  },
  memoryBytes: {
    key: "memory",
    meaning: "Memory for known and queued URLs; the rest is on disk.",
    fallback: "256MiB",
    reader: read.size({ least: 32 * MIB, most: 1024 * GIB }),
  },
} as const satisfies FieldTable;

export const SHOWING = {
  dashboard: {
    key: "dashboard",
    meaning: "Show the crawl in the browser while it runs; the URL with its token is printed.",
    fallback: undefined,
    reader: dashboardPort,
    orNone: true,
    alone: "auto",
  },
  dashboardHost: {
    key: "dashboardHost",
    meaning:
      "Address on which the dashboard listens. Addresses other than loopback can be reached from other machines, without encryption.",
    fallback: "127.0.0.1",
    reader: dashboardHost,
  },
  dashboardToken: {
    key: "dashboardToken",
    meaning:
      "Token of the dashboard, for programs that read its metrics. By default a new one at each start.",
    fallback: undefined,
    reader: dashboardToken,
    secret: true,
  },
  logFile: {
    key: "logFile",
    meaning: "Write the log to this file too, one JSON object per line.",
    fallback: undefined,
    reader: read.words("FILE", "the name of a file"),
  },
  traces: {
    key: "traces",
    meaning:
      "Send a trace of every request to an OpenTelemetry collector over OTLP/HTTP: http://127.0.0.1:4318. Off by default.",
    fallback: undefined,
    reader: read.headerText(
      "URL",
      "the address of a collector without user and password, such as http://127.0.0.1:4318",
      /^https?:\/\/[^\s@]+$/,
    ),
  },
  json: {
    key: "json",
    meaning:
      "Print the result as one JSON object on standard output, everything else on standard error.",
    fallback: "false",
    reader: read.onOff,
    flagOnly: true,
  },
  quiet: {
    key: "quiet",
    meaning: "Print only problems.",
    fallback: "false",
    reader: read.onOff,
  },
  verbose: {
    key: "verbose",
    meaning: "Print more: the outcome of every URL, and stack traces of internal errors.",
    fallback: "false",
    reader: read.onOff,
  },
} as const satisfies FieldTable;
