/** Settings for what is stored and what is shown. */

import type { FieldTable, Reader } from "./field.ts";
import * as read from "./readers.ts";

const USUAL_PORT = 8674;

/** `orOther`: whether another port is acceptable if this one is in use. */
const dashboardPortReader: Reader<{ readonly port: number; readonly orOther: boolean }> = {
  placeholder: "PORT",
  expects: `a port from 1 to 65535, 0 for any that is free, or auto for ${USUAL_PORT} if it is free`,
  read(text) {
    if (text === "auto") return { port: USUAL_PORT, orOther: true };
    const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
    return port <= 65_535 ? { port, orOther: false } : undefined;
  },
};

const dashboardHostReader: Reader<string> = {
  placeholder: "ADDRESS",
  expects: "an address or a name of this machine, such as 127.0.0.1, ::1 or 192.168.1.5",
  read: (text) => (/^[A-Za-z0-9.:-]{1,253}$/.test(text) ? text : undefined),
};

/** 22 letters of base 64 have at least 128 bits. */
const dashboardTokenReader: Reader<string> = read.headerText(
  "TOKEN",
  "22 or more of the letters A-Z a-z 0-9 _ and -",
  /^[A-Za-z0-9_-]{22,}$/,
);

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const GIB = 2 ** 30;

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
    reader: dashboardPortReader,
    orNone: true,
    alone: "auto",
  },
  dashboardHost: {
    key: "dashboardHost",
    meaning:
      "Address on which the dashboard listens. Addresses other than loopback can be reached from other machines, without encryption.",
    fallback: "127.0.0.1",
    reader: dashboardHostReader,
  },
  dashboardToken: {
    key: "dashboardToken",
    meaning:
      "Token of the dashboard, for programs that read its metrics. By default a new one at each start.",
    reader: dashboardTokenReader,
    secret: true,
  },
  logFile: {
    key: "logFile",
    meaning: "Write the log to this file too, one JSON object per line.",
    reader: read.words("FILE", "the name of a file"),
  },
  traces: {
    key: "traces",
    meaning:
      "Send a trace of every request to an OpenTelemetry collector over OTLP/HTTP: http://127.0.0.1:4318. Off by default.",
    reader: read.headerText(
      "URL",
      "the URL of a collector without user and password, such as http://127.0.0.1:4318",
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
