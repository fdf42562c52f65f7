/**
 * Updates the scores of waiting URLs as links are found, so that the next URL is chosen as late as possible.
 *
 * `backlinks`: every page that links to a waiting URL raises its score by one. `pagerank`: the rank of a URL
 * among all known ones (`frontier/pagerank-seen.ts`), refreshed in slices; a URL gets its new rank whenever a
 * page links to it, and some of the longest waiting URLs get it in every refresh.
 */

import { type Candidate, isLast } from "../frontier/priority.ts";
import { SeenRanks } from "../frontier/pagerank-seen.ts";
import { fingerprintsIn } from "../results/fingerprints.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { RANKS_SHARE } from "./allotments.ts";
import type { CrawlContext, CrawlParts } from "./context.ts";
import type { Reading } from "./parse-page.ts";

/** The links of a page that have been admitted. */
export interface AdmittedReading extends Reading {
  /** URLs with this id or a higher one were new with this page: their first score contains its link. */
  readonly firstNewId: number;
}

export interface Ordering {
  /** The links of a page are about to be admitted. */
  linking?(url: string, reading: Reading): void;
  /** The first score of a new URL; undefined for the rule of the order. */
  scoreOf?(found: Candidate): number | undefined;
  /** A page's links have been admitted. */
  linked(fromId: number, reading: AdmittedReading): void;
  start?(): void;
  stop?(): void;
}

/** Whether the score of a URL is the number of links to it. */
export function countsBacklinks({
  settings,
  hooks,
}: Pick<CrawlParts, "settings" | "hooks">): boolean {
  return settings.order === "backlinks" && hooks.score === undefined;
}

export class BacklinkOrder implements Ordering {
  readonly #context: CrawlContext;

  constructor(context: CrawlContext) {
    this.#context = context;
  }

  linked(_: number, { links, firstNewId }: AdmittedReading): void {
    const { batch, emit } = this.#context;
    for (const id of batch.lookup(fingerprintsIn(links))) {
      if (id === 0 || id >= firstNewId) continue;
      const target = batch.url(id);
      if (target?.reason === "sent") emit({ kind: "foreignLink", url: target.url as CanonicalUrl });
      if (target === undefined || target.reason !== undefined) continue;
      batch.setScore(id, target.score + 1);
    }
  }
}

const STEP_EVERY_MS = 20;
const REST_MS = 1_000;
/** Links or nodes in a step: a few milliseconds. */
const STEP_WORK = 200_000;
const RESCORED_AT_ONCE = 500;
const SITES_AT_ONCE = 50;
const PAGES_READ_AT_ONCE = 200;
/** Two ranks and a place for each node; links are counted separately. */
const NODE_BYTES = 24;
const LINK_SHARE = 3 / 4;

export class RankOrder implements Ordering {
  readonly #context: CrawlContext;
  readonly #ranks: SeenRanks;
  #afterSiteId = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(context: CrawlContext) {
    this.#context = context;
    const rankBytesMax = context.settings.memoryBytes * RANKS_SHARE;
    this.#ranks = new SeenRanks({
      nodesMax: Math.max(1024, Math.floor((rankBytesMax * (1 - LINK_SHARE)) / NODE_BYTES)),
      linkBytesMax: Math.floor(rankBytesMax * LINK_SHARE),
    });
  }

  linked(fromId: number, { links }: AdmittedReading): void {
    const { batch } = this.#context;
    const known = [...batch.lookup(fingerprintsIn(links))].filter((id) => id !== 0);
    const elsewhere = Math.max(0, links.byteLength / 8 - known.length);
    this.#ranks.putLinks(fromId, known, elsewhere);
    for (const id of known) {
      const target = batch.url(id);
      if (target?.reason === undefined && !isLast(target?.score ?? 0))
        batch.setScore(id, this.#ranks.scoreOf(id));
    }
  }

  /** After a restart the links of the stored pages are read again, a few pages at a time. */
  start(): void {
    this.#readAfter(0);
  }

  stop(): void {
    this.#cancelTimer?.();
  }

  #readAfter(seq: number): void {
    const { store } = this.#context;
    let last = seq;
    let count = 0;
    for (const { seq: number, page } of store.pagesAfter(seq)) {
      const ids = [...store.lookup(fingerprintsIn(page.links))].filter((id) => id !== 0);
      this.#ranks.putLinks(page.id, ids);
      last = number;
      count += 1;
      if (count >= PAGES_READ_AT_ONCE) break;
    }
    if (count < PAGES_READ_AT_ONCE) return this.#stepOn();
    this.#later(STEP_EVERY_MS, () => this.#readAfter(last));
  }

  #stepOn(): void {
    const isBusy = this.#ranks.step(STEP_WORK);
    if (!isBusy) this.#rescoreSome();
    this.#later(isBusy ? STEP_EVERY_MS : REST_MS, () => this.#stepOn());
  }

  /** URLs without new links are rescored too, site after site. */
  #rescoreSome(): void {
    const { sites, batch } = this.#context;
    const busy = sites.withWork(this.#afterSiteId, SITES_AT_ONCE);
    this.#afterSiteId = busy.at(-1)?.id ?? 0;
    const each = Math.ceil(RESCORED_AT_ONCE / Math.max(1, busy.length));
    for (const { id: siteId } of busy)
      for (const { id, score } of batch.waiting(siteId, each)) {
        if (isLast(score)) continue;
        const rank = this.#ranks.scoreOf(id);
        const isOther = Math.abs(rank - score) > 0.01 * Math.abs(score);
        if (isOther) batch.setScore(id, rank);
      }
  }

  #later(delayMs: number, work: () => void): void {
    this.#cancelTimer = this.#context.clock.after(delayMs, () => {
      try {
        work();
      } catch (fault) {
        this.#context.emit({ kind: "fault", fault });
      }
    });
  }
}
