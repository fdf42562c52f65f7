/**
 * Assigns a page to a topic and, if content and not the URL decides, to a process: by topic (Chung and Clarke 2002),
 * or by a hash of the content, with which that paper compares.
 *
 * All processes must decide alike, so they use the same model. Fixed rules apply to pages that are too small, in
 * another language, or uncertain.
 */

import type { Partition } from "../../partition/partition.ts";
import { type BoundaryRules, fateOf, WORLD } from "../../topics/boundary.ts";
import type { Verdict } from "../../topics/classify.ts";
import type { Placement, Placing, Reading } from "../parse-page.ts";

type Placed = Pick<Reading, "digest" | "verdict">;

/** Pages get topics and stay where they were fetched: one process, or a web divided by URL. */
export class Labelling implements Placing {
  place({ verdict }: Placed): Placement {
    return { ...labelOf(verdict), bucket: undefined };
  }
}

export class PlacingByTopic implements Placing {
  readonly #buckets: ReadonlyMap<string, number>;
  readonly #rules: BoundaryRules;

  constructor(topics: readonly string[], rules: BoundaryRules) {
    this.#buckets = new Map(topicsWithWorld(topics).map((topic, bucket) => [topic, bucket]));
    this.#rules = rules;
  }

  place({ verdict }: Placed): Placement {
    // A page without words is judged like a small one.
    const judged = verdict ?? { kind: "small", terms: 0, language: undefined };
    // No topic is own here: owners change, so they are looked up later.
    const fate = fateOf(judged, this.#rules, new Set());
    const label = labelOf(verdict);
    if (fate.kind === "keep") return { ...label, bucket: undefined };
    return { ...label, topic: fate.topic, bucket: this.#buckets.get(fate.topic) };
  }
}

export class PlacingByContent implements Placing {
  readonly #bucketCount: number;

  constructor(bucketCount: number) {
    this.#bucketCount = bucketCount;
  }

  place({ verdict, digest }: Placed): Placement {
    const head = new DataView(digest.buffer, digest.byteOffset, 4).getUint32(0);
    const bucket = Math.floor((head / 2 ** 32) * this.#bucketCount);
    return { ...labelOf(verdict), bucket };
  }
}

/** Every topic has a bucket, and so have pages in languages that the model does not know. */
export function topicsWithWorld(topics: readonly string[]): readonly string[] {
  return topics.includes(WORLD) ? topics : [...topics, WORLD];
}

/** For processes that own contents: a URL belongs to the process that found it. */
export function contentBuckets(groups: readonly string[], bucketCount: number): Partition {
  return { bucketCount, groups, keepsSites: false, bucketOf: () => 0 };
}

function labelOf(verdict: Verdict | undefined): Pick<Placement, "topic" | "confidence"> {
  if (verdict?.kind === "topic") return { topic: verdict.name, confidence: verdict.confidence };
  if (verdict?.kind === "foreign") return { topic: WORLD, confidence: 0 };
  return { topic: "", confidence: 0 };
}
