/**
 * A segment of the full-text index: some pages in a row, and for each word where in them it stands.
 *
 * Pages of a segment are numbered without gaps. A word's places are a row of numbers of seven bits a
 * byte: how many pages further on, how often it stands there, and each position as the distance from
 * the one before. Positions tell the part of the page: titles begin at 0, addresses at 1,024, texts
 * at 2,048. Words are sorted by name, so that one is found by where its name must be.
 *
 * Bytes: for each word its name and where its places begin (12 bytes); the letters of each; all places.
 */

import { assert } from "../base/assert.ts";
import { WordScanner } from "./search-words.ts";

/** A word by its 64-bit name, as `WordScanner` gives it. */
export interface WordName {
  readonly high: number;
  readonly low: number;
}

export interface PageWords {
  readonly title: Uint8Array;
  readonly url: Uint8Array;
  readonly text: Uint8Array;
  /** Names of what it can be narrowed to; they stand at no place. */
  readonly facets: readonly WordName[];
}

export interface SegmentHead {
  readonly firstDoc: number;
  /** How many words it knows, and the bytes of their letters. */
  readonly terms: number;
  readonly letterBytes: number;
}

export interface Segment extends SegmentHead {
  /** Of each page: the id of its URL, or 0 when it is gone, and its number of words. */
  readonly docs: Uint32Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export const ENTRY_BYTES = 12;
export const URL_AT = 1_024;
export const TEXT_AT = 2_048;
const FIELD_WORDS_MAX = 1_000;
const TEXT_WORDS_MAX = 200_000;
/** Of a word's letters, for finding it by its beginning. */
export const LETTERS_MAX = 64;
/** Words in all pages of a segment: what is gathered takes about 20 bytes for each. */
const WORDS_MAX = 2 ** 21;
/** What makes a segment full, and more than what a single page can add to that. */
const TERMS_FULL = 3 * 2 ** 16 - 20_000;
const TERMS_MAX = 3 * 2 ** 17;
const SLOTS = 2 ** 19;
/** A page and a position in one number of 31 bits: more than any position, and so many pages. */
const POSITIONS = 2 ** 18;
const DOCS_MAX = 2 ** 12;
/** A page, a count and a position of a word that stands once in each of its pages. */
const PLACE_BYTES_MAX = 9;

/** Gathers pages until they are a segment. */
export class SegmentBuilder {
  readonly #scanner = new WordScanner();
  #firstDoc: number;
  /** Of each page: the id of its URL, its number of words, and where its fields end in the log. */
  #docs: number[] = [];
  #ends: number[] = [];
  #log = new Int32Array(WORDS_MAX);
  #logged = 0;
  /** For each slot: the number of its term from 1, the two halves of its name, how often it came. */
  readonly #slots = new Int32Array(4 * SLOTS);
  readonly #slotOf = new Int32Array(TERMS_MAX);
  readonly #lettersAt = new Int32Array(TERMS_MAX);
  #letters = new Uint8Array(2 ** 20);
  #lettersEnd = 0;
  #terms = 0;

  constructor(firstDoc: number) {
    this.#firstDoc = firstDoc;
  }

  get nextDoc(): number {
    return this.#firstDoc + this.#docs.length / 2;
  }

  get firstDoc(): number {
    return this.#firstDoc;
  }

  get isEmpty(): boolean {
    return this.#docs.length === 0;
  }

  get isFull(): boolean {
    return (
      this.#logged >= WORDS_MAX - WORDS_MAX / 8 ||
      this.#terms >= TERMS_FULL ||
      this.#docs.length >= 2 * DOCS_MAX
    );
  }

  /** Answers how many words the page has. */
  add(id: number, page: PageWords): number {
    const before = this.#logged;
    this.#take(page.title, FIELD_WORDS_MAX);
    this.#ends.push(this.#logged);
    this.#take(page.url, FIELD_WORDS_MAX);
    this.#ends.push(this.#logged);
    this.#take(page.text, TEXT_WORDS_MAX);
    this.#ends.push(this.#logged);
    const words = this.#logged - before;
    this.#makeRoom(page.facets.length);
    for (const { high, low } of page.facets) {
      const slot = this.#find(high, low);
      if (this.#slots[slot] === 0) this.#name(slot, undefined);
      this.#slots[slot + 3] = (this.#slots[slot + 3] as number) + 1;
      this.#log[this.#logged++] = this.#slots[slot] as number;
    }
    this.#ends.push(this.#logged);
    this.#docs.push(id, words);
    return words;
  }

  /** A page put before is not wanted any more. */
  forget(doc: number): void {
    this.#docs[2 * (doc - this.#firstDoc)] = 0;
  }

  /** The segment of all pages gathered; the next page begins another. */
  finish(): Segment {
    const order = this.#sortedTerms();
    const { places, starts } = this.#sortedPlaces(order);
    const segment = this.#encode(order, starts, places);
    this.#firstDoc = this.nextDoc;
    this.#docs = [];
    this.#ends = [];
    this.#slots.fill(0);
    this.#logged = 0;
    this.#lettersEnd = 0;
    this.#terms = 0;
    return segment;
  }

  #take(bytes: Uint8Array, wordsMax: number): void {
    const scanner = this.#scanner;
    scanner.scan(bytes, wordsMax);
    const { count, high, low } = scanner;
    this.#makeRoom(count);
    const [log, slots] = [this.#log, this.#slots];
    let logged = this.#logged;
    for (let word = 0; word < count; word++) {
      const slot = this.#find(high[word] as number, low[word] as number);
      if (slots[slot] === 0) this.#name(slot, word);
      slots[slot + 3] = (slots[slot + 3] as number) + 1;
      log[logged++] = slots[slot] as number;
    }
    this.#logged = logged;
  }

  /** The slot of a name; a new one has no term yet. */
  #find(high: number, low: number): number {
    const slots = this.#slots;
    let slot = 4 * ((high ^ (low >>> 7)) & (SLOTS - 1));
    while (slots[slot + 1] !== high || slots[slot + 2] !== low) {
      if (slots[slot] === 0) {
        slots[slot + 1] = high;
        slots[slot + 2] = low;
        break;
      }
      slot = (slot + 4) & (4 * SLOTS - 1);
    }
    return slot;
  }

  /** Makes the slot's name a term, with the letters of the word of this number. */
  #name(slot: number, word: number | undefined): void {
    const term = this.#terms++;
    assert(term < TERMS_MAX, "a full segment is finished");
    this.#slots[slot] = term + 1;
    this.#slotOf[term] = slot;
    this.#lettersAt[term] = this.#lettersEnd;
    if (this.#lettersEnd + LETTERS_MAX + 1 > this.#letters.length)
      this.#letters = roomier(this.#letters, 2 * this.#letters.length);
    const room = this.#letters.subarray(this.#lettersEnd + 1);
    const length = word === undefined ? 0 : this.#scanner.letters(word, room, LETTERS_MAX);
    this.#letters[this.#lettersEnd] = length;
    this.#lettersEnd += 1 + length;
  }

  #makeRoom(words: number): void {
    if (this.#logged + words <= this.#log.length) return;
    const larger = new Int32Array(2 * (this.#logged + words));
    larger.set(this.#log);
    this.#log = larger;
  }

  /** Terms in the order of their names. */
  #sortedTerms(): Int32Array {
    const keys = new Float64Array(this.#terms);
    for (let term = 0; term < this.#terms; term++)
      keys[term] = (this.#fact(term, 1) >>> 0) * TERMS_MAX + term;
    keys.sort();
    const order = Int32Array.from(keys, (key) => key % TERMS_MAX);
    // The rest of the name decides between the few whose first halves are the same.
    for (let at = 1; at < order.length; at++)
      for (
        let to = at;
        to > 0 && this.#isBefore(order[to] as number, order[to - 1] as number);
        to--
      )
        [order[to - 1], order[to]] = [order[to] as number, order[to - 1] as number];
    return order;
  }

  #isBefore(a: number, b: number): boolean {
    const isOneHalf = this.#fact(a, 1) === this.#fact(b, 1);
    return isOneHalf && this.#fact(a, 2) >>> 0 < this.#fact(b, 2) >>> 0;
  }

  /** What the slot of a term says at this place. */
  #fact(term: number, place: 1 | 2 | 3): number {
    return this.#slots[(this.#slotOf[term] as number) + place] as number;
  }

  /** Where each word stands, word after word: page and position in one number. */
  #sortedPlaces(order: Int32Array): { places: Int32Array; starts: Int32Array } {
    const starts = new Int32Array(this.#terms);
    let sum = 0;
    for (const term of order) {
      starts[term] = sum;
      sum += this.#fact(term, 3);
    }
    const next = starts.slice();
    const places = new Int32Array(sum);
    const [ends, log] = [this.#ends, this.#log];
    let from = 0;
    for (let field = 0; field < ends.length; field++) {
      const first = (field >> 2) * POSITIONS + (FIELD_AT[field & 3] as number) - from;
      const to = ends[field] as number;
      for (let at = from; at < to; at++) {
        const term = (log[at] as number) - 1;
        const place = next[term] as number;
        next[term] = place + 1;
        places[place] = first + at;
      }
      from = to;
    }
    return { places, starts };
  }

  #encode(order: Int32Array, starts: Int32Array, places: Int32Array): Segment {
    const writer = new SegmentWriter(this.#terms, this.#lettersEnd);
    for (const term of order) {
      const at = this.#lettersAt[term] as number;
      writer.begin(this.#fact(term, 1), this.#fact(term, 2));
      writer.letters(this.#letters, at);
      const start = starts[term] as number;
      writer.places(places, start, start + this.#fact(term, 3));
    }
    return writer.finish(this.#firstDoc, Uint32Array.from(this.#docs));
  }
}

const FIELD_AT = [0, URL_AT, TEXT_AT, 0] as const;

/** Lays the bytes of a segment down, word after word in the order of their names. */
export class SegmentWriter {
  readonly #dictionary: Uint32Array;
  readonly #letters: Uint8Array;
  #lettersEnd = 0;
  #terms = 0;
  #places = new Uint8Array(2 ** 20);
  #end = 0;
  #lastDoc = -1;

  /** At most so many terms, with so many letters and lengths in all. */
  constructor(termsMax: number, letterBytesMax: number) {
    this.#dictionary = new Uint32Array(3 * termsMax);
    this.#letters = new Uint8Array(letterBytesMax);
  }

  /** The next word. */
  begin(high: number, low: number): void {
    const entry = 3 * this.#terms++;
    this.#dictionary[entry] = high;
    this.#dictionary[entry + 1] = low;
    this.#dictionary[entry + 2] = this.#end;
    this.#lastDoc = -1;
  }

  /** Its letters, which have their length before them. */
  letters(from: Uint8Array, start: number): void {
    const length = from[start] as number;
    for (let at = 0; at <= length; at++)
      this.#letters[this.#lettersEnd + at] = from[start + at] as number;
    this.#lettersEnd += 1 + length;
  }

  /** Where it stands: pages and positions in order, each two in one number. */
  places(all: Int32Array, start: number, behind: number): void {
    this.room(PLACE_BYTES_MAX * (behind - start));
    const out = this.#places;
    let end = this.#end;
    let lastDoc = -1;
    for (let place = start; place < behind;) {
      const doc = Math.floor((all[place] as number) / POSITIONS);
      let docEnd = place + 1;
      while (docEnd < behind && (all[docEnd] as number) < (doc + 1) * POSITIONS) docEnd += 1;
      end = written(out, end, doc - lastDoc);
      end = written(out, end, docEnd - place);
      lastDoc = doc;
      let last = doc * POSITIONS;
      for (; place < docEnd; place++) {
        const key = all[place] as number;
        end = written(out, end, key - last);
        last = key;
      }
    }
    this.#end = end;
  }

  /** So many bytes will follow at most. */
  room(bytes: number): void {
    const needed = this.#end + bytes;
    if (needed > this.#places.length) this.#places = roomier(this.#places, 2 * needed);
  }

  doc(doc: number, count: number): void {
    this.number(doc - this.#lastDoc);
    this.number(count);
    this.#lastDoc = doc;
  }

  number(value: number): void {
    this.#end = written(this.#places, this.#end, value);
  }

  /** Numbers that are written down already. */
  copy(from: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; at++) this.#places[this.#end++] = from[at] as number;
  }

  finish(firstDoc: number, docs: Uint32Array<ArrayBuffer>): Segment {
    const dictionary = new Uint8Array(this.#dictionary.buffer, 0, ENTRY_BYTES * this.#terms);
    const bytes = new Uint8Array(dictionary.length + this.#lettersEnd + this.#end);
    bytes.set(dictionary);
    bytes.set(this.#letters.subarray(0, this.#lettersEnd), dictionary.length);
    bytes.set(this.#places.subarray(0, this.#end), dictionary.length + this.#lettersEnd);
    return { firstDoc, terms: this.#terms, letterBytes: this.#lettersEnd, docs, bytes };
  }
}

/** Seven bits a byte, the lowest first; answers where the next number goes. */
function written(out: Uint8Array, start: number, value: number): number {
  let end = start;
  let rest = value;
  while (rest > 127) {
    out[end++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  out[end] = rest;
  return end + 1;
}

function roomier(full: Uint8Array, bytes: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(bytes);
  larger.set(full);
  return larger;
}
