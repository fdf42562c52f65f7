/**
 * How many bytes an answer will bring, before it is asked for: what a limit must set aside.
 *
 * Pages of a site resemble each other, so its own answers decide, the last 32 or so most; until there
 * are some, the answers of all sites stand in with the weight of two. Page, robots.txt and sitemap are
 * guessed apart. The mean is taken and not the median: what is set aside for many answers together
 * should be what they bring together. So that one film among pages does not spoil the guess for a long
 * time, an answer counts for at most `bytesMax`: whatever is larger is slowed while it is read.
 *
 * Promises, each held by a test:
 *   1. a guess lies between the least and the greatest answer of its kind, the first guess included;
 *   2. never more than `sitesMax` sites are remembered; the longest unheard of goes first.
 *
 * O(1); about 200 bytes a site.
 */

import { assert } from "../../base/assert.ts";

export type Asked = "page" | "robots" | "sitemap";

export interface SizeGuessLimits {
  readonly sitesMax: number;
  readonly bytesMax: number;
}

/**
 * Header and compressed body of ordinary sites; 1,000 pages on 900 hosts have 28 KB on average. Of
 * 5,196 robots.txt half have less than 570 bytes, and the others up to megabytes; most sitemaps
 * that robots.txt does not name do not exist.
 */
const FIRST_GUESS_BYTES: Readonly<Record<Asked, number>> = {
  page: 25_000,
  robots: 1_500,
  sitemap: 3_000,
};
/** After this many responses the guess is no longer used. */
const FIRST_GUESS_ANSWERS = 5;
const SITE_MEMORY = 32;
const WORLD_MEMORY = 256;
const WORLD_WEIGHT = 2;

export class SizeGuess {
  readonly #limits: SizeGuessLimits;
  readonly #world: Readonly<Record<Asked, Running>>;
  /** In the order in which they were last heard of. */
  readonly #sites = new Map<number, Partial<Record<Asked, Running>>>();

  constructor(limits: SizeGuessLimits) {
    assert(limits.sitesMax >= 1 && limits.bytesMax >= 1, "there is room for a guess");
    this.#limits = limits;
    this.#world = {
      page: new Running(WORLD_MEMORY),
      robots: new Running(WORLD_MEMORY),
      sitemap: new Running(WORLD_MEMORY),
    };
  }

  get size(): number {
    return this.#sites.size;
  }

  expectedBytes(siteId: number, asked: Asked): number {
    const own = this.#sites.get(siteId)?.[asked];
    const world = this.#worldBytes(asked);
    if (own === undefined) return world;
    return (own.count * own.mean + WORLD_WEIGHT * world) / (own.count + WORLD_WEIGHT);
  }

  /** How far answers of this kind are from the guess, as a standard deviation. */
  spreadBytes(siteId: number, asked: Asked): number {
    const own = this.#sites.get(siteId)?.[asked];
    return Math.sqrt((own !== undefined && own.count > 1 ? own : this.#world[asked]).variance);
  }

  /** The first guess counts as one answer, until there are some. */
  #worldBytes(asked: Asked): number {
    const { count, mean } = this.#world[asked];
    if (count >= FIRST_GUESS_ANSWERS) return mean;
    const first = Math.min(this.#limits.bytesMax, FIRST_GUESS_BYTES[asked]);
    return (count * mean + first) / (count + 1);
  }

  /** Takes in what an answer brought in all, its header included. */
  learn(siteId: number, asked: Asked, bytes: number): void {
    assert(bytes >= 0, "bytes come, they do not go");
    const counted = Math.min(bytes, this.#limits.bytesMax);
    const site = this.#sites.get(siteId) ?? {};
    (site[asked] ??= new Running(SITE_MEMORY)).took(counted);
    this.#world[asked].took(counted);
    this.#sites.delete(siteId);
    this.#sites.set(siteId, site);
    if (this.#sites.size <= this.#limits.sitesMax) return;
    for (const longestUnheard of this.#sites.keys()) {
      this.#sites.delete(longestUnheard);
      return;
    }
  }
}

/** Mean and variance of all that came, and of the last `memory` or so once there were more (Finch 2009). */
class Running {
  readonly #memory: number;
  #count = 0;
  #mean = 0;
  #variance = 0;

  constructor(memory: number) {
    this.#memory = memory;
  }

  /** As many as are remembered. */
  get count(): number {
    return this.#count;
  }

  get mean(): number {
    return this.#mean;
  }

  get variance(): number {
    return this.#variance;
  }

  took(value: number): void {
    this.#count = Math.min(this.#memory, this.#count + 1);
    const weight = 1 / this.#count;
    const off = value - this.#mean;
    this.#mean += weight * off;
    this.#variance = (1 - weight) * (this.#variance + weight * off ** 2);
  }
}
