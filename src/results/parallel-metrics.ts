/**
 * Measures a crawl by several processes as Cho and Garcia-Molina (2002) do, from what it left in its folder:
 * overlap, communication overhead and, against the folder of a reference crawl, coverage and quality. Without a
 * reference coverage is estimated where the crawl took a sample (`partition/sample.ts`).
 *
 * A page is its URL. Coverage is the share of the reference's pages that was got; quality the share of
 * its best N that was, where N is how many different pages were got, and best is the PageRank in the
 * reference's own link graph. Only looks, also at crawls that run.
 *
 * Costs a walk over all rows of both crawls; memory does not grow with the crawl but by a bit a URL, and by some 40
 * bytes for each URL and 12 for each link of the reference.
 */

import { pageRank } from "../frontier/pagerank.ts";
import { communicationOverhead, coverage, overlap, qualityOfBest } from "../partition/metrics.ts";
import { isInSample } from "../partition/sample.ts";
import type { ReadableStore } from "../store/sqlite/sqlite-view.ts";
import { openReadOnly } from "../store/sqlite/store-sqlite.ts";
import { partFolders, readTeam, storeFolders } from "../store/team-file.ts";
import { fingerprintOf } from "../url/fingerprint.ts";
import { linkGraphOf } from "./link-graph.ts";
import { processesIn } from "./processes.ts";
import type { ParallelResult } from "../control/snapshot.ts";

/** What can be told from stores; how many bytes the exchange took is not kept in them. */
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

/** The same for who has opened the folder's store already. */
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

/** What can be said of coverage without a reference. */
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

/** Of the pages of a sample that anybody saw, the share that was got; undefined where none is in it. */
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

/** What of the reference's pages was got. */
function against(
  store: ReadableStore,
  reference: ReadableStore,
): { readonly coverage: number; readonly quality: number } {
  const ranks = pageRank(linkGraphOf(reference));
  const pages = new PageMarks(ranks.length);
  for (const { id } of reference.pages()) pages.add(id);
  for (const id of sharedWith(store, reference)) pages.markGot(id);
  const ids = pages.ids();
  const worth = Float64Array.from(ids, (id) => ranks[id - 1] as number);
  const isGot = (page: number): boolean => pages.isGot(ids[page] as number);
  return {
    coverage: coverage(pages.got, ids.length),
    quality: qualityOfBest(worth, store.totals.pages, isGot),
  };
}

/** The reference's ids of what was fetched, where it knows the URL. */
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

const PAGE = 1;
const GOT = 2;

/** Which of the reference's URLs are pages, and which of these were got. */
class PageMarks {
  readonly #marks: Uint8Array;
  #pages = 0;
  #got = 0;

  constructor(urls: number) {
    this.#marks = new Uint8Array(urls + 1);
  }

  get got(): number {
    return this.#got;
  }

  /** One that came while we look has no rank, and is left out. */
  add(id: number): void {
    if (id >= this.#marks.length || this.#marks[id] !== 0) return;
    this.#marks[id] = PAGE;
    this.#pages += 1;
  }

  markGot(id: number): void {
    if (this.#marks[id] !== PAGE) return;
    this.#marks[id] = GOT;
    this.#got += 1;
  }

  isGot(id: number): boolean {
    return this.#marks[id] === GOT;
  }

  ids(): Uint32Array {
    const ids = new Uint32Array(this.#pages);
    let count = 0;
    for (const [id, mark] of this.#marks.entries()) if (mark !== 0) ids[count++] = id;
    return ids;
  }
}
