/**
 * Answers which fingerprints are known, and under which id, for many more than fit in memory.
 *
 * A B-tree over fingerprints would change one random disk page for every new URL. Here new entries
 * gather in a table in memory; a full table is frozen and written as a sorted run by another thread,
 * and runs of like size are merged there (the log-structured merge of O'Neil et al. 1996; DRUM of
 * IRLbot and BUbiNG's sieve batch for the same reason). Nothing is ever changed in place.
 *
 * The index is only a cache of rows that lie safe elsewhere. Every entry stands under a sequence
 * number of its row; a run says which numbers it covers, and `coveredTo` says where to go on reading
 * rows after opening. A run that is missing or damaged ends what is covered; the rest is read again.
 *
 * Promises, the first two held by tests:
 *   1. the id last set for a fingerprint is the one got, whatever has been flushed or merged since;
 *   2. opened again it knows nothing beyond `coveredTo`, and everything up to it;
 *   3. memory: for each of `entriesMax` two tables of 24 bytes, 12 of cache and 8 to sort; for each on
 *      disk 1.4.
 *
 * To get: a probe, then for each run a filter, and rarely more than one read of 512 bytes.
 */

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { assert } from "../base/assert.ts";
import { FingerprintTable } from "./fingerprint-table.ts";
import { DamagedRun, SeenRun } from "./seen-run.ts";
import { SeenDesk } from "./seen-desk.ts";
import type { StoreThread } from "./store-thread.ts";
import type { SeenAnswer } from "./store-worker.ts";

const RUNS_MERGED = 6;
const LOOKER_ON_CACHE_SLOTS = 2 ** 16;

export interface SeenIndexPlace {
  readonly folder: string;
  /** What the names of its files start with. */
  readonly name: string;
  /**
   * Entries in memory before they are written out, rounded down to a power of two, of which a table
   * makes full use; undefined writes nothing, ever.
   */
  readonly entriesMax: number | undefined;
}

/** A run could not be written, for want of room or worse; the entries are still in memory. */
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
  /** A table that has been written, to be filled again. */
  #spare: FingerprintTable | undefined;
  #coveredTo: number;
  #flush: number | undefined;
  #merge: { readonly number: number; readonly inputs: readonly SeenRun[] } | undefined;
  /** Ids lately found in runs: pages of a site repeat the same links. High, low, id. */
  readonly #cache: Uint32Array;
  readonly #cacheMask: number;

  /** Takes what covers the sequence numbers from 1 up to at most `lastSequence`. */
  constructor(place: SeenIndexPlace, lastSequence: number, thread: StoreThread) {
    const { entriesMax } = place;
    this.#place = place;
    this.#entriesMax =
      entriesMax === undefined ? undefined : 2 ** Math.floor(Math.log2(entriesMax));
    this.#desk = new SeenDesk(thread);
    const cacheSlots = this.#entriesMax ?? LOOKER_ON_CACHE_SLOTS;
    this.#cache = new Uint32Array(cacheSlots * 3);
    this.#cacheMask = cacheSlots - 1;
    this.#runs = openRuns(place, lastSequence);
    this.#coveredTo = this.#runs.at(-1)?.head.to ?? 0;
  }

  get coveredTo(): number {
    return this.#coveredTo;
  }

  /** 0 when unknown. May throw DamagedRun: then close it, and open another. */
  get(high: number, low: number): number {
    const fresh = this.#table.get(high, low);
    if (fresh !== 0) return fresh;
    const frozen = this.#frozen?.table.get(high, low) ?? 0;
    return frozen !== 0 || this.#runs.length === 0 ? frozen : this.#getFromRuns(high, low);
  }

  set(high: number, low: number, id: number): void {
    this.#table.set(high, low, id);
    if (this.#runs.length === 0) return;
    // Else the older id would be remembered once this one has gone into a run.
    const at = (low & this.#cacheMask) * 3;
    if (this.#cache[at + 1] === low && this.#cache[at] === high) this.#cache[at + 2] = 0;
  }

  /** Says that the entries of all rows up to this one have been set. */
  advance(sequence: number): void {
    assert(sequence >= this.#coveredTo, "sequence numbers count up");
    this.#coveredTo = sequence;
  }

  /**
   * To be called between rows, now and then: hands a full table to the other thread and takes what
   * that has done. Waits only when a second table is full before the first is written.
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

  /** Leaves what is in memory to be read again from the rows. */
  close(): void {
    for (const run of this.#runs) run.close();
    this.#runs = [];
    this.#desk.close();
  }

  /** Closes after damage, and takes the bad run away, so that the next opening does without it. */
  discard(damage: DamagedRun): void {
    this.close();
    if (this.#place.entriesMax !== undefined) rmSync(damage.path, { force: true });
  }

  /** Throws when the table could not be written: without that, memory would grow. */
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
      this.#flush = this.#desk.ask({ kind: "flush", words: table.words, path, from, to });
    }
    const inputs = this.#merge === undefined ? this.#runsToMerge() : [];
    const [first] = inputs;
    const last = inputs.at(-1);
    if (first === undefined || last === undefined) return;
    const number = this.#desk.ask({
      kind: "merge",
      inputs: inputs.map((run) => run.head.path),
      path: this.#pathOf(first.head.from, last.head.to),
    });
    this.#merge = { number, inputs };
  }

  /** The newest runs, where enough of them are of like size. */
  #runsToMerge(): readonly SeenRun[] {
    const entriesMax = this.#entriesMax;
    if (entriesMax === undefined) return [];
    const newest = this.#runs.slice(-RUNS_MERGED);
    const tiers = newest.map((run) => tierOf(run.head.entries / entriesMax));
    const isAlike = tiers.every((tier) => tier === tiers[0]);
    return newest.length === RUNS_MERGED && isAlike ? newest : [];
  }

  #take(answer: SeenAnswer): void {
    const isFlush = answer.number === this.#flush;
    const merge = answer.number === this.#merge?.number ? this.#merge : undefined;
    // Given up long ago; the file it may have made is swept away at the next opening.
    if (!isFlush && merge === undefined) return;
    if (isFlush) this.#flush = undefined;
    else this.#merge = undefined;
    if (answer.kind === "damaged") throw new DamagedRun(answer.path, "found while merging");
    // To be tried again with the next room made.
    if (answer.kind === "failed") return;
    const run = new SeenRun(answer.head);
    if (isFlush) {
      this.#runs.push(run);
      this.#keep((this.#frozen as Frozen).table);
      this.#frozen = undefined;
    } else if (merge !== undefined) this.#replace(merge.inputs, run);
  }

  /** One that grew, because too much came in one go, is let go. */
  #keep(written: FingerprintTable): void {
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
    return join(this.#place.folder, `${this.#place.name}-${from}-${to}.run`);
  }
}

/** 0 for one table, 1 for a merge of tables, 2 for a merge of merges. */
function tierOf(tables: number): number {
  return Math.max(0, Math.round(Math.log(tables) / Math.log(RUNS_MERGED)));
}

/** The runs that cover 1, 2, 3 and so on without a gap; the others are swept away. */
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

/** By the first number covered; of two that start alike the longer one first, being their merge. */
function listRuns(place: SeenIndexPlace): { path: string; from: number; to: number }[] {
  const found: { path: string; from: number; to: number }[] = [];
  for (const file of readdirSync(place.folder)) {
    const match = /^(.+)-(\d+)-(\d+)\.run(\.tmp)?$/.exec(file);
    if (match === null || match[1] !== place.name) continue;
    const path = join(place.folder, file);
    if (match[4] === undefined) found.push({ path, from: Number(match[2]), to: Number(match[3]) });
    else if (place.entriesMax !== undefined) rmSync(path, { force: true });
  }
  return found.sort((a, b) => a.from - b.from || b.to - a.to);
}
