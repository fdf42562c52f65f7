/** What a crawl needs to be one process of several, from the settings and the other processes. */

import { FingerprintTable } from "../base/fingerprint-table.ts";
import type { Division } from "../crawl/ownership.ts";
import type { PeerSetup } from "../crawl/ownership.ts";
import { contentBuckets, topicsWithWorld } from "../crawl/topics/assign.ts";
import { modelFor } from "../crawl/topics/setup.ts";
import { ownsContents } from "../config/processes.ts";
import { readPopular } from "../config/processes.ts";
import type { Settings } from "../config/schema.ts";
import type { Membership } from "../exchange/bus.ts";
import { SharedTurns } from "../frontier/shared-turns.ts";
import { type Partition, partitionFor } from "../partition/partition.ts";
import { PopularFound } from "../partition/popular-found.ts";
import type { LoadedModel } from "../topics/model.ts";
import { ownersOf } from "../topics/owners.ts";
import { fingerprintOf } from "../url/fingerprint.ts";
import type { CanonicalUrl } from "../url/url.ts";

export function partitionOf(settings: Settings, given?: LoadedModel): Partition {
  const { partition, bucketCount, partitionRules } = settings;
  if (partition === "topic") {
    const model = given ?? modelFor(settings);
    const topics = topicsWithWorld(model?.trained.topics ?? []);
    return contentBuckets(topics, topics.length);
  }
  if (partition === "content-hash") return contentBuckets([], bucketCount);
  return partitionFor(partition ?? "site-hash", { bucketCount, rules: partitionRules });
}

/** Assigns topics to processes by their share of the training examples; undefined for other partitions. */
export function topicOwners(
  settings: Settings,
  names: readonly string[],
  given?: LoadedModel,
): string[] | undefined {
  if (settings.partition !== "topic") return undefined;
  const model = given ?? modelFor(settings);
  const topics = topicsWithWorld(model?.trained.topics ?? []);
  const shares = topics.map((topic, index) => ({ topic, share: model?.trainedOn[index] ?? 1 }));
  const owned = ownersOf(shares, names.length);
  return topics.map((topic) => names[owned.findIndex((own) => own.includes(topic))] as string);
}

export interface Place {
  readonly self: string;
  readonly size: number;
  /** The seeds that this process begins with. */
  readonly seeds: readonly CanonicalUrl[];
  /** undefined for processes that are independent of each other. */
  readonly division: Division | undefined;
  readonly bus: Membership;
}

export function teamMeansFor(settings: Settings, place: Place): PeerSetup {
  const mode = settings.mode ?? "exchange";
  const partition = partitionOf(settings);
  const { self, size, division, bus } = place;
  const sampleShare = mode === "firewall" ? (settings.sampleShare ?? 0) : 0;
  const crossesOver = division !== undefined && (mode === "cross-over" || sampleShare > 0);
  const popularUrls = readPopular(settings.replicateFile);
  const popular = popularUrls.length === 0 ? undefined : new FingerprintTable();
  for (const { high, low } of popularUrls.map(fingerprintOf)) popular?.set(high, low, 1);
  return {
    seeds: place.seeds,
    turns: new SharedTurns(),
    rules: {
      size,
      sitesAreOwn: division !== undefined && partition.keepsSites && !crossesOver,
      crossesOver,
      isHandedOut: settings.coordination === "dynamic",
      siteConcurrencyMax: settings.concurrencyPerSite,
      addressConcurrencyMax: settings.concurrencyPerAddress,
    },
    border:
      division === undefined
        ? undefined
        : {
            self,
            partition,
            ownsContents: ownsContents(settings),
            mode,
            division,
            sampleShare,
            popular,
            popularUrls,
            popularFound: settings.popularFound ? new PopularFound() : undefined,
            bus,
            everyPages: settings.exchangeEveryPages,
            everyMs: settings.exchangeEveryMs,
          },
  };
}

/** The first division if its owners are fixed; undefined if they are assigned. */
export function firstDivision(
  owners: readonly string[] | undefined,
  names: readonly string[],
): Division | undefined {
  if (owners === undefined) return undefined;
  const nothing = { inTransit: new Map(), losses: [], formerly: new Map(), left: new Map() };
  return { epoch: 1, owners, ...nothing, members: new Set(names) };
}
