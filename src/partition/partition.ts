/**
 * The bucket of a URL: by a hash of the whole URL, by a hash of its site, or by the operator's rules.
 *
 * A bucket is a fixed part of the web; `assignment.ts` decides which process crawls it, which may change.
 * Joining, leaving and handing out work move whole buckets, so moves never require a look at single URLs.
 *
 * With `site-hash` a site is host and port without the scheme: http and https of a host are mostly the
 * same server, and both together must be polite. `hierarchical` gives each group of rules a bucket of its
 * own, in order of first mention, and divides the other buckets by site.
 *
 * Promises: a URL has the same bucket in every process and every version; hashes fill buckets evenly.
 * O(length of the URL), with `hierarchical` times the number of rules; only `hierarchical` allocates.
 *
 * Topic and content are not a `Partition`: they are unknown until the page has been downloaded.
 */

import { assert, unreachable } from "../base/assert.ts";
import { type CanonicalUrl, pathStart } from "../url/url.ts";
import { hashOfPart, scaledTo } from "./hash.ts";
import { type PartitionRule, ruleMatches } from "./rules.ts";

export { type PartitionRule, readPartitionRule } from "./rules.ts";

export type PartitionKind = "url-hash" | "site-hash" | "hierarchical";
export const PARTITION_KINDS: readonly PartitionKind[] = ["url-hash", "site-hash", "hierarchical"];

export interface Partition {
  readonly bucketCount: number;
  bucketOf(url: CanonicalUrl): number;
  /** True when all URLs of a site share a bucket, so that a site has one owner. */
  readonly keepsSites: boolean;
  /** Names of the first buckets, which rules fill; the others are filled by a hash. */
  readonly groups: readonly string[];
}

interface PartitionOptions {
  readonly bucketCount: number;
  /** For `hierarchical`; the first rule that matches decides. */
  readonly rules: readonly PartitionRule[];
}

/** Enough for loads of 64 processes that differ by a few percent, few enough to list. */
export const BUCKETS_DEFAULT = 4096;

export function partitionFor(kind: PartitionKind, options: PartitionOptions): Partition {
  const { bucketCount, rules } = options;
  assert(Number.isInteger(bucketCount) && bucketCount > 0, "there is at least one bucket");
  switch (kind) {
    case "url-hash":
      return byHash(bucketCount, (url) => hashOfPart(url, 0, url.length), false);
    case "site-hash":
      return byHash(bucketCount, siteHash, true);
    case "hierarchical":
      return byRules(bucketCount, rules);
    default:
      return unreachable(kind);
  }
}

function byHash(
  bucketCount: number,
  hashOf: (url: CanonicalUrl) => number,
  keepsSites: boolean,
): Partition {
  return {
    bucketCount,
    keepsSites,
    groups: [],
    bucketOf: (url) => scaledTo(hashOf(url), bucketCount),
  };
}

function byRules(bucketCount: number, rules: readonly PartitionRule[]): Partition {
  const groups = [...new Set(rules.map(({ group }) => group))];
  const restCount = bucketCount - groups.length;
  assert(restCount > 0, "there is a bucket for URLs that no rule matches");
  const buckets = rules.map(({ group }) => groups.indexOf(group));
  return {
    bucketCount,
    keepsSites: rules.every(({ match }) => match.kind !== "path"),
    groups,
    bucketOf(url) {
      const rule = rules.findIndex(({ match }) => ruleMatches(match, url));
      if (rule >= 0) return buckets[rule] as number;
      return groups.length + scaledTo(siteHash(url), restCount);
    },
  };
}

/** Hash of the host, and of the port unless it is 80 or 443. */
function siteHash(url: CanonicalUrl): number {
  const start = url.indexOf("/") + 2;
  let end = pathStart(url);
  if (url.startsWith(":80", end - 3)) end -= 3;
  else if (url.startsWith(":443", end - 4)) end -= 4;
  return hashOfPart(url, start, end);
}
