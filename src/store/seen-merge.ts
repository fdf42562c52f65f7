/**
 * Makes runs of the seen index: one from a table in memory, or one from several runs.
 *
 * Both are plain loops over sorted entries. Merging is a generator that pauses after every slice, so
 * that whoever drives it can do something more urgent in between. Where several inputs know the same
 * fingerprint the newest wins, and only it is kept.
 *
 * A table: O(n log n). A merge: O(n k) for k runs, k being small.
 */

import { assert } from "../base/assert.ts";
import { BLOCK_ENTRIES, RunWriter, SeenRun } from "./seen-run.ts";
import type { RunHead } from "./seen-run.ts";

const SLOTS_MAX = 2 ** 21;
const SLICE_ENTRIES = 100_000;

export interface FlushJob {
  readonly kind: "flush";
  /** A table's words: high, low, id for every slot, id 0 where it is free. */
  readonly words: Uint32Array<SharedArrayBuffer>;
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

export interface MergeJob {
  readonly kind: "merge";
  /** Oldest first. */
  readonly inputs: readonly string[];
  readonly path: string;
}

export function flushTable(job: FlushJob): RunHead {
  const { words } = job;
  const order = sortedSlots(words);
  const writer = new RunWriter(job.path, order.length);
  try {
    for (const slot of order)
      writer.add(
        words[slot * 3] as number,
        words[slot * 3 + 1] as number,
        words[slot * 3 + 2] as number,
      );
    return writer.finish(job.from, job.to);
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

export function* mergeRuns(job: MergeJob): Generator<undefined, RunHead> {
  const runs = job.inputs.map((path) => SeenRun.open(path));
  const heads = runs.map((run) => run.head);
  const entriesMax = heads.reduce((sum, head) => sum + head.entries, 0);
  const writer = new RunWriter(job.path, entriesMax);
  try {
    // Newest first: of equal fingerprints the first cursor's is written, the others step over theirs.
    const cursors = runs.map((run) => new Cursor(run)).toReversed();
    for (let sinceBreak = 0; ; sinceBreak++) {
      const least = leastOf(cursors);
      if (least === undefined) break;
      const { high, low } = least;
      writer.add(high, low, least.id);
      for (const cursor of cursors) if (cursor.low === low && cursor.high === high) cursor.step();
      if (sinceBreak % SLICE_ENTRIES === SLICE_ENTRIES - 1) yield;
    }
    return writer.finish(
      Math.min(...heads.map((head) => head.from)),
      Math.max(...heads.map((head) => head.to)),
    );
  } catch (error) {
    writer.abandon();
    throw error;
  } finally {
    for (const run of runs) run.close();
  }
}

/** The used slots in order of their fingerprints. */
function sortedSlots(words: Uint32Array): Uint32Array {
  const slots = words.length / 3;
  assert(slots <= SLOTS_MAX, "a high half and a slot fit the 53 bits of a number");
  const keys = new Float64Array(slots);
  let count = 0;
  for (let slot = 0; slot < slots; slot++)
    if (words[slot * 3 + 2] !== 0) keys[count++] = (words[slot * 3] as number) * SLOTS_MAX + slot;
  const sorted = Uint32Array.from(keys.subarray(0, count).sort(), (key) => key % SLOTS_MAX);
  sortEqualHighs(words, sorted);
  return sorted;
}

/** Equal high halves are rare and lie side by side; an insertion sort puts their low halves right. */
function sortEqualHighs(words: Uint32Array, slots: Uint32Array): void {
  for (let end = 1; end < slots.length; end++) {
    const slot = slots[end] as number;
    let hole = end;
    for (; hole > 0; hole--) {
      const before = slots[hole - 1] as number;
      const isBehind =
        words[before * 3] === words[slot * 3] &&
        (words[before * 3 + 1] as number) > (words[slot * 3 + 1] as number);
      if (!isBehind) break;
      slots[hole] = before;
    }
    slots[hole] = slot;
  }
}

/** Walks a run from its first entry to its last; past it, `id` is 0. */
class Cursor {
  high = 0;
  low = 0;
  id = 0;
  readonly #run: SeenRun;
  #block: Uint32Array = new Uint32Array(0);
  #entry = -1;

  constructor(run: SeenRun) {
    this.#run = run;
    this.step();
  }

  step(): void {
    this.#entry++;
    if (this.#entry >= this.#run.head.entries) {
      // No fingerprint has such halves, so an ended cursor equals no other.
      this.high = -1;
      this.low = -1;
      this.id = 0;
      return;
    }
    const within = this.#entry % BLOCK_ENTRIES;
    if (within === 0) this.#block = this.#run.readBlock(this.#entry / BLOCK_ENTRIES);
    this.high = this.#block[within] as number;
    this.low = this.#block[within + BLOCK_ENTRIES] as number;
    this.id = this.#block[within + 2 * BLOCK_ENTRIES] as number;
  }
}

/** The first cursor among those with the least fingerprint. */
function leastOf(cursors: readonly Cursor[]): Cursor | undefined {
  let least: Cursor | undefined;
  for (const cursor of cursors) {
    if (cursor.id === 0) continue;
    const isLess =
      least === undefined ||
      cursor.high < least.high ||
      (cursor.high === least.high && cursor.low < least.low);
    if (isLess) least = cursor;
  }
  return least;
}
