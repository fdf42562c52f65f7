/** Settings about several processes: how many, how the web is divided, and what they tell each other. */

import { COORDINATIONS, MODES } from "../partition/mode.ts";
import { BUCKETS_DEFAULT, PARTITION_KINDS, readPartitionRule } from "../partition/partition.ts";
import type { FieldTable, Reader } from "./field.ts";
import * as line from "./readers-bandwidth.ts";
import * as read from "./readers.ts";

const partitionRule: Reader<NonNullable<ReturnType<typeof readPartitionRule>>> = {
  placeholder: "GROUP=MATCH",
  expects:
    "a group and what belongs to it: uk=.uk, de=country:de or docs=path:docs.example.org/guide/",
  read: readPartitionRule,
};

/** Divisions of contents, which no address tells. */
export const CONTENT_KINDS = ["topic", "content-hash"] as const;

export const PARALLEL = {
  procs: {
    key: "procs",
    meaning:
      "Crawling processes on this machine. They share limit, politeness and work, and report as one crawl.",
    fallback: "1",
    reader: read.integer({ least: 1, most: 64 }),
  },
  coordination: {
    key: "coordination",
    meaning:
      "How processes divide the work: `static` by the partition; `dynamic` idle processes get further parts; `independent` each crawls its own seeds.",
    fallback: "static",
    reader: read.oneOf(COORDINATIONS),
  },
  mode: {
    key: "mode",
    meaning:
      "Links to URLs of another process: `exchange` sends them there; `firewall` drops them; `cross-over` follows them when the process has no other work. By default exchange.",
    fallback: undefined,
    reader: read.oneOf(MODES),
  },
  partition: {
    key: "partition",
    meaning:
      "How URLs are divided among processes: `site-hash` by host; `url-hash` by URL; `hierarchical` by --partition-rules; `topic` or `content-hash` by the content of pages, which are then sent to their owners. By default site-hash.",
    fallback: undefined,
    reader: read.oneOf([...PARTITION_KINDS, ...CONTENT_KINDS]),
  },
  partitionRules: {
    key: "partitionRules",
    meaning: "For --partition hierarchical: groups of URLs; the first match wins.",
    fallback: undefined,
    reader: partitionRule,
    separator: /\s*,\s*|\s+/,
  },
  bucketCount: {
    key: "partitions",
    meaning: "Number of parts that URLs are divided into; each process owns several.",
    fallback: String(BUCKETS_DEFAULT),
    reader: read.integer({ least: 1, most: 8_192 }),
  },
  grain: {
    key: "grain",
    meaning: "With --coordination dynamic: the most parts that an idle process gets at once.",
    fallback: "8",
    reader: read.integer({ least: 1, most: 8_192 }),
  },
  exchangeEveryPages: {
    key: "exchangeEvery",
    meaning: "Send links to other processes after this many pages.",
    fallback: "100",
    reader: read.integer({ least: 1, most: 1_000_000 }),
  },
  exchangeEveryMs: {
    key: "exchangeWait",
    meaning: "Send links to other processes after this time at the latest.",
    fallback: "1s",
    reader: read.duration({ least: 10, most: 86_400_000 }),
  },
  replicateFile: {
    key: "replicate",
    meaning:
      "File of popular URLs, one per line, that every process knows, so that links to them are not sent. `weir export --popular` makes one from an earlier crawl.",
    fallback: undefined,
    reader: read.words("FILE", "a file"),
  },
  popularFound: {
    key: "popularFound",
    meaning:
      "Detect popular URLs during the crawl: a URL sent by two processes is announced to all and not sent again.",
    fallback: "false",
    reader: read.onOff,
  },
  sampleShare: {
    key: "sample",
    meaning:
      "With --mode firewall: share of other processes' URLs to fetch, without storing them, to estimate the coverage.",
    fallback: undefined,
    reader: line.decimal({ least: 0.0001, most: 1 }),
  },
  referenceFolder: {
    key: "reference",
    meaning:
      "Folder of an earlier, complete crawl of the same sites, to measure coverage and quality against.",
    fallback: undefined,
    reader: read.words("DIR", "a folder"),
  },
} as const satisfies FieldTable;
