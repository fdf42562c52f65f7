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
      "Crawling processes on this machine. They share the limit, the manners and the work, and are one crawl to whoever looks.",
    fallback: "1",
    reader: read.integer({ least: 1, most: 64 }),
  },
  coordination: {
    key: "coordination",
    meaning:
      "How processes agree on who crawls what: `static`, by the partition alone; `dynamic`, parts are handed out to whoever has run dry; `independent`, not at all, each with its own starting addresses.",
    fallback: "static",
    reader: read.oneOf(COORDINATIONS),
  },
  mode: {
    key: "mode",
    meaning:
      "What a process does with links to another's part: `exchange` sends them there, `firewall` drops them, `cross-over` follows them when its own part has run dry. By default exchange.",
    fallback: undefined,
    reader: read.oneOf(MODES),
  },
  partition: {
    key: "partition",
    meaning:
      "How the web is divided: `site-hash` by host, `url-hash` by address, `hierarchical` by rules; `topic` by what pages are about and `content-hash` by what is in them: then pages go to their owners, and not links. By default site-hash.",
    fallback: undefined,
    reader: read.oneOf([...PARTITION_KINDS, ...CONTENT_KINDS]),
  },
  partitionRules: {
    key: "partitionRules",
    meaning: "For hierarchical: what belongs together, the first that matches decides.",
    fallback: undefined,
    reader: partitionRule,
    separator: /\s*,\s*|\s+/,
  },
  bucketCount: {
    key: "partitions",
    meaning: "Parts the web is divided into, of which each process has several.",
    fallback: String(BUCKETS_DEFAULT),
    reader: read.integer({ least: 1, most: 8_192 }),
  },
  grain: {
    key: "grain",
    meaning: "With dynamic coordination: parts that a process gets at once when it has run dry.",
    fallback: "8",
    reader: read.integer({ least: 1, most: 8_192 }),
  },
  exchangeEveryPages: {
    key: "exchangeEvery",
    meaning: "Links for other processes are collected over so many pages, and sent together.",
    fallback: "100",
    reader: read.integer({ least: 1, most: 1_000_000 }),
  },
  exchangeEveryMs: {
    key: "exchangeWait",
    meaning: "But no longer than this.",
    fallback: "1s",
    reader: read.duration({ least: 10, most: 86_400_000 }),
  },
  replicateFile: {
    key: "replicate",
    meaning:
      "A file of popular addresses, one a line, that all processes know and never send: `weir export --popular` makes one of an earlier crawl.",
    fallback: undefined,
    reader: read.words("FILE", "a file"),
  },
  popularFound: {
    key: "popularFound",
    meaning:
      "Find popular addresses on the way: what two processes have sent is named to all, and sent no more.",
    fallback: "false",
    reader: read.onOff,
  },
  sampleShare: {
    key: "sample",
    meaning:
      "In mode firewall: fetch this part of all addresses also where they are another process's, without keeping their pages, and estimate from them what share of the web was covered.",
    fallback: undefined,
    reader: line.decimal({ least: 0.0001, most: 1 }),
  },
  referenceFolder: {
    key: "reference",
    meaning:
      "The folder of an earlier, complete crawl of the same sites: coverage and quality are measured against it.",
    fallback: undefined,
    reader: read.words("DIR", "a folder"),
  },
} as const satisfies FieldTable;
