/**
 * Hashes for dividing the web, unlike the fingerprints by which URLs are known.
 *
 * Each process keeps fingerprints in tables that expect them to be spread evenly. If a URL's place
 * were told by the same bits, a process would see only a slice of all fingerprints, and its
 * tables would crowd. So these go through the same lanes with one byte before the text, which no
 * URL begins with. They never change: a crawl that goes on with another version must divide alike.
 *
 * O(length), no allocation but the second one's object.
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

/** 32 bits, unsigned, of the characters from `start` up to `end`. */
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

/** One of `count` numbers, each as likely: the hash's share of its range. */
export function scaledTo(hash: number, count: number): number {
  return Math.floor((hash / 2 ** 32) * count);
}

/** Above 0 and below 1, with 52 bits: never an end, so that its logarithm is a number below 0. */
export function fractionOf(text: string): number {
  const { high, low } = fingerprintOf(`|${text}`);
  return (high * 2 ** 20 + (low >>> 12) + 0.5) / 2 ** 52;
}
