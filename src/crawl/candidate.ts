/** A URL on its way into the crawl: in canonical form, with its fingerprint, and where it was found. */

import type { Fingerprints } from "../store/store.ts";
import { type Fingerprint, fingerprintOf } from "../url/fingerprint.ts";
import type { CanonicalUrl, ResolvedUrl } from "../url/url.ts";

export interface Candidate extends ResolvedUrl, Fingerprint {}

/** Where a candidate was found. */
export interface Origin {
  readonly depth: number;
  /** The page with the link; undefined for a seed. */
  readonly from: CanonicalUrl | undefined;
  readonly fromDomain: string | undefined;
  readonly redirectedFromId: number;
  readonly redirects: number;
}

export function candidateOf({ url, written }: ResolvedUrl): Candidate {
  return { url, written, ...fingerprintOf(url) };
}

export function fingerprintsOf(candidates: readonly Candidate[]): Fingerprints {
  const high = new Uint32Array(candidates.length);
  const low = new Uint32Array(candidates.length);
  for (const [index, candidate] of candidates.entries()) {
    high[index] = candidate.high;
    low[index] = candidate.low;
  }
  return { high, low, count: candidates.length };
}
