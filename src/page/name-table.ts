/**
 * Maps a fixed set of names to numbers, by their bytes in any case.
 *
 * The caller hashes a name while it searches for its end, one `hashStep` per byte. Up to four bytes the
 * hash is the name itself, so the most frequent names, which are short, need no comparison.
 */

const SLOTS = 256;
const EMPTY = -1;
const EXACT_BYTES = 4;

const LOWER = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte,
);

/**
 * The bytes of a name in lower case; 0 for bytes that end it. NUL, which no known name contains, maps
 * to 0xff.
 */
export function nameBytes(endings: string): Uint8Array {
  const bytes = Uint8Array.from(LOWER);
  bytes[0] = 0xff;
  for (const ending of Buffer.from(endings)) bytes[ending] = 0;
  return bytes;
}

/** The next state of a name's hash, from 0, by a byte in lower case. */
export function hashStep(hash: number, lower: number): number {
  return ((hash << 8) | (hash >>> 24)) ^ lower;
}

/** True if the bytes are this name, which is given in lower case. */
export function isName(html: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  if (end - start !== name.length) return false;
  for (let index = 0; index < name.length; index++)
    if (LOWER[html[start + index] as number] !== name[index]) return false;
  return true;
}

export class NameTable {
  readonly #names: readonly Uint8Array[];
  readonly #missing: number;
  /** For each slot the hash of its name, then the number and the length of that name in one integer. */
  readonly #slots = new Int32Array(2 * SLOTS).fill(EMPTY);

  /** `missing` is the result for unknown names. */
  constructor(names: readonly string[], missing: number) {
    this.#missing = missing;
    this.#names = names.map((name) => Buffer.from(name));
    for (const [number, name] of this.#names.entries()) {
      const hash = name.reduce(hashStep, 0);
      let slot = slotOf(hash);
      while (this.#slots[slot + 1] !== EMPTY) slot = after(slot);
      this.#slots[slot] = hash;
      this.#slots[slot + 1] = (number << 8) | name.length;
    }
  }

  /** The number of the name in these bytes; `hash` is their hash by `hashStep`. */
  find(html: Uint8Array, start: number, length: number, hash: number): number {
    const slots = this.#slots;
    for (let slot = slotOf(hash); ; slot = after(slot)) {
      const entry = slots[slot + 1] as number;
      if (entry === EMPTY) return this.#missing;
      if (slots[slot] !== hash || (entry & 0xff) !== length) continue;
      const number = entry >> 8;
      if (length <= EXACT_BYTES || isName(html, start, start + length, this.nameOf(number)))
        return number;
    }
  }

  nameOf(number: number): Uint8Array {
    return this.#names[number] as Uint8Array;
  }
}

function slotOf(hash: number): number {
  return (Math.imul(hash, 0x9e3779b1) >>> 24) << 1;
}

function after(slot: number): number {
  return (slot + 2) & (2 * SLOTS - 1);
}
