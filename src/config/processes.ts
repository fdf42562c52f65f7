/** Settings for several processes on one machine: how many, and how they divide the web. */

import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import { COORDINATIONS, MODES, whyNot } from "../partition/mode.ts";
import {
  BUCKETS_DEFAULT,
  PARTITION_KINDS,
  type PartitionKind,
  readPartitionRule,
} from "../partition/partition.ts";
import { type CanonicalUrl, canonicalUrl, isRefused } from "../url/url.ts";
import type { FieldTable, Reader } from "./field.ts";
import * as read from "./readers.ts";
import type { Settings } from "./schema.ts";
import { readFileSync } from "node:fs";

const partitionRule: Reader<NonNullable<ReturnType<typeof readPartitionRule>>> = {
  placeholder: "GROUP=MATCH",
  expects:
    "a group and what belongs to it: uk=.uk, de=country:de or docs=path:docs.example.org/guide/",
  read: readPartitionRule,
};

/** Partitions by content, which the URL does not determine. */
const CONTENT_KINDS = ["topic", "content-hash"] as const;

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
    reader: read.oneOf(MODES),
  },
  partition: {
    key: "partition",
    meaning:
      "How URLs are divided among processes: `site-hash` by host; `url-hash` by URL; `hierarchical` by --partition-rules; `topic` or `content-hash` by the content of pages, which are then sent to their owners. By default site-hash.",
    reader: read.oneOf([...PARTITION_KINDS, ...CONTENT_KINDS]),
  },
  partitionRules: {
    key: "partitionRules",
    meaning: "For --partition hierarchical: groups of URLs; the first match wins.",
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
    reader: read.decimal({ least: 0.0001, most: 1 }),
  },
  referenceFolder: {
    key: "reference",
    meaning:
      "Folder of an earlier, complete crawl of the same sites, to measure coverage and quality against.",
    reader: read.words("DIR", "a folder"),
  },
} as const satisfies FieldTable;

/** Whether processes own contents instead of URLs. */
export function ownsContents({ partition }: Settings): boolean {
  return partition === "topic" || partition === "content-hash";
}

function addressKind({ partition }: Settings): PartitionKind | undefined {
  return partition === "topic" || partition === "content-hash" ? undefined : partition;
}

export function parallelMistakes(settings: Settings): string[] {
  const { coordination, mode, procs, partitionRules, bucketCount } = settings;
  const found: string[] = [];
  const isByContent = ownsContents(settings);
  const partition = addressKind(settings);
  if (isByContent && (coordination !== "static" || (mode ?? "exchange") !== "exchange"))
    found.push(
      `partition ${settings.partition} sends pages to their owners: leave --coordination and --mode out`,
    );
  const reason = whyNot({ coordination, mode, partition, procs, ruleCount: partitionRules.length });
  if (reason !== undefined) found.push(reason);
  const { natsServers } = settings;
  const isCluster = natsServers.length > 0;
  if (isCluster && procs > 1)
    found.push(
      "--procs starts processes under a supervisor, and --nats joins a cluster: start `weir node` once for every further process instead",
    );
  if (isCluster && coordination === "independent")
    found.push("independent processes need no cluster: leave --nats out, or choose static");
  if (procs === 1 && !isCluster) return found;
  if (bucketCount < procs)
    found.push(
      `${bucketCount} partitions are fewer than ${procs} processes, so some would have none; give --partitions ${procs} or more`,
    );
  if (mode === "cross-over" && partition === "url-hash")
    found.push(
      "cross-over follows links to other sites, and url-hash divides sites themselves: choose site-hash",
    );
  if (settings.sampleShare !== undefined && mode !== "firewall")
    found.push(
      "--sample estimates what firewalls miss, and nothing is missed otherwise: choose --mode firewall, or leave it out",
    );
  if (settings.sampleShare !== undefined && isCluster)
    found.push(
      "a cluster does not put its nodes' samples together: leave --sample out, or use --procs",
    );
  if (settings.watch)
    found.push(
      "rounds (--watch) are for one process so far: leave --procs and --nats out, or --watch",
    );
  return found;
}

const POPULAR_MAX = 1_000_000;

/** Lines that are no URL are skipped. */
export function readPopular(file: string | undefined): readonly CanonicalUrl[] {
  if (file === undefined) return [];
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CrawlError("USAGE", `The file of --replicate cannot be read: ${visible(why, 300)}`);
  }
  const urls = new Set<CanonicalUrl>();
  for (const line of text.split("\n")) {
    const url = canonicalUrl(line.trim());
    if (!isRefused(url)) urls.add(url);
    if (urls.size >= POPULAR_MAX) break;
  }
  return [...urls];
}
