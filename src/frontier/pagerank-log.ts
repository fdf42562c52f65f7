/**
 * The links of crawled pages in the order the pages came, as a log that grows without being copied; and the
 * flow of rank along them.
 *
 * Each page is a record: who, its votes, how many targets, room for how many, the targets. A page that comes
 * again is written over where it fits; where not, it gets a new record with room to spare, and the old one
 * is passed over.
 *
 * 4 bytes a link and 16 a page, plus 4 a node for where its record stands; grows by 4 MB at a time. What does not fit
 * into `wordsMax` is refused.
 */

import { assert } from "../base/assert.ts";

const CHUNK_BITS = 20;
const CHUNK_WORDS = 2 ** CHUNK_BITS;
const OFFSET_MASK = CHUNK_WORDS - 1;
const HEAD_WORDS = 4;
/** The most targets kept of one page; a record never crosses from one chunk to the next. */
export const TARGETS_MAX = CHUNK_WORDS / 16;
/** Room for growth where a page has outgrown its record. */
const SPARE_SHARE = 0.25;
/** Where the first record begins, since 0 says that a node has none. */
export const LOG_FIRST = 1;

export interface Flow {
  /** What each node has, and what has come to it in this sweep. */
  readonly ranks: Float64Array;
  readonly next: Float64Array;
  /** The share of its rank that a node passes on. */
  readonly damping: number;
  /** All that has arrived. */
  delivered: number;
}

export class LinkLog {
  readonly #wordsMax: number;
  readonly #chunks: Uint32Array[] = [];
  /** By node, where its record stands. */
  readonly #starts: Uint32Array;
  #end = LOG_FIRST;
  #links = 0;

  constructor(limits: { readonly nodesMax: number; readonly wordsMax: number }) {
    assert(limits.wordsMax < 2 ** 32, "places in the log are words");
    this.#wordsMax = limits.wordsMax;
    this.#starts = new Uint32Array(limits.nodesMax);
  }

  /** Behind the last record. */
  get end(): number {
    return this.#end;
  }

  get links(): number {
    return this.#links;
  }

  get bytes(): number {
    return 4 * (this.#chunks.length * CHUNK_WORDS + this.#starts.length);
  }

  /** Replaces what was known of the page. False when there is no room. */
  put(from: number, votes: number, targets: readonly number[]): boolean {
    assert(targets.length <= TARGETS_MAX, "a record fits into a chunk");
    const before = this.#starts[from] as number;
    const fits = before !== 0 && targets.length <= this.#roomAt(before);
    const spare = before === 0 ? 0 : Math.ceil(targets.length * SPARE_SHARE);
    const start = fits ? before : this.#append(from, targets.length + spare);
    if (start === undefined) return false;
    if (before !== 0) this.#links -= this.#chunkAt(before)[(before & OFFSET_MASK) + 2] as number;
    this.#links += targets.length;
    this.#starts[from] = start;
    const words = this.#chunkAt(start);
    const head = start & OFFSET_MASK;
    words[head + 1] = votes;
    words[head + 2] = targets.length;
    words.set(targets, head + HEAD_WORDS);
    return true;
  }

  /**
   * Lets rank flow along the links of records from a place on, until so many have been gone along.
   *
   * Answers the place behind the last record, which is `end` when all are done.
   */
  flow(place: number, linksMax: number, flow: Flow): number {
    const starts = this.#starts;
    let at = place;
    let left = linksMax;
    while (at < this.#end && left > 0) {
      const words = this.#chunkAt(at);
      const head = at & OFFSET_MASK;
      const room = words[head + 3] as number;
      // The end of a chunk that had no room for the next record.
      if (head + HEAD_WORDS > CHUNK_WORDS || room === 0) {
        at += CHUNK_WORDS - head;
        continue;
      }
      const isCurrent = starts[words[head] as number] === at;
      if (isCurrent) left -= 2 + flowOfRecord(words, head, flow);
      at += HEAD_WORDS + room;
    }
    return Math.min(at, this.#end);
  }

  /** Makes an empty record; its room is never 0. */
  #append(from: number, targets: number): number | undefined {
    const room = Math.max(1, targets);
    const left = CHUNK_WORDS - (this.#end & OFFSET_MASK);
    const isFirst = this.#chunks.length === 0;
    const start = left < HEAD_WORDS + room ? this.#end + left : this.#end;
    if (start + HEAD_WORDS + room > this.#wordsMax) return undefined;
    if (isFirst || start >>> CHUNK_BITS >= this.#chunks.length)
      this.#chunks.push(new Uint32Array(CHUNK_WORDS));
    this.#end = start + HEAD_WORDS + room;
    const words = this.#chunkAt(start);
    words[start & OFFSET_MASK] = from;
    words[(start & OFFSET_MASK) + 3] = room;
    return start;
  }

  #chunkAt(place: number): Uint32Array {
    return this.#chunks[place >>> CHUNK_BITS] as Uint32Array;
  }

  #roomAt(start: number): number {
    return this.#chunkAt(start)[(start & OFFSET_MASK) + 3] as number;
  }
}

/** Gives each target its vote; answers how many there are. */
function flowOfRecord(words: Uint32Array, head: number, flow: Flow): number {
  const { ranks, next } = flow;
  const count = words[head + 2] as number;
  const vote =
    (flow.damping * (ranks[words[head] as number] as number)) / (words[head + 1] as number);
  const first = head + HEAD_WORDS;
  for (let at = first; at < first + count; at++) {
    const target = words[at] as number;
    next[target] = (next[target] as number) + vote;
  }
  flow.delivered += count * vote;
  return count;
}
