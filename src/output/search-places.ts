/**
 * Where a word stands in the pages of a segment: read from its bytes, joined, and put in a row.
 *
 * How much a page speaks of a word is a sum over its places: one in the title counts as four, one in
 * the address as two, one in the text as one.
 */

import { TEXT_AT, URL_AT } from "./search-segment.ts";

/** Pages in order, and how much each speaks of the word. */
export interface Mentions {
  readonly count: number;
  readonly docs: Int32Array;
  readonly weights: Float32Array;
}

/** Pages in order, with positions in order: those of page n from starts[n] to before starts[n + 1]. */
export interface Places {
  readonly count: number;
  readonly docs: Int32Array;
  readonly starts: Int32Array;
  readonly positions: Int32Array;
}

const TITLE_WEIGHT = 4;
const URL_WEIGHT = 2;
/** Of a page and a position in one number; no position is larger. */
const POSITIONS_MAX = 2 ** 20;
/** A page takes at least a byte each for itself, its count and a position. */
const MENTION_BYTES_MIN = 3;

export const NO_MENTIONS: Mentions = {
  count: 0,
  docs: new Int32Array(0),
  weights: new Float32Array(0),
};

/** Without positions: all that a single word needs. */
export function mentionsIn(bytes: Uint8Array): Mentions {
  const countMax = Math.floor(bytes.length / MENTION_BYTES_MIN);
  const docs = new Int32Array(countMax);
  const weights = new Float32Array(countMax);
  const reader = new NumberReader(bytes);
  let doc = -1;
  let count = 0;
  while (reader.at < bytes.length) {
    doc += reader.next();
    let position = 0;
    let weight = 0;
    for (let left = reader.next(); left > 0; left--) {
      position += reader.next();
      weight += weightAt(position);
    }
    docs[count] = doc;
    weights[count++] = weight;
  }
  return { count, docs, weights };
}

/** With positions, of one word or of several that count as one. */
export function placesIn(lists: readonly Uint8Array[]): Places {
  const keys: number[] = [];
  for (const bytes of lists) {
    const reader = new NumberReader(bytes);
    let doc = -1;
    while (reader.at < bytes.length) {
      doc += reader.next();
      let position = 0;
      for (let left = reader.next(); left > 0; left--) {
        position += reader.next();
        keys.push(doc * POSITIONS_MAX + position);
      }
    }
  }
  return placesFrom(lists.length > 1 ? Float64Array.from(keys).sort() : keys);
}

/** Where the words stand one behind the other: the places of the first of each row. */
export function inARow(words: readonly Places[]): Places {
  let rows = words[0] ?? placesFrom([]);
  for (let further = 1; further < words.length; further++)
    rows = followed(rows, words[further] as Places, further);
  return rows;
}

export function mentionsOf(places: Places): Mentions {
  const weights = new Float32Array(places.count);
  for (let at = 0; at < places.count; at++) {
    const end = places.starts[at + 1] as number;
    for (let place = places.starts[at] as number; place < end; place++)
      weights[at] = (weights[at] as number) + weightAt(places.positions[place] as number);
  }
  return { count: places.count, docs: places.docs, weights };
}

/** Of the rows so far, those that have the next word so far behind their beginning. */
function followed(rows: Places, next: Places, distance: number): Places {
  const keys: number[] = [];
  let other = 0;
  for (let at = 0; at < rows.count; at++) {
    const doc = rows.docs[at] as number;
    while (other < next.count && (next.docs[other] as number) < doc) other += 1;
    if (other === next.count) break;
    if (next.docs[other] !== doc) continue;
    let place = next.starts[other] as number;
    const placeEnd = next.starts[other + 1] as number;
    for (let row = rows.starts[at] as number; row < (rows.starts[at + 1] as number); row++) {
      const position = rows.positions[row] as number;
      while (place < placeEnd && (next.positions[place] as number) < position + distance)
        place += 1;
      if (place < placeEnd && next.positions[place] === position + distance)
        keys.push(doc * POSITIONS_MAX + position);
    }
  }
  return placesFrom(keys);
}

/** From numbers in order, each a page and a position. */
function placesFrom(keys: ArrayLike<number>): Places {
  const docs = new Int32Array(keys.length);
  const starts = new Int32Array(keys.length + 1);
  const positions = new Int32Array(keys.length);
  let count = 0;
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as number;
    const doc = Math.floor(key / POSITIONS_MAX);
    if (count === 0 || docs[count - 1] !== doc) {
      docs[count] = doc;
      starts[count++] = at;
    }
    positions[at] = key % POSITIONS_MAX;
  }
  starts[count] = keys.length;
  return { count, docs, starts, positions };
}

function weightAt(position: number): number {
  return position >= TEXT_AT ? 1 : position >= URL_AT ? URL_WEIGHT : TITLE_WEIGHT;
}

/** Reads numbers of seven bits a byte; a damaged one ends with the bytes. */
class NumberReader {
  at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  next(): number {
    const bytes = this.#bytes;
    let value = 0;
    for (let shift = 0; this.at < bytes.length; shift += 7) {
      const byte = bytes[this.at++] as number;
      value |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    return value;
  }
}
