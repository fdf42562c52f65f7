/**
 * Collects links to the parts of others until they are sent: one entry per URL, however often it was met.
 *
 * Only the present batch is remembered (Cho and Garcia-Molina 2002), so memory is bounded however long the
 * crawl. A repeat adds to the count, which is what the owner orders its queue by; of the rest the best is
 * kept: the shortest way from a seed, the highest score.
 *
 * O(1) for each link. Whoever adds asks `isDue` after each page and takes all when it says so.
 */

import { assert } from "../base/assert.ts";
import type { CanonicalUrl } from "../url/url.ts";

export interface OutgoingLink {
  readonly url: CanonicalUrl;
  /** The first spelling met, where it is not the canonical one. */
  readonly written?: string | undefined;
  readonly high: number;
  readonly low: number;
  readonly depth: number;
  /** How many redirects led there in a row, since the last page. */
  readonly redirects: number;
  readonly score: number;
}

export interface MergedLink extends OutgoingLink {
  /** How many links to it the batch saw. */
  readonly count: number;
}

export interface BatchLimits {
  /** Due after this many pages, */
  readonly pagesMax: number;
  /** or this many different links, whichever is first. No more are taken. */
  readonly linksMax: number;
}

type Growing = { -readonly [Key in keyof MergedLink]: MergedLink[Key] };

export class OutgoingBatch {
  readonly #limits: BatchLimits;
  #byOwner = new Map<string, Map<CanonicalUrl, Growing>>();
  #pages = 0;
  #links = 0;
  #met = 0;

  constructor(limits: BatchLimits) {
    assert(limits.pagesMax > 0 && limits.linksMax > 0, "a batch has room");
    this.#limits = limits;
  }

  /** Pages whose links are in here. */
  get pages(): number {
    return this.#pages;
  }

  /** Different links, which is what will be sent. */
  get links(): number {
    return this.#links;
  }

  /** Links with all repeats. */
  get met(): number {
    return this.#met;
  }

  get isDue(): boolean {
    return this.#pages >= this.#limits.pagesMax || this.#links >= this.#limits.linksMax;
  }

  /** False when there is no room for another URL: take all, and add it again. */
  add(owner: string, link: OutgoingLink): boolean {
    const known = this.#byOwner.get(owner)?.get(link.url);
    if (known === undefined && this.#links >= this.#limits.linksMax) return false;
    this.#met += 1;
    if (known === undefined) this.#enter(owner, link);
    else merge(known, link);
    return true;
  }

  endPage(): void {
    this.#pages += 1;
  }

  /** Everything, by owner and in the order of first meeting; the batch is empty afterwards. */
  takeAll(): Map<string, readonly MergedLink[]> {
    const taken = new Map<string, readonly MergedLink[]>();
    for (const [owner, links] of this.#byOwner) taken.set(owner, [...links.values()]);
    this.#byOwner = new Map();
    this.#pages = 0;
    this.#links = 0;
    this.#met = 0;
    return taken;
  }

  #enter(owner: string, link: OutgoingLink): void {
    const { url, written, high, low, depth, redirects, score } = link;
    let links = this.#byOwner.get(owner);
    if (links === undefined) this.#byOwner.set(owner, (links = new Map()));
    links.set(url, { url, written, high, low, depth, redirects, score, count: 1 });
    this.#links += 1;
  }
}

function merge(known: Growing, { depth, redirects, score }: OutgoingLink): void {
  known.count += 1;
  known.score = Math.max(known.score, score);
  if (depth > known.depth || (depth === known.depth && redirects >= known.redirects)) return;
  known.depth = depth;
  known.redirects = redirects;
}
