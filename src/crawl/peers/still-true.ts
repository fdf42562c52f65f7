/**
 * What of a message still holds after processes were lost: what was told as ended before a loss may have been
 * collected by the one who is lost. Whoever knows better has heard of the loss, and tells it again.
 */

import type { PeerMessage } from "../../exchange/peer-message.ts";
import type { Division } from "../ownership.ts";

export function stillTrue<T extends PeerMessage>(
  message: T,
  losses: Division["losses"],
  bucketOf: (url: string) => number,
): T {
  if (message.kind !== "frontier") return message;
  const later = losses.filter(({ epoch }) => epoch > message.epoch);
  if (later.length === 0) return message;
  const isLost = (url: string): boolean => {
    const bucket = bucketOf(url);
    return later.some(({ buckets }) => buckets.has(bucket));
  };
  const urls = message.urls.filter(({ url, state }) => state !== "ended" || !isLost(url));
  return { ...message, urls };
}
