/**
 * A fixed set of names, found by their bytes in whatever case, each answered with its number.
 *
 * The caller hashes a name while it looks for its end, one `hashStep` a byte. Up to four bytes the
 * hash is the name itself, so the short names that fill most pages need no comparison.
 */

const SLOTS = 256;
const EMPTY = 255;
const EXACT_BYTES = 4;

const LOWER = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte,
);

/** The next state of a name's hash, from 0. */
export function hashStep(hash: number, byte: number): number {
  return ((hash << 8) | (hash >>> 24)) ^ (LOWER[byte] as number);
}

/** Whether the bytes are this name, which is given in lower case. */
export function isName(html: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  if (end - start !== name.length) return false;
  for (let index = 0; index < name.length; index++)
    if (LOWER[html[start + index] as number] !== name[index]) return false;
  return true;
}

export class NameTable {
  readonly #names: readonly Uint8Array[];
  readonly #missing: number;
  readonly #slotNumber = new Uint8Array(SLOTS).fill(EMPTY);
  readonly #slotLength = new Uint8Array(SLOTS);
  readonly #slotHash = new Int32Array(SLOTS);

  /** `missing` is what is answered for a name that is none of these. */
  constructor(names: readonly string[], missing: number) {
    this.#missing = missing;
    this.#names = names.map((name) => Buffer.from(name));
    for (const [number, name] of this.#names.entries()) {
      const hash = name.reduce(hashStep, 0);
      let slot = slotOf(hash);
      while (this.#slotNumber[slot] !== EMPTY) slot = (slot + 1) & (SLOTS - 1);
      this.#slotNumber[slot] = number;
      this.#slotLength[slot] = name.length;
      this.#slotHash[slot] = hash;
    }
  }

  /** The number of the name that these bytes are; `hash` is what `hashStep` made of them. */
  find(html: Uint8Array, start: number, length: number, hash: number): number {
    let slot = slotOf(hash);
    for (;;) {
      const number = this.#slotNumber[slot] as number;
      if (number === EMPTY) return this.#missing;
      if (this.#slotHash[slot] === hash && this.#slotLength[slot] === length) {
        if (length <= EXACT_BYTES) return number;
        if (isName(html, start, start + length, this.nameOf(number))) return number;
      }
      slot = (slot + 1) & (SLOTS - 1);
    }
  }

  nameOf(number: number): Uint8Array {
    return this.#names[number] as Uint8Array;
  }
}

function slotOf(hash: number): number {
  return Math.imul(hash, 0x9e3779b1) >>> 24;
}
