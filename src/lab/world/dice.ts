/**
 * Random numbers by place: the same place always has the same numbers, in any order of visits. So a
 * web of millions of pages need not be stored.
 *
 * `hashAt` returns one word for a place. `Dice` returns an endless sequence (sfc32, Doty-Humphrey's
 * PractRand, 128 bits of state, so that no two of a million pages share their numbers). Draws use only
 * + - * / and square roots, which round identically on every machine; exponentials and powers do not.
 */

import type { Random } from "../../base/random.ts";

/** A well-mixed unsigned 32-bit word for a place in the world. */
export function hashAt(seed: number, a: number, b: number, purpose: number): number {
  let word = scramble(seed + 0x9e3779b9);
  word = scramble(word ^ Math.imul(a + 1, 0x85ebca6b));
  word = scramble(word ^ Math.imul(b + 1, 0xc2b2ae35));
  return scramble(word ^ Math.imul(purpose + 1, 0x27d4eb2f)) >>> 0;
}

/** The same, as a number in [0, 1). */
export function unitAt(seed: number, a: number, b: number, purpose: number): number {
  return hashAt(seed, a, b, purpose) / 2 ** 32;
}

export class Dice implements Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, a: number, b: number, purpose: number) {
    this.#a = hashAt(seed, a, b, purpose);
    this.#b = scramble(this.#a ^ a);
    this.#c = scramble(this.#b ^ Math.imul(b + 1, 0x9e3779b1));
    // States that differ in one bit need a few steps to diverge.
    for (let step = 0; step < 4; step++) this.word();
  }

  /** 32 bits, signed: for masks and shifts. */
  word(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum;
  }

  next(): number {
    return (this.word() >>> 0) / 2 ** 32;
  }

  /** An integer in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }
}

/**
 * A rank in [0, count) with preference for low ranks: P(rank <= r) = (r / count)^(1/5). In-links of
 * targets drawn this way fall as rank^-0.8, a power law of in-degrees with the exponent
 * 1 + 1/0.8 = 2.25; the real web's was measured as 2.1 (Broder et al., 2000).
 */
export function skewedRank(unit: number, count: number): number {
  const square = unit * unit;
  return Math.floor(count * square * square * unit);
}

/** A number between two bounds, nearly log-uniform: every doubling is equally likely. */
export function spread(unit: number, least: number, most: number): number {
  const doublings = Math.max(0, 31 - Math.clz32(Math.max(1, Math.floor(most / least))));
  const whole = Math.floor(unit * (doublings + 1));
  const part = unit * (doublings + 1) - whole;
  return Math.min(most, least * 2 ** whole * (1 + part));
}

function scramble(input: number): number {
  let word = input | 0;
  word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
  return word ^ (word >>> 15);
}
