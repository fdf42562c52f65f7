/**
 * Writes runs of the seen index: from a table in memory, or merged from several runs.
 *
 * Both are loops over sorted entries. Merging is a generator that pauses after every slice, so that its
 * caller can do more urgent work in between. When several inputs have the same fingerprint, only the
 * newest entry is written.
 *
 * A table: O(n log n), and 8 bytes per entry in a buffer that is reused. A merge: O(n k) for a small
 * number k of runs, and 1.4 bytes per entry, which become part of the run's head.
 */

import { BLOCK_ENTRIES, RunBlocks, RunWriter } from "./seen-run.ts";
import type { RunHead } from "./seen-run.ts";

const SLICE_ENTRIES = 100_000;

export interface FlushJob {
  readonly kind: "flush";
  /** The table's words: high, low, id for every slot; id 0 for a free one. */
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

/** Sort buffer, reused for the next table. */
let keys = new Float64Array(0);

export function flushTable(job: FlushJob): RunHead {
  const { words } = job;
  const order = sortedSlots(words);
  using writer = new RunWriter(job.path, order.length);
  for (const slot of order) {
    const at = slot * 3;
    writer.add(words[at] as number, words[at + 1] as number, words[at + 2] as number);
  }
  return writer.finish(job.from, job.to);
}

/** Pauses after every slice; an abandoned merge leaves no run. */
export function* mergeRuns(job: MergeJob): Generator<undefined, RunHead> {
  using opened = new DisposableStack();
  const runs = job.inputs.map((path) => opened.use(RunBlocks.open(path)));
  const extents = runs.map((run) => run.extent);
  const entriesMax = extents.reduce((sum, { entries }) => sum + entries, 0);
  using writer = new RunWriter(job.path, entriesMax);
  // Newest first: of equal fingerprints the first cursor's entry is written, and the others are skipped.
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
    Math.min(...extents.map(({ from }) => from)),
    Math.max(...extents.map(({ to }) => to)),
  );
}

/** The used slots in order of their fingerprints; valid until the next call. */
function sortedSlots(words: Uint32Array): Float64Array {
  const slots = words.length / 3;
  let count = 0;
  for (let slot = 0; slot < slots; slot++) if (words[slot * 3 + 2] !== 0) count++;
  if (keys.length < count) keys = new Float64Array(count);
  const sorted = keys.subarray(0, count);
  // A 53-bit key contains the slot and as many bits of the high half as fit.
  const step = 2 ** Math.max(0, 32 + Math.log2(slots) - 53);
  let end = 0;
  for (let slot = 0; slot < slots; slot++)
    if (words[slot * 3 + 2] !== 0)
      sorted[end++] = Math.floor((words[slot * 3] as number) / step) * slots + slot;
  sorted.sort();
  for (let at = 0; at < count; at++) sorted[at] = (sorted[at] as number) % slots;
  sortNeighbours(words, sorted);
  return sorted;
}

/** Insertion sort: fingerprints with equal keys are rare and adjacent. */
function sortNeighbours(words: Uint32Array, sorted: Float64Array): void {
  for (let end = 1; end < sorted.length; end++) {
    const slot = sorted[end] as number;
    let hole = end;
    while (hole > 0 && isGreater(words, sorted[hole - 1] as number, slot)) {
      sorted[hole] = sorted[hole - 1] as number;
      hole--;
    }
    sorted[hole] = slot;
  }
}

function isGreater(words: Uint32Array, slot: number, other: number): boolean {
  const high = words[slot * 3] as number;
  const otherHigh = words[other * 3] as number;
  if (high !== otherHigh) return high > otherHigh;
  return (words[slot * 3 + 1] as number) > (words[other * 3 + 1] as number);
}

/** Iterates over the entries of a run; after the last one, `id` is 0. */
class Cursor {
  high = 0;
  low = 0;
  id = 0;
  readonly #run: RunBlocks;
  #block: Uint32Array = new Uint32Array(0);
  #entry = -1;

  constructor(run: RunBlocks) {
    this.#run = run;
    this.step();
  }

  step(): void {
    this.#entry++;
    if (this.#entry >= this.#run.extent.entries) {
      // No fingerprint has these halves, so a finished cursor equals no other.
      this.high = -1;
      this.low = -1;
      this.id = 0;
      return;
    }
    const within = this.#entry % BLOCK_ENTRIES;
    if (within === 0) this.#block = this.#run.read(this.#entry / BLOCK_ENTRIES);
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
