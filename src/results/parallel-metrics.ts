/**
 * Measures a crawl by several processes as Cho and Garcia-Molina (2002) do, from its folder:
 * overlap, communication overhead and, with the folder of a reference crawl, coverage and quality.
 * Without a reference, coverage is estimated if the crawl took a sample (`partition/sample.ts`).
 *
 * A page is its URL. Coverage is the share of the reference's pages that were fetched; quality is
 * the same share of its best N pages, where N is the number of different pages fetched and best is
 * the PageRank in the reference's link graph. Read-only, so it works for a running crawl.
 *
 * It reads all rows of both crawls. Memory is one bit per URL of the crawl, and about 40 bytes per
 * URL and 12 per link of the reference.
 */

import { pageRank } from "../frontier/pagerank.ts";
import { communicationOverhead, coverage, overlap, qualityOfBest } from "../partition/metrics.ts";
import { isInSample } from "../partition/sample.ts";
import type { ReadableStore } from "../store/store.ts";
import { openReadOnly } from "../store/joined/open-read-only.ts";
import { partFolders, readTeam, storeFolders } from "../store/team-file.ts";
import { fingerprintOf } from "../url/fingerprint.ts";
import { linkGraphOf } from "./link-graph.ts";
import { processesIn } from "./processes.ts";
import type { ParallelResult } from "../control/snapshot.ts";

/** The measures that the stores contain; they do not contain the exchanged bytes. */
export interface ParallelMetrics extends Omit<
  ParallelResult,
  "exchangeBytes" | "coverage" | "quality"
> {
  /** Against a reference, or from a sample. */
  readonly coverage?: number;
  /** Only against a reference. */
  readonly quality?: number;
}

const PAGES_ASKED_AT_ONCE = 1000;

export async function parallelMetrics(
  folder: string,
  referenceFolder?: string,
): Promise<ParallelMetrics> {
  return looking(folder, (store) => metricsOf({ folder, store, referenceFolder }));
}

/** The same for an open store. */
export async function metricsOf({
  folder,
  store,
  referenceFolder,
}: {
  readonly folder: string;
  readonly store: ReadableStore;
  readonly referenceFolder: string | undefined;
}): Promise<ParallelMetrics> {
  const parts = processesIn(folder);
  const unique = store.totals.pages;
  const downloaded = parts.reduce((sum, { totals }) => sum + totals.pages, 0);
  const urlsExchanged = parts.reduce((sum, { totals }) => sum + (totals.outcomes["sent"] ?? 0), 0);
  return {
    procs: partFolders(folder).length,
    downloaded,
    unique,
    overlap: overlap(downloaded, unique),
    urlsExchanged,
    communicationOverhead: communicationOverhead(urlsExchanged, downloaded),
    ...(referenceFolder === undefined
      ? await fromSample(folder)
      : await looking(referenceFolder, async (reference) => against(store, reference))),
  };
}

/** Coverage without a reference. */
async function fromSample(folder: string): Promise<{ readonly coverage?: number }> {
  const share = readTeam(folder)?.sample;
  if (share === undefined) return {};
  const parts: ReadableStore[] = [];
  try {
    for (const part of storeFolders(folder)) parts.push(openReadOnly(part));
    const coverage = coverageInSample(parts, share);
    return coverage === undefined ? {} : { coverage };
  } finally {
    await Promise.all(parts.map((part) => part.close()));
  }
}

/** Share of the sample's known pages that were fetched; undefined if the sample is empty. */
export function coverageInSample(
  parts: readonly Pick<ReadableStore, "urls">[],
  share: number,
): number | undefined {
  const got = new Set<string>();
  const seen = new Set<string>();
  for (const part of parts)
    for (const { url, reason } of part.urls()) {
      if (reason !== "ok" && reason !== "sampled") continue;
      const { high, low } = fingerprintOf(url);
      if (isInSample(high, low, share)) (reason === "ok" ? got : seen).add(url);
    }
  const all = seen.union(got).size;
  return all === 0 ? undefined : coverage(got.size, all);
}

async function looking<T>(folder: string, look: (store: ReadableStore) => Promise<T>): Promise<T> {
  const store = openReadOnly(folder);
  try {
    return await look(store);
  } finally {
    await store.close();
  }
}

/** Which of the reference's pages were fetched. */
function against(
  store: ReadableStore,
  reference: ReadableStore,
): { readonly coverage: number; readonly quality: number } {
  const ranks = pageRank(linkGraphOf(reference));
  const ids: number[] = [];
  // A page added after the ranks were computed has no rank, and is left out.
  for (const { id } of reference.pages()) if (id <= ranks.length) ids.push(id);
  const got = new Uint8Array(ranks.length + 1);
  for (const id of sharedWith(store, reference)) got[id] = 1;
  const worth = Float64Array.from(ids, (id) => ranks[id - 1] as number);
  const isGot = (page: number): boolean => got[ids[page] as number] === 1;
  return {
    coverage: coverage(ids.filter((id) => got[id] === 1).length, ids.length),
    quality: qualityOfBest(worth, store.totals.pages, isGot),
  };
}

/** The reference's ids of the fetched pages that it knows. */
function* sharedWith(store: ReadableStore, reference: ReadableStore): Generator<number> {
  const high = new Uint32Array(PAGES_ASKED_AT_ONCE);
  const low = new Uint32Array(PAGES_ASKED_AT_ONCE);
  let count = 0;
  for (const { id } of store.pages()) {
    const fingerprint = fingerprintOf(store.url(id)?.url ?? "");
    high[count] = fingerprint.high;
    low[count++] = fingerprint.low;
    if (count < PAGES_ASKED_AT_ONCE) continue;
    yield* reference.lookup({ high, low, count });
    count = 0;
  }
  yield* reference.lookup({ high, low, count });
}
