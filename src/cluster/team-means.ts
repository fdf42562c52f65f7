/** What a crawl is given to be one process of several: from the settings, and from who is there. */

import type { Division } from "../crawl/border.ts";
import type { TeamMeans } from "../crawl/team.ts";
import { readPopular } from "../config/popular.ts";
import type { Settings } from "../config/schema.ts";
import type { Membership } from "../exchange/bus.ts";
import { SharedTurns } from "../frontier/shared-turns.ts";
import { type Partition, partitionFor } from "../partition/partition.ts";
import { PopularSet } from "../partition/popular.ts";
import { fingerprintOf } from "../url/fingerprint.ts";

export function partitionOf({ partition, bucketCount, partitionRules }: Settings): Partition {
  return partitionFor(partition ?? "site-hash", { bucketCount, rules: partitionRules });
}

export interface Place {
  readonly self: string;
  readonly size: number;
  /** undefined for processes that are independent of each other. */
  readonly division: Division | undefined;
  readonly bus: Membership;
}

export function teamMeansFor(settings: Settings, place: Place): TeamMeans {
  const mode = settings.mode ?? "exchange";
  const partition = partitionOf(settings);
  const { self, size, division, bus } = place;
  const crossesOver = mode === "cross-over" && division !== undefined;
  const popularUrls = readPopular(settings.replicateFile);
  const fingerprints = popularUrls.map((url) => fingerprintOf(url));
  return {
    turns: new SharedTurns(),
    rules: {
      size,
      sitesAreOwn: division !== undefined && partition.keepsSites && !crossesOver,
      crossesOver,
      siteConcurrencyMax: settings.concurrencyPerSite,
      addressConcurrencyMax: settings.concurrencyPerAddress,
    },
    border:
      division === undefined
        ? undefined
        : {
            self,
            partition,
            mode,
            division,
            popular:
              popularUrls.length === 0
                ? undefined
                : new PopularSet({
                    high: fingerprints.map(({ high }) => high),
                    low: fingerprints.map(({ low }) => low),
                  }),
            popularUrls,
            bus,
            everyPages: settings.exchangeEveryPages,
            everyMs: settings.exchangeEveryMs,
          },
  };
}
