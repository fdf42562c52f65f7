/**
 * Judges that contents are where they belong: each in the books of one process, the one that owns its topic
 * or its hash, worked out anew from the world's own pages.
 *
 * Rules: `content-twice` (two processes keep the same content), `wrong-owner` (its owner is another), `lost-page`
 * (handed over, and nobody has it), `topic` (a kept page was called something else than it is).
 */

import { digestOf as contentDigest } from "../../page/digest.ts";
import type { Settings } from "../../config/schema.ts";
import type { Placement, Placing } from "../../crawl/placing.ts";
import { topicMeansFor } from "../../crawl/topic-means.ts";
import type { ReadableStore } from "../../store/sqlite-view.ts";
import type { Verdict } from "../../topics/classify.ts";
import type { LoadedModel } from "../../topics/model.ts";
import { groundTruth } from "../ground-truth.ts";
import { bodyOf } from "../world.ts";
import type { World } from "../world/plan.ts";
import type { Violation } from "./violation.ts";

export interface Collections {
  readonly world: World;
  readonly settings: Settings;
  readonly model: LoadedModel;
  readonly names: readonly string[];
  /** The owner of each part of all contents. */
  readonly owners: readonly string[];
  readonly books: readonly Pick<ReadableStore, "urls" | "page" | "topicOf">[];
}

interface Kept {
  readonly digest: string;
  readonly by: string;
}

export function checkOwnership(collections: Collections): Violation[] {
  const { books, names, settings } = collections;
  const truth = truePlacements(collections);
  const violations: Violation[] = [];
  const kept = new Map<string, Kept>();
  const handedOver = new Set<string>();
  for (const [index, store] of books.entries())
    for (const { id, url, reason } of store.urls()) {
      if (reason === "exported") handedOver.add(url);
      const page = reason === "ok" ? store.page(id) : undefined;
      if (page === undefined) continue;
      const by = names[index] as string;
      const digest = Buffer.from(page.digest).toString("hex");
      kept.set(url, { digest, by });
      const { topic } = truth.get(url) ?? { topic: "" };
      const called = store.topicOf(id)?.topic;
      if (called !== topic)
        violations.push({ rule: "topic", detail: `${url} is ${topic}, not ${called}` });
    }
  for (const url of handedOver)
    if (!kept.has(url)) violations.push({ rule: "lost-page", detail: url });
  if (settings.boundary === "page") violations.push(...checkPlaces(collections, truth, kept));
  return violations;
}

function checkPlaces(
  { owners }: Collections,
  truth: ReadonlyMap<string, Placement>,
  kept: ReadonlyMap<string, Kept>,
): Violation[] {
  const violations: Violation[] = [];
  const keeper = new Map<string, string>();
  for (const [url, { digest, by }] of kept) {
    const bucket = truth.get(url)?.bucket;
    // What is owned by nobody stays wherever it was found, so it may be in several places.
    if (bucket === undefined) continue;
    const other = keeper.get(digest);
    keeper.set(digest, by);
    if (other !== undefined && other !== by)
      violations.push({ rule: "content-twice", detail: `${url} is with ${other} and ${by}` });
    if (owners[bucket] !== by)
      violations.push({ rule: "wrong-owner", detail: `${url} is with ${by}: ${owners[bucket]}'s` });
  }
  return violations;
}

/** What every page of the world is, and whose, by the rules of production and its true content. */
function truePlacements({ world, settings, model }: Collections): Map<string, Placement> {
  const means = topicMeansFor(settings, model);
  const placements = new Map<string, Placement>();
  if (means === undefined) return placements;
  for (const { url, fate, site, page } of groundTruth(world)) {
    if (fate !== "stored") continue;
    const body = bodyOf(world, site, page);
    placements.set(url, placed(means.placing, body, means.classifier?.ofHtml(body)));
  }
  return placements;
}

function placed(placing: Placing, body: Uint8Array, verdict: Verdict | undefined): Placement {
  return placing.place({ digest: contentDigest(body), verdict });
}
