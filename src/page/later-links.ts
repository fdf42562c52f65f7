/**
 * The unknown links of a page with very many: where each stands in the page, to be made strings a portion
 * at a time.
 *
 * A link costs 11 bytes here, whatever the length of its URL, so 100,000 links of a page waiting to be
 * stored cost at most 2.2 MB. The page's bytes must stay as they are until the last portion is taken.
 */

import type { CanonicalUrl, ResolvedUrl, UrlRules } from "../url/url.ts";
import { attributeText } from "./html-scanner.ts";
import type { FreshLink } from "./links.ts";
import { LinkResolver } from "./link-resolver.ts";
import { srcsetTargets } from "./srcset.ts";

/** Links made strings at once. */
export const PORTION = 2_000;
/** Of one srcset. */
const CANDIDATES_MAX = 1_000;
/** The candidate of a link that is the whole value of its attribute. */
export const NO_CANDIDATE = -1;

/** The bytes of the attribute that holds a link; of a srcset also which of its candidates. */
export interface LinkPlace {
  readonly start: number;
  readonly end: number;
  readonly candidate: number;
  readonly nofollow: boolean;
}

/** The first candidates of a srcset, and how many it has in all. */
export function srcsetCandidates(
  html: Uint8Array,
  { start, end }: LinkPlace,
): { readonly taken: readonly string[]; readonly count: number } {
  const taken: string[] = [];
  let count = 0;
  for (const text of srcsetTargets(attributeText(html, start, end)))
    if (++count <= CANDIDATES_MAX) taken.push(text);
  return { taken, count };
}

export interface PackedLinks {
  readonly base: ResolvedUrl;
  readonly starts: Int32Array<ArrayBuffer>;
  readonly ends: Int32Array<ArrayBuffer>;
  readonly candidates: Int16Array<ArrayBuffer>;
  readonly nofollow: Uint8Array<ArrayBuffer>;
}

export class LaterLinks {
  readonly #html: Uint8Array;
  readonly #base: ResolvedUrl;
  readonly #rules: UrlRules;
  #starts = new Int32Array(PORTION);
  #ends = new Int32Array(PORTION);
  #candidates = new Int16Array(PORTION);
  #nofollow = new Uint8Array(PORTION);
  #count = 0;
  #isKnown: (index: number) => boolean = () => false;

  constructor(html: Uint8Array, base: ResolvedUrl, rules: UrlRules) {
    this.#html = html;
    this.#base = base;
    this.#rules = rules;
  }

  get count(): number {
    return this.#count;
  }

  add({ start, end, candidate, nofollow }: LinkPlace): void {
    const at = this.#count++;
    if (at === this.#starts.length) this.#grow();
    this.#starts[at] = start;
    this.#ends[at] = end;
    this.#candidates[at] = candidate;
    this.#nofollow[at] = nofollow ? 1 : 0;
  }

  /** A link to the same target that may be followed has been found. */
  follow(index: number): void {
    this.#nofollow[index] = 0;
  }

  /** Links for which the answer is true are left out when their portion is made. */
  leaveOut(isKnown: (index: number) => boolean): void {
    this.#isKnown = isKnown;
  }

  /** For another thread; its buffers may be transferred. */
  packed(): PackedLinks {
    return {
      base: this.#base,
      starts: this.#starts.slice(0, this.#count),
      ends: this.#ends.slice(0, this.#count),
      candidates: this.#candidates.slice(0, this.#count),
      nofollow: this.#nofollow.slice(0, this.#count),
    };
  }

  static unpacked(packed: PackedLinks, html: Uint8Array, rules: UrlRules): LaterLinks {
    const links = new LaterLinks(html, packed.base, rules);
    links.#starts = packed.starts;
    links.#ends = packed.ends;
    links.#candidates = packed.candidates;
    links.#nofollow = packed.nofollow;
    links.#count = packed.starts.length;
    return links;
  }

  /** In page order. */
  *portions(): Generator<FreshLink[]> {
    const resolver = new LinkResolver(this.#rules);
    resolver.setBase(this.#base);
    for (let from = 0; from < this.#count; from += PORTION) {
      const links: FreshLink[] = [];
      let srcset: { readonly start: number; readonly taken: readonly string[] } | undefined;
      for (let index = from; index < Math.min(this.#count, from + PORTION); index++) {
        if (this.#isKnown(index)) continue;
        const place = this.#placeAt(index);
        const { start, candidate, nofollow } = place;
        if (candidate === NO_CANDIDATE) resolver.resolve(this.#html, start, place.end);
        else {
          if (srcset?.start !== start) srcset = { start, ...srcsetCandidates(this.#html, place) };
          resolver.resolveText(srcset.taken[candidate] as string);
        }
        const { high, low, written } = resolver;
        const url: CanonicalUrl = resolver.url();
        links.push({ url, written, high: high >>> 0, low: low >>> 0, nofollow });
      }
      yield links;
    }
  }

  #placeAt(index: number): LinkPlace {
    return {
      start: this.#starts[index] as number,
      end: this.#ends[index] as number,
      candidate: this.#candidates[index] as number,
      nofollow: this.#nofollow[index] === 1,
    };
  }

  #grow(): void {
    this.#starts = grown(this.#starts, Int32Array);
    this.#ends = grown(this.#ends, Int32Array);
    this.#candidates = grown(this.#candidates, Int16Array);
    this.#nofollow = grown(this.#nofollow, Uint8Array);
  }
}

type Numbers = Int32Array<ArrayBuffer> | Int16Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;

function grown<T extends Numbers>(full: T, make: new (length: number) => T): T {
  const larger = new make(2 * full.length);
  larger.set(full);
  return larger;
}
