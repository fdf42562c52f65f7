/**
 * The links of crawled pages in the order of the pages, as a log that grows without being copied; and the
 * flow of rank along them.
 *
 * Each page is a record: the page, its votes, its number of targets, the capacity for targets, the targets. A page
 * stored again overwrites its record if it fits; otherwise it gets a new record with spare capacity, and the old one
 * is skipped.
 *
 * 4 bytes per link and 16 per page, plus 4 per node for the index of its record; grows by 4 MB at a time. Records
 * beyond `wordsMax` are refused.
 */

import { assert } from "../base/assert.ts";

const CHUNK_BITS = 20;
const CHUNK_WORDS = 2 ** CHUNK_BITS;
const OFFSET_MASK = CHUNK_WORDS - 1;
const HEAD_WORDS = 4;
/** Targets stored per page at most; a record never crosses from one chunk to the next. */
export const TARGETS_MAX = CHUNK_WORDS / 16;
/** Spare capacity of a record that replaces a smaller one, as a share of its targets. */
const SPARE_SHARE = 0.25;
/** Index of the first record; 0 stands for a node without a record. */
export const LOG_FIRST = 1;

export interface Flow {
  /** The rank of each node, and the rank received in this sweep. */
  readonly ranks: Float64Array;
  readonly next: Float64Array;
  /** The share of its rank that a node passes on along its links. */
  readonly damping: number;
  /** Sum of the rank received in this sweep. */
  delivered: number;
}

export class LinkLog {
  readonly #wordsMax: number;
  readonly #chunks: Uint32Array[] = [];
  /** By node, the index of its record. */
  readonly #starts: Uint32Array;
  #end = LOG_FIRST;
  #links = 0;

  constructor(limits: { readonly nodesMax: number; readonly wordsMax: number }) {
    assert(limits.wordsMax < 2 ** 32, "indices into the log are 32-bit words");
    this.#wordsMax = limits.wordsMax;
    this.#starts = new Uint32Array(limits.nodesMax);
  }

  /** Index after the last record. */
  get end(): number {
    return this.#end;
  }

  get links(): number {
    return this.#links;
  }

  get bytes(): number {
    return 4 * (this.#chunks.length * CHUNK_WORDS + this.#starts.length);
  }

  /** Replaces the links of a page. Returns false if there is no room. */
  put(from: number, votes: number, targets: readonly number[]): boolean {
    assert(targets.length <= TARGETS_MAX, "a record fits into a chunk");
    const before = this.#starts[from] as number;
    const fits = before !== 0 && targets.length <= this.#capacityAt(before);
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
   * Passes rank along the links of the records from `place` on, for about `linksMax` links.
   *
   * Returns the index after the last record, which equals `end` when all are done.
   */
  flow(place: number, linksMax: number, flow: Flow): number {
    const starts = this.#starts;
    let at = place;
    let left = linksMax;
    while (at < this.#end && left > 0) {
      const words = this.#chunkAt(at);
      const head = at & OFFSET_MASK;
      const capacity = words[head + 3] as number;
      // The end of a chunk, where the next record did not fit.
      if (head + HEAD_WORDS > CHUNK_WORDS || capacity === 0) {
        at += CHUNK_WORDS - head;
        continue;
      }
      const isCurrent = starts[words[head] as number] === at;
      if (isCurrent) left -= 2 + flowOfRecord(words, head, flow);
      at += HEAD_WORDS + capacity;
    }
    return Math.min(at, this.#end);
  }

  /** Appends an empty record; its capacity is never 0. */
  #append(from: number, targets: number): number | undefined {
    const capacity = Math.max(1, targets);
    const left = CHUNK_WORDS - (this.#end & OFFSET_MASK);
    const isFirst = this.#chunks.length === 0;
    const start = left < HEAD_WORDS + capacity ? this.#end + left : this.#end;
    if (start + HEAD_WORDS + capacity > this.#wordsMax) return undefined;
    if (isFirst || start >>> CHUNK_BITS >= this.#chunks.length)
      this.#chunks.push(new Uint32Array(CHUNK_WORDS));
    this.#end = start + HEAD_WORDS + capacity;
    const words = this.#chunkAt(start);
    words[start & OFFSET_MASK] = from;
    words[(start & OFFSET_MASK) + 3] = capacity;
    return start;
  }

  #chunkAt(place: number): Uint32Array {
    return this.#chunks[place >>> CHUNK_BITS] as Uint32Array;
  }

  #capacityAt(start: number): number {
    return this.#chunkAt(start)[(start & OFFSET_MASK) + 3] as number;
  }
}

/** Adds the vote to each target; returns the number of targets. */
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
