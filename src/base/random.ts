/**
 * Randomness as an injected dependency. The seeded generator (xoshiro128**, Blackman and Vigna 2018) gives every
 * simulation and property test the same numbers for the same seed on every machine.
 */

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
}

export const systemRandom: Random = { next: () => Math.random() };

export function randomFrom(seed: number): Random {
  const state = expand(seed);
  return {
    next() {
      const [a = 0, b = 0, c = 0, d = 0] = state;
      const result = Math.imul(rotateLeft(Math.imul(b, 5), 7), 9) >>> 0;
      state[0] = a ^ d ^ b;
      state[1] = b ^ c ^ a;
      state[2] = c ^ a ^ (b << 9);
      state[3] = rotateLeft(d ^ b, 11);
      return result / 2 ** 32;
    },
  };
}

/** An integer in [0, limit). */
export function below(random: Random, limit: number): number {
  return Math.floor(random.next() * limit);
}

/** One of the choices, with equal probability. */
export function pick<T>(random: Random, choices: readonly T[]): T {
  return choices[below(random, choices.length)] as T;
}

/** Spreads one small seed over the whole state, so that neighbouring seeds give unrelated numbers. */
function expand(seed: number): Uint32Array {
  const state = new Uint32Array(4);
  let mixed = seed >>> 0;
  for (let index = 0; index < 4; index++) {
    mixed = (mixed + 0x9e3779b9) >>> 0;
    let word = mixed;
    word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    state[index] = word ^ (word >>> 15);
  }
  return state;
}

function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
