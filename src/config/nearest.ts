/**
 * The most similar name, for "did you mean …?".
 *
 * A prefix of a name counts as one error. At most a third of the letters may be wrong: less similar
 * suggestions only confuse. O(length²) per candidate.
 */

import { editsBetween } from "../base/edit-distance.ts";

export function nearest(written: string, candidates: readonly string[]): string | undefined {
  const plain = simplified(written);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(plain.length / 3)) + 1;
  if (plain === "" || plain.length > 64) return undefined;
  for (const candidate of candidates) {
    const name = simplified(candidate);
    const begun = plain.length >= 3 && name.startsWith(plain);
    const distance = begun ? begunDistance(name.length - plain.length) : editsBetween(plain, name);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** `did you mean …?`, to follow a semicolon; empty when no name is similar. */
export function suggestion(written: string, candidates: readonly string[]): string {
  const meant = nearest(written, candidates);
  return meant === undefined ? "" : `; did you mean ${meant}?`;
}

/** One error; of two names with this prefix the shorter one is nearer. */
function begunDistance(lettersLeft: number): number {
  return lettersLeft === 0 ? 0 : 1 + lettersLeft / 1000;
}

/** Case and dashes do not count as errors. */
function simplified(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}
