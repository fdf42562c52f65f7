/**
 * Where redirects of starting addresses led: http://example.org/ that moved to https://www.example.org/
 * is still what the operator asked for, so its new home belongs to the scope, in later runs too.
 */

import type { Store } from "../store/store.ts";
import type { Scope } from "../url/scope.ts";
import type { CanonicalUrl } from "../url/url.ts";

const MOVED_SEEDS = "moved seeds";
const MOVED_SEEDS_MAX = 10_000;

export function followSeed(scope: Scope, store: Store, to: CanonicalUrl): void {
  const moved = movedSeeds(store);
  if (moved.includes(to) || moved.length >= MOVED_SEEDS_MAX) return;
  scope.extend(to);
  store.remember(MOVED_SEEDS, JSON.stringify([...moved, to]));
}

export function movedSeeds(store: Store): CanonicalUrl[] {
  const text = store.recall(MOVED_SEEDS);
  return text === undefined ? [] : (JSON.parse(text) as CanonicalUrl[]);
}
