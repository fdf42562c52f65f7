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
    meaning: "Most requests under way at the same time, over all sites.",
    fallback: "64",
    reader: read.integer({ least: 1, most: 16_384 }),
  },
  allowPrivate: {
    key: "allowPrivate",
    meaning:
      "Addresses inside private or loopback ranges that may be asked, such as 127.0.0.0/8; all others are refused.",
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
      "Send every request through this proxy. User and password in the URL are its login, and never shown.",
    fallback: undefined,
    reader: read.proxyUrl,
    secret: true,
  },
  cookies: {
    key: "cookies",
    meaning: "Keep cookies during the run and send them back to the site that set them.",
    fallback: "false",
    reader: read.onOff,
  },
  retriesMax: {
    key: "retries",
    meaning: "How often a failed request is tried again when that could help.",
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
    meaning: "Most bytes read of one answer's body; a longer one is given up.",
    fallback: "8MiB",
    reader: read.size({ least: KIB, most: GIB }),
  },
  decodedBytesMax: {
    key: "decodedMax",
    meaning: "Most bytes a compressed body may unfold to.",
    fallback: "16MiB",
    reader: read.size({ least: KIB, most: GIB }),
  },
  connectTimeoutMs: {
    key: "connectTimeout",
    meaning: "How long to wait for a connection.",
    fallback: "10s",
    reader: read.duration({ least: 10, most: HOUR }),
  },
  tlsTimeoutMs: {
    key: "tlsTimeout",
    meaning: "How long to wait for the TLS handshake.",
    fallback: "10s",
    reader: read.duration({ least: 10, most: HOUR }),
  },
  firstByteTimeoutMs: {
    key: "firstByteTimeout",
    meaning: "How long to wait for the first byte of an answer.",
    fallback: "20s",
    reader: read.duration({ least: 10, most: HOUR }),
  },
  idleTimeoutMs: {
    key: "idleTimeout",
    meaning: "How long a body may stand still.",
    fallback: "15s",
    reader: read.duration({ least: 10, most: HOUR }),
  },
  totalTimeoutMs: {
    key: "totalTimeout",
    meaning: "How long one request may take in all.",
    fallback: "30s",
    reader: read.duration({ least: 10, most: DAY }),
  },
  speedFloorBps: {
    key: "speedFloor",
    meaning: "A body slower than this on average is given up; 0 waits for the other limits.",
    fallback: "1KiB/s",
    reader: read.rate({ least: 0, most: GIB }),
  },
} as const satisfies FieldTable;

export const KEEPING = {
  warc: {
    key: "warc",
    meaning: "Keep every page in WARC files.",
    fallback: "true",
    reader: read.onOff,
  },
  warcBytesMax: {
    key: "warcSize",
    meaning: "A WARC file that has grown to this is closed and the next one begun.",
    fallback: "1GiB",
    reader: read.size({ least: 64 * KIB, most: 1024 * GIB }),
  },
  warcLevel: {
    key: "warcLevel",
    meaning: "How hard to compress: 0 not at all, 1 fast, 9 small.",
    fallback: "1",
    reader: read.integer({ least: 0, most: 9 }),
  },
  searchIndex: {
    key: "searchIndex",
    meaning:
      "Index pages for full-text search during the crawl. Without it, the first `weir search` indexes them from the archive.",
    fallback: "false",
    reader: read.onOff,
  },
  searchStemming: {
    key: "searchStemming",
    meaning:
      "Stemming of a new search index: with english, professors finds professor; none for other languages.",
    fallback: "english",
    reader: read.oneOf(["english", "none"]),
  },
  memoryBytes: {
    key: "memory",
    meaning: "Memory for what is known and waiting; everything beyond is on disk.",
    fallback: "256MiB",
    reader: read.size({ least: 32 * MIB, most: 1024 * GIB }),
  },
} as const satisfies FieldTable;

export const SHOWING = {
  dashboard: {
    key: "dashboard",
    meaning: "Show the crawl in the browser while it runs; its address, with a token, is printed.",
    fallback: undefined,
    reader: dashboardPort,
    orNone: true,
    alone: "auto",
  },
  dashboardHost: {
    key: "dashboardHost",
    meaning:
      "The address on which the dashboard listens. Anything but loopback can be reached by others, and is not encrypted.",
    fallback: "127.0.0.1",
    reader: dashboardHost,
  },
  dashboardToken: {
    key: "dashboardToken",
    meaning:
      "The dashboard's token, for programs that read its metrics; a new one at each start without it.",
    fallback: undefined,
    reader: dashboardToken,
    secret: true,
  },
  logFile: {
    key: "logFile",
    meaning: "Write what happens to this file too, one JSON object a line.",
    fallback: undefined,
    reader: read.words("FILE", "the name of a file"),
  },
  traces: {
    key: "traces",
    meaning:
      "Tell an OpenTelemetry collector about every request, over OTLP/HTTP: http://127.0.0.1:4318. Off by default.",
    fallback: undefined,
    reader: read.headerText(
      "URL",
      "the address of a collector without user and password, such as http://127.0.0.1:4318",
      /^https?:\/\/[^\s@]+$/,
    ),
  },
  json: {
    key: "json",
    meaning: "Print the result as one JSON object on standard output, all else on standard error.",
    fallback: "false",
    reader: read.onOff,
    flagOnly: true,
  },
  quiet: {
    key: "quiet",
    meaning: "Say nothing while it goes well.",
    fallback: "false",
    reader: read.onOff,
  },
  verbose: {
    key: "verbose",
    meaning: "Say more: every address as it is settled, and our own mistakes with their stack.",
    fallback: "false",
    reader: read.onOff,
  },
} as const satisfies FieldTable;
