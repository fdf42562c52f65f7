/**
 * Decides which sitemaps of a site are fetched: each once, not too deep, not too many.
 *
 * Indexes may name indexes, themselves, or a million files. A walk remembers every name it took, so
 * a loop ends where it closes; names two steps below the first ones are the last it takes.
 */

interface SitemapWalkLimits {
  readonly stepsMax: number;
  readonly filesMax: number;
}

export const SITEMAP_WALK_DEFAULTS: SitemapWalkLimits = { stepsMax: 2, filesMax: 500 };

export interface SitemapStep {
  readonly url: string;
  /** 0 for what robots.txt names, 1 for what those name, and so on. */
  readonly steps: number;
}

/** Why a sitemap is not fetched. */
type SitemapRefusal = "sitemap_loop" | "sitemap_depth" | "sitemap_capped";

export class SitemapWalk {
  readonly #limits: SitemapWalkLimits;
  readonly #taken = new Set<string>();
  readonly #waiting: SitemapStep[] = [];
  #nextIndex = 0;

  constructor(limits: SitemapWalkLimits) {
    this.#limits = limits;
  }

  /** Takes a sitemap named by robots.txt, or by an index that `next` gave. */
  add(url: string, namedBy: SitemapStep | undefined): SitemapRefusal | undefined {
    const steps = namedBy === undefined ? 0 : namedBy.steps + 1;
    if (this.#taken.has(url)) return "sitemap_loop";
    if (steps > this.#limits.stepsMax) return "sitemap_depth";
    if (this.#taken.size >= this.#limits.filesMax) return "sitemap_capped";
    this.#taken.add(url);
    this.#waiting.push({ url, steps });
    return undefined;
  }

  /** The next one to fetch, first named first; undefined when there is none for now. */
  next(): SitemapStep | undefined {
    const step = this.#waiting[this.#nextIndex];
    if (step !== undefined) this.#nextIndex += 1;
    return step;
  }
}
