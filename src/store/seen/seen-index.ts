/**
 * Maps known fingerprints to ids, for many more fingerprints than fit in memory.
 *
 * A B-tree over fingerprints would change one random disk page per new URL. Here new entries are
 * collected in a table in memory; another thread writes a full table as a sorted run and merges runs of
 * similar size (the log-structured merge tree of O'Neil et al. 1996; DRUM of IRLbot and BUbiNG's sieve
 * batch for the same reason). Nothing is changed in place.
 *
 * The index is only a cache of stored rows. Every entry has the sequence number of its row; a run has
 * the range of numbers that it covers, and after opening, rows are read again from `coveredTo` on. A
 * missing or damaged run ends the covered range.
 *
 * Promises, the first two tested:
 *   1. `get` returns the last id set for a fingerprint, after any flushes and merges;
 *   2. a reopened index has everything up to `coveredTo`, and nothing beyond;
 *   3. memory: per entry of `entriesMax` two tables of 24 bytes, 12 of cache and 8 for sorting; per
 *      entry on disk 1.4 bytes.
 *
 * `get` costs a probe, then a filter per run, and rarely more than one read of 512 bytes.
 */

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { assert } from "../../base/assert.ts";
import { FingerprintTable } from "../../base/fingerprint-table.ts";
import { DamagedRun, SeenRun } from "./seen-run.ts";
import { SeenDesk } from "./seen-desk.ts";
import type { StoreThread } from "./store-thread.ts";
import type { SeenAnswer } from "./store-worker.ts";

const RUNS_MERGED = 6;
const READER_CACHE_SLOTS = 2 ** 16;

export interface SeenIndexPlace {
  /** undefined for an index in memory only. */
  readonly folder: string | undefined;
  /** Prefix of its files' names. */
  readonly name: string;
  /**
   * Entries in memory before they are written out, rounded down to a power of two to use tables fully;
   * undefined for an index that writes nothing, because it is read-only or in memory only.
   */
  readonly entriesMax: number | undefined;
}

/** A run could not be written, for example on a full disk; the entries are still in memory. */
export class SeenIndexStuck extends Error {
  override readonly name = "SeenIndexStuck";
}

interface Frozen {
  readonly table: FingerprintTable;
  readonly from: number;
  readonly to: number;
}

export class SeenIndex {
  readonly #place: SeenIndexPlace;
  readonly #entriesMax: number | undefined;
  readonly #desk: SeenDesk;
  /** Oldest first. */
  #runs: SeenRun[];
  #frozen: Frozen | undefined;
  #table = new FingerprintTable();
  /** A written table, to be reused. */
  #spare: FingerprintTable | undefined;
  #coveredTo: number;
  #flush: number | undefined;
  #merge: { readonly number: number; readonly inputs: readonly SeenRun[] } | undefined;
  /** Ids recently found in runs, because pages of a site repeat the same links: high, low, id. */
  readonly #cache: Uint32Array;
  readonly #cacheMask: number;

  /** Opens the runs that cover the sequence numbers from 1 up to at most `lastSequence`. */
  constructor(place: SeenIndexPlace, lastSequence: number, thread: StoreThread) {
    const { entriesMax } = place;
    this.#place = place;
    this.#entriesMax =
      entriesMax === undefined ? undefined : 2 ** Math.floor(Math.log2(entriesMax));
    this.#desk = new SeenDesk(thread);
    const cacheSlots = place.folder === undefined ? 1 : (this.#entriesMax ?? READER_CACHE_SLOTS);
    this.#cache = new Uint32Array(cacheSlots * 3);
    this.#cacheMask = cacheSlots - 1;
    this.#runs = openRuns(place, lastSequence);
    this.#coveredTo = this.#runs.at(-1)?.head.to ?? 0;
  }

  get coveredTo(): number {
    return this.#coveredTo;
  }

  /** Returns 0 when unknown. May throw DamagedRun; then discard this index and open another. */
  get(high: number, low: number): number {
    const fresh = this.#table.get(high, low);
    if (fresh !== 0) return fresh;
    const frozen = this.#frozen?.table.get(high, low) ?? 0;
    return frozen !== 0 || this.#runs.length === 0 ? frozen : this.#getFromRuns(high, low);
  }

  set(high: number, low: number, id: number): void {
    this.#table.set(high, low, id);
    if (this.#runs.length === 0) return;
    // Otherwise the cache would return the older id after this one is flushed.
    const at = (low & this.#cacheMask) * 3;
    if (this.#cache[at + 1] === low && this.#cache[at] === high) this.#cache[at + 2] = 0;
  }

  /** Declares that the entries of all rows up to this one are set. */
  advance(sequence: number): void {
    assert(sequence >= this.#coveredTo, "sequence numbers count up");
    this.#coveredTo = sequence;
  }

  /**
   * Hands a full table to the other thread and takes its results; call regularly, between rows. Blocks
   * only when a second table is full before the first is written.
   */
  makeRoom(): void {
    for (const answer of this.#desk.answers()) this.#take(answer);
    if (this.#entriesMax !== undefined && this.#table.size >= this.#entriesMax) {
      while (this.#frozen !== undefined) {
        this.#startJobs();
        this.#waitForFlush();
      }
      const from = (this.#runs.at(-1)?.head.to ?? 0) + 1;
      this.#frozen = { table: this.#table, from, to: this.#coveredTo };
      this.#table = this.#spare ?? new FingerprintTable();
      this.#spare = undefined;
    }
    this.#startJobs();
  }

  /** Drops the entries in memory; the next opening reads them again from the rows. */
  close(): void {
    for (const run of this.#runs) run.close();
    this.#runs = [];
    this.#desk.close();
  }

  /** Closes after damage and deletes the damaged run, so that the next opening ignores it. */
  discard(damage: DamagedRun): void {
    this.close();
    if (this.#place.entriesMax !== undefined) rmSync(damage.path, { force: true });
  }

  /** Throws when the table could not be written, because memory would grow. */
  #waitForFlush(): void {
    let stuck: SeenIndexStuck | undefined;
    for (const answer of this.#desk.waitForAnswers()) {
      if (answer.number === this.#flush && answer.kind === "failed")
        stuck = new SeenIndexStuck(answer.because);
      this.#take(answer);
    }
    if (stuck !== undefined) throw stuck;
  }

  #getFromRuns(high: number, low: number): number {
    const cache = this.#cache;
    const at = (low & this.#cacheMask) * 3;
    if (cache[at] === high && cache[at + 1] === low && cache[at + 2] !== 0)
      return cache[at + 2] as number;
    for (let index = this.#runs.length - 1; index >= 0; index--) {
      const id = (this.#runs[index] as SeenRun).get(high, low);
      if (id === 0) continue;
      cache[at] = high;
      cache[at + 1] = low;
      cache[at + 2] = id;
      return id;
    }
    return 0;
  }

  #startJobs(): void {
    if (this.#flush === undefined && this.#frozen !== undefined) {
      const { table, from, to } = this.#frozen;
      const path = this.#pathOf(from, to);
      this.#flush = this.#desk.send({ kind: "flush", words: table.words, path, from, to });
    }
    const inputs = this.#merge === undefined ? this.#runsToMerge() : [];
    const [first] = inputs;
    const last = inputs.at(-1);
    if (first === undefined || last === undefined) return;
    const number = this.#desk.send({
      kind: "merge",
      inputs: inputs.map((run) => run.head.path),
      path: this.#pathOf(first.head.from, last.head.to),
    });
    this.#merge = { number, inputs };
  }

  /** The newest runs, when enough of them have a similar size. */
  #runsToMerge(): readonly SeenRun[] {
    const entriesMax = this.#entriesMax;
    if (entriesMax === undefined) return [];
    const newest = this.#runs.slice(-RUNS_MERGED);
    const tiers = newest.map((run) => tierOf(run.head.entries / entriesMax));
    const areSimilar = tiers.every((tier) => tier === tiers[0]);
    return newest.length === RUNS_MERGED && areSimilar ? newest : [];
  }

  #take(answer: SeenAnswer): void {
    const isFlush = answer.number === this.#flush;
    const merge = answer.number === this.#merge?.number ? this.#merge : undefined;
    // The job was abandoned; the next opening deletes its file.
    if (!isFlush && merge === undefined) return;
    if (isFlush) this.#flush = undefined;
    else this.#merge = undefined;
    if (answer.kind === "damaged") throw new DamagedRun(answer.path, "found while merging");
    // The next `makeRoom` retries.
    if (answer.kind === "failed") return;
    const run = new SeenRun(answer.head);
    if (isFlush) {
      this.#runs.push(run);
      this.#recycle((this.#frozen as Frozen).table);
      this.#frozen = undefined;
    } else if (merge !== undefined) this.#replace(merge.inputs, run);
  }

  /** Keeps a written table for reuse, unless a large batch has made it grow. */
  #recycle(written: FingerprintTable): void {
    if (written.slots > 2 * (this.#entriesMax ?? 0)) return;
    written.clear();
    this.#spare = written;
  }

  #replace(inputs: readonly SeenRun[], merged: SeenRun): void {
    const at = this.#runs.indexOf(inputs[0] as SeenRun);
    this.#runs.splice(at, inputs.length, merged);
    for (const run of inputs) {
      run.close();
      rmSync(run.head.path, { force: true });
    }
  }

  #pathOf(from: number, to: number): string {
    const { folder } = this.#place;
    assert(folder !== undefined, "an index in memory writes no runs");
    return join(folder, `${this.#place.name}-${from}-${to}.run`);
  }
}

/** Size class of a run: 0 for one table, 1 for a merge of tables, 2 for a merge of merges. */
function tierOf(tables: number): number {
  return Math.max(0, Math.round(Math.log(tables) / Math.log(RUNS_MERGED)));
}

/** Opens the runs that cover the numbers from 1 without a gap, and deletes the others. */
function openRuns(place: SeenIndexPlace, lastSequence: number): SeenRun[] {
  const runs: SeenRun[] = [];
  const useless: string[] = [];
  let next = 1;
  for (const { path, from, to } of listRuns(place)) {
    const run = from === next && to <= lastSequence ? openRun(path) : undefined;
    if (run === undefined || run.head.from !== from || run.head.to !== to) {
      useless.push(path);
      continue;
    }
    runs.push(run);
    next = to + 1;
  }
  if (place.entriesMax !== undefined) for (const path of useless) rmSync(path, { force: true });
  return runs;
}

function openRun(path: string): SeenRun | undefined {
  try {
    return SeenRun.open(path);
  } catch (error) {
    const isGone = (error as NodeJS.ErrnoException).code === "ENOENT";
    if (isGone || error instanceof DamagedRun) return undefined;
    throw error;
  }
}

/** Sorted by the first number covered; of equal ones the longer is first, because it is their merge. */
function listRuns(place: SeenIndexPlace): { path: string; from: number; to: number }[] {
  const { folder } = place;
  if (folder === undefined) return [];
  const found: { path: string; from: number; to: number }[] = [];
  for (const file of readdirSync(folder)) {
    const match = /^(.+)-(\d+)-(\d+)\.run(\.tmp)?$/.exec(file);
    if (match === null || match[1] !== place.name) continue;
    const path = join(folder, file);
    if (match[4] === undefined) found.push({ path, from: Number(match[2]), to: Number(match[3]) });
    else if (place.entriesMax !== undefined) rmSync(path, { force: true });
  }
  return found.sort((a, b) => a.from - b.from || b.to - a.to);
}
