/**
 * Collects links to other processes' parts until they are sent: one entry per URL, for any number of links to it.
 *
 * Only the current batch is remembered (Cho and Garcia-Molina 2002), so memory stays bounded in a crawl of any
 * length. A repeat increases the count, by which the owner orders its queue; of the other fields the best value is
 * kept: the shortest path from a seed, the highest score.
 *
 * O(1) for each link. The caller checks `isDue` after each page and then takes all.
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
  /** Consecutive redirects that led to the URL, since the last page. */
  readonly redirects: number;
  readonly score: number;
}

interface MergedLink extends OutgoingLink {
  /** Number of links to the URL in this batch. */
  readonly count: number;
}

interface BatchLimits {
  /** Due after this many pages. */
  readonly pagesMax: number;
  /** Due after this many different links; a full batch takes only repeats. */
  readonly linksMax: number;
}

type MutableLink = { -readonly [Key in keyof MergedLink]: MergedLink[Key] };

export class OutgoingBatch {
  readonly #limits: BatchLimits;
  #byOwner = new Map<string, Map<CanonicalUrl, MutableLink>>();
  #pages = 0;
  #links = 0;
  #met = 0;

  constructor(limits: BatchLimits) {
    assert(limits.pagesMax > 0 && limits.linksMax > 0, "a batch has room for a page and a link");
    this.#limits = limits;
  }

  /** Pages whose links are in this batch. */
  get pages(): number {
    return this.#pages;
  }

  /** Different links: the entries that will be sent. */
  get links(): number {
    return this.#links;
  }

  /** Links including repeats. */
  get met(): number {
    return this.#met;
  }

  get isDue(): boolean {
    return this.#pages >= this.#limits.pagesMax || this.#links >= this.#limits.linksMax;
  }

  /** Returns false if there is no room for another URL: take all, then add it again. */
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

  /** All links by owner, in the order they were first added; empties the batch. */
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

function merge(known: MutableLink, { depth, redirects, score }: OutgoingLink): void {
  known.count += 1;
  known.score = Math.max(known.score, score);
  if (depth > known.depth || (depth === known.depth && redirects >= known.redirects)) return;
  known.depth = depth;
  known.redirects = redirects;
}
