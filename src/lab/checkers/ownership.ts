/**
 * Checks that each content is stored by exactly one process: the owner of its topic or hash, computed
 * independently from the world's pages.
 *
 * Rules: `content-twice` (two processes store the same content), `wrong-owner` (stored by a process that does
 * not own it), `lost-page` (handed over, but not stored by any process), `topic` (stored with a wrong topic).
 */

import { digestOf as contentDigest } from "../../page/digest.ts";
import type { Settings } from "../../config/schema.ts";
import type { Placement, Placing } from "../../crawl/parse-page.ts";
import { topicSetupFor } from "../../crawl/topics/setup.ts";
import type { ReadableStore } from "../../store/store.ts";
import type { Verdict } from "../../topics/classify.ts";
import type { LoadedModel } from "../../topics/model.ts";
import { groundTruth } from "../ground-truth.ts";
import { bodyOf } from "../world.ts";
import type { World } from "../world/plan.ts";
import type { Violation } from "../violation.ts";

export interface Collections {
  readonly world: World;
  readonly settings: Settings;
  readonly model: LoadedModel;
  readonly names: readonly string[];
  /** The owner of each part of all contents. */
  readonly owners: readonly string[];
  readonly books: readonly Pick<ReadableStore, "urls" | "page" | "topicOf">[];
}

interface StoredContent {
  readonly digest: string;
  readonly by: string;
}

export function checkOwnership(collections: Collections): Violation[] {
  const { books, names, settings } = collections;
  const truth = truePlacements(collections);
  const violations: Violation[] = [];
  const stored = new Map<string, StoredContent>();
  const handedOver = new Set<string>();
  for (const [index, store] of books.entries())
    for (const { id, url, reason } of store.urls()) {
      if (reason === "exported") handedOver.add(url);
      const page = reason === "ok" ? store.page(id) : undefined;
      if (page === undefined) continue;
      const by = names[index] as string;
      const digest = Buffer.from(page.digest).toString("hex");
      stored.set(url, { digest, by });
      const { topic } = truth.get(url) ?? { topic: "" };
      const topicFound = store.topicOf(id)?.topic;
      if (topicFound !== topic)
        violations.push({ rule: "topic", detail: `${url} is ${topic}, not ${topicFound}` });
    }
  for (const url of handedOver)
    if (!stored.has(url)) violations.push({ rule: "lost-page", detail: url });
  if (settings.boundary === "page") violations.push(...checkPlaces(collections, truth, stored));
  return violations;
}

function checkPlaces(
  { owners }: Collections,
  truth: ReadonlyMap<string, Placement>,
  stored: ReadonlyMap<string, StoredContent>,
): Violation[] {
  const violations: Violation[] = [];
  const holders = new Map<string, string>();
  for (const [url, { digest, by }] of stored) {
    const bucket = truth.get(url)?.bucket;
    // Content without an owner stays with the process that fetched it, so several may store it.
    if (bucket === undefined) continue;
    const other = holders.get(digest);
    holders.set(digest, by);
    if (other !== undefined && other !== by)
      violations.push({ rule: "content-twice", detail: `${url} is with ${other} and ${by}` });
    if (owners[bucket] !== by)
      violations.push({
        rule: "wrong-owner",
        detail: `${url} is with ${by}, not ${owners[bucket]}`,
      });
  }
  return violations;
}

/** Topic and owner of every page of the world, computed by the production code from its true content. */
function truePlacements({ world, settings, model }: Collections): Map<string, Placement> {
  const means = topicSetupFor(settings, model);
  const placements = new Map<string, Placement>();
  if (means === undefined) return placements;
  for (const { url, fate, site, page } of groundTruth(world)) {
    if (fate !== "stored") continue;
    const body = bodyOf(world, site, page);
    placements.set(url, placementOf(means.placing, body, means.classifier?.ofHtml(body)));
  }
  return placements;
}

function placementOf(placing: Placing, body: Uint8Array, verdict: Verdict | undefined): Placement {
  return placing.place({ digest: contentDigest(body), verdict });
}
