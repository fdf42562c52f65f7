/**
 * What is due by a moment when the last in order go as late as they can.
 *
 * `latest.ts` says what must be due so that as little as possible is, and takes it from all alike. Often there
 * is a choice whose bytes wait, and then it should be the last in order. Stretch by stretch from the last deadline
 * backwards, this fills the line with the last in order, and only with others what would no longer fit into the
 * time before. It can fail where `latest.ts` finds a way; the caller checks. O(k n) for k deadlines.
 */

import type { Work } from "./work.ts";

export interface Stretch {
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

/** Dated sites in the order, the last first; deadlines distinct, the latest first. */
export function dueInOrder(
  { fromSeconds, toSeconds }: Stretch,
  work: Work,
  bytes: Float64Array,
  { lastFirst, deadlines }: { readonly lastFirst: Int32Array; readonly deadlines: Float64Array },
): Float64Array | undefined {
  const { capBps, deadlineSeconds, rateBps } = work;
  const left = new Float64Array(work.count);
  for (const site of lastFirst)
    if ((deadlineSeconds[site] as number) >= toSeconds) left[site] = bytes[site] as number;
  for (const [index, endSeconds] of deadlines.entries()) {
    const beginSeconds = Math.max(toSeconds, deadlines[index + 1] ?? toSeconds);
    const seconds = endSeconds - beginSeconds;
    if (seconds <= 0) break;
    let freeBytes = rateBps * seconds;
    const take = (site: number, most: number): number => {
      const taken = Math.min(most, freeBytes);
      left[site] = (left[site] as number) - taken;
      freeBytes -= taken;
      return taken;
    };
    const isOpen = (site: number) =>
      (left[site] as number) > 0 && (deadlineSeconds[site] as number) >= endSeconds;
    const beforeSeconds = beginSeconds - fromSeconds;
    const taken = new Float64Array(work.count);
    for (const site of lastFirst) {
      if (!isOpen(site)) continue;
      const tooMuch = (left[site] as number) - (capBps[site] as number) * beforeSeconds;
      const most = (capBps[site] as number) * seconds;
      if (tooMuch > most * (1 + 1e-12)) return undefined;
      if (tooMuch > 0) taken[site] = take(site, tooMuch);
    }
    for (const site of lastFirst) {
      if (freeBytes <= 0) break;
      if (!isOpen(site)) continue;
      const most = (capBps[site] as number) * seconds - (taken[site] as number);
      take(site, Math.min(left[site] as number, Math.max(0, most)));
    }
  }
  return isDoable(left, work, toSeconds - fromSeconds) ? left : undefined;
}

function isDoable(due: Float64Array, { rateBps, capBps }: Work, seconds: number): boolean {
  let sum = 0;
  for (const [site, bytes] of due.entries()) {
    if (bytes > (capBps[site] as number) * seconds) return false;
    sum += bytes;
  }
  return sum <= rateBps * seconds;
}
