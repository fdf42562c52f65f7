/**
 * What of a letter still holds after processes were lost: what was told as ended before a loss may have been
 * collected by the one who is lost. Whoever knows better has heard of the loss, and tells it again.
 */

import type { AnyLetter } from "../../exchange/letters.ts";
import type { Division } from "../ownership.ts";

export function stillTrue<T extends AnyLetter>(
  letter: T,
  losses: Division["losses"],
  bucketOf: (url: string) => number,
): T {
  if (letter.kind !== "frontier") return letter;
  const later = losses.filter(({ epoch }) => epoch > letter.epoch);
  if (later.length === 0) return letter;
  const isLost = (url: string): boolean => {
    const bucket = bucketOf(url);
    return later.some(({ buckets }) => buckets.has(bucket));
  };
  const urls = letter.urls.filter(({ url, state }) => state !== "ended" || !isLost(url));
  return { ...letter, urls };
}
