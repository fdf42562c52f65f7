/**
 * Hashes for dividing the web, independent of the fingerprints that identify URLs.
 *
 * Each process keeps fingerprints in tables that need them uniformly distributed. If the same bits also determined
 * a URL's bucket, a process would see only a slice of all fingerprints and its tables would be crowded. So these
 * hashes go through the same lanes after one byte that no URL begins with. They never change: a crawl resumed
 * with another version must divide the web alike.
 *
 * O(length); only `fractionOf` allocates, one object.
 */

import {
  fingerprintOf,
  finishLow,
  LANE_A_START,
  LANE_B_START,
  stepA,
  stepB,
} from "../url/fingerprint.ts";

const FIRST_BYTE = 0x7c;
const START_A = stepA(LANE_A_START, FIRST_BYTE);
const START_B = stepB(LANE_B_START, FIRST_BYTE);

/** 32 bits, unsigned, of the characters from `start` to `end`, exclusive. */
export function hashOfPart(text: string, start: number, end: number): number {
  let laneA = START_A;
  let laneB = START_B;
  for (let index = start; index < end; index++) {
    const byte = text.charCodeAt(index);
    laneA = stepA(laneA, byte);
    laneB = stepB(laneB, byte);
  }
  return finishLow(laneA, laneB);
}

/** One of the numbers 0 … count - 1, uniformly distributed. */
export function scaledTo(hash: number, count: number): number {
  return Math.floor((hash / 2 ** 32) * count);
}

/** A fraction strictly between 0 and 1 with 52 bits, so that its logarithm is finite and negative. */
export function fractionOf(text: string): number {
  const { high, low } = fingerprintOf(`|${text}`);
  return (high * 2 ** 20 + (low >>> 12) + 0.5) / 2 ** 52;
}
