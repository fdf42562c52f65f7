/**
 * A 64-bit name for a URL, cheap enough to compute for every link of every page.
 *
 * Two lanes of 32 bits each take one byte at a time: rotate, mix the byte in, multiply by an odd
 * constant. Every step is a bijection of its lane, and the rotation carries high bits down, which
 * multiplication alone never does. At the end a Feistel network of three rounds mixes the 64 bits,
 * again without losing any. A lane can be stopped at any byte and resumed later, so a page hashes the
 * folder of its URL once, and each relative link resumes from there.
 *
 * Promises, held by the tests: bytes and string of a URL have the same fingerprint; changing a bit of the
 * input flips half of the output; halves collide as often as random numbers. There is no key: an
 * attacker with a collision can hide one page, and nothing else. The steps allocate nothing.
 */

export interface Fingerprint {
  /** Unsigned, 32 bits. */
  readonly high: number;
  readonly low: number;
}

/** The value of each lane before the first byte: the first digits of pi, then of e. */
export const LANE_A_START = 0x243f6a88;
export const LANE_B_START = 0x2b7e1516;

export function stepA(lane: number, byte: number): number {
  return Math.imul(((lane << 5) | (lane >>> 27)) ^ byte, 0x9e3779b1);
}

export function stepB(lane: number, byte: number): number {
  return Math.imul(((lane << 11) | (lane >>> 21)) ^ byte, 0x85ebca77);
}

/** The last steps, for a caller that runs the lanes itself: the low half, from which follows the high half. */
export function finishLow(laneA: number, laneB: number): number {
  return (laneB ^ scatter(laneA ^ scatter(laneB))) >>> 0;
}

export function finishHigh(laneA: number, laneB: number, low: number): number {
  return (laneA ^ scatter(laneB) ^ scatter(low | 0)) >>> 0;
}

/** The fingerprint of a canonical URL, which is ASCII. */
export function fingerprintOf(url: string): Fingerprint {
  let laneA = LANE_A_START;
  let laneB = LANE_B_START;
  for (let index = 0; index < url.length; index++) {
    const byte = url.charCodeAt(index);
    laneA = stepA(laneA, byte);
    laneB = stepB(laneB, byte);
  }
  const low = finishLow(laneA, laneB);
  return { high: finishHigh(laneA, laneB, low), low };
}

/** An avalanche of 32 bits by shifts and multiplications (constants by C. Wellons, 2018). */
function scatter(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return mixed ^ (mixed >>> 15);
}
