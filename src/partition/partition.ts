/**
 * Tells a URL's bucket: by a hash of all of it, of its site, or by the operator's rules.
 *
 * A bucket is a fixed part of the web; who crawls it is said elsewhere (`assignment.ts`) and may
 * change. Joining, leaving and handing out work all move whole buckets, so nobody ever
 * has to look at URLs to know what moved.
 *
 * With `site-hash` a site is host and port without the scheme: http and https of a host are mostly the
 * same server, and both together must be polite. `hierarchical` gives each group of rules a bucket of its
 * own, in order of first mention, and divides the other buckets by site.
 *
 * Promises: the same URL has the same bucket in every process and every version; buckets of a hash are
 * filled evenly. O(length of the URL), and the number of rules with `hierarchical`; no allocation but there.
 *
 * What cannot be told from the URL (topic, content) is no `Partition`: it is known only after the page
 * has come.
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

export interface PartitionOptions {
  readonly bucketCount: number;
  /** For `hierarchical`; the first that matches decides. */
  readonly rules: readonly PartitionRule[];
}

/** Enough that the buckets of 64 processes are even within a few percent, few enough to list. */
export const BUCKETS_DEFAULT = 4096;

export function partitionFor(kind: PartitionKind, options: PartitionOptions): Partition {
  const { bucketCount, rules } = options;
  assert(Number.isInteger(bucketCount) && bucketCount > 0, "there is a bucket to put URLs into");
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
  assert(restCount > 0, "there is a bucket for what no rule matches");
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

/** Of the host, and of the port unless it is one of the two that are usually left out. */
function siteHash(url: CanonicalUrl): number {
  const start = url.indexOf("/") + 2;
  let end = pathStart(url);
  if (url.startsWith(":80", end - 3)) end -= 3;
  else if (url.startsWith(":443", end - 4)) end -= 4;
  return hashOfPart(url, start, end);
}
