/**
 * A 64-bit fingerprint of a page's words; nearly equal pages differ in few of its bits.
 *
 * Minwise hashing by one permutation (Li, Owen, Zhang 2012), one bit kept of each minimum (Li, König
 * 2010): every run of three words is hashed once, falls into one of 64 bins, and the least value of
 * each bin gives one bit. An empty bin borrows from another, chosen by its number (Shrivastava 2017).
 * The expected distance of two pages is 32 times the share of word triples they do not have in
 * common. One step per word, where simhash takes 64.
 */

import type { TextRuns } from "./text-runs.ts";
import { GAP } from "./text-runs.ts";

const BINS = 64;
const EMPTY = 0xffffffff;

/** Bytes of words, letters in lower case; 0 for what stands between words. */
const FOLDED = new Uint8Array(256);
for (let byte = 0x80; byte < 256; byte++) FOLDED[byte] = byte;
for (let digit = 0x30; digit <= 0x39; digit++) FOLDED[digit] = digit;
for (let letter = 0x61; letter <= 0x7a; letter++) FOLDED[letter] = FOLDED[letter - 0x20] = letter;

export class NearHasher {
  high = 0;
  low = 0;
  /** Words of the page last hashed. */
  words = 0;
  readonly #least = new Uint32Array(BINS);
  #last = 0;
  #lastButOne = 0;

  /** Sets `high` and `low`, both unsigned; both 0 for a page without words. */
  hash(html: Uint8Array, runs: TextRuns): void {
    this.#least.fill(EMPTY);
    this.words = 0;
    this.#last = 0;
    this.#lastButOne = 0;
    let word = 0;
    for (let run = 0; run < runs.count; run++) {
      if (runs.gap(run) !== GAP.none && word !== 0) word = this.#endWord(word);
      const end = runs.end(run);
      for (let at = runs.start(run); at < end; at++) {
        const byte = html[at] as number;
        const folded = FOLDED[byte] as number;
        if (folded === 0) {
          if (word !== 0) word = this.#endWord(word);
          continue;
        }
        // Chinese, Japanese and Korean write no blanks: each of their characters is a word.
        if (byte >= 0xe3 && byte <= 0xed && word !== 0) word = this.#endWord(word);
        word = (Math.imul(word, 31) + folded) | 0;
      }
    }
    if (word !== 0) this.#endWord(word);
    this.#gatherBits();
  }

  #endWord(word: number): number {
    const mixed =
      Math.imul(this.#lastButOne, 0x9e3779b1) + Math.imul(this.#last, 0x85ebca77) + word;
    const triple = scatter(mixed | 0) >>> 0;
    const bin = triple >>> 26;
    if (triple < (this.#least[bin] as number)) this.#least[bin] = triple;
    this.#lastButOne = this.#last;
    this.#last = word;
    this.words += 1;
    return 0;
  }

  #gatherBits(): void {
    this.high = 0;
    this.low = 0;
    if (this.words === 0) return;
    for (let bin = 0; bin < BINS; bin++) {
      const bit = scatter(this.#leastFor(bin)) & 1;
      if (bin < 32) this.low |= bit << bin;
      else this.high |= bit << (bin - 32);
    }
    this.low >>>= 0;
    this.high >>>= 0;
    if (this.high === 0 && this.low === 0) this.low = 1;
  }

  #leastFor(bin: number): number {
    let from = bin;
    for (let attempt = 1; this.#least[from] === EMPTY; attempt++)
      from = scatter(bin * BINS * 1024 + attempt) >>> 26;
    return (this.#least[from] as number) + bin;
  }
}

/** In how many bits two fingerprints differ. */
export function hammingDistance(high: number, low: number): number {
  return bitCount(high) + bitCount(low);
}

function bitCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function scatter(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return mixed ^ (mixed >>> 15);
}
