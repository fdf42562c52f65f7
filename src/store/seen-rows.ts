/**
 * A seen index joined to the rows it is a cache of, so that it mends itself.
 *
 * At opening, and whenever a run turns out to be damaged, what the runs on disk do not cover is read
 * from the rows. That may take seconds for millions of rows; otherwise nothing here takes time.
 */

import { CrawlError } from "../base/errors.ts";
import { SeenIndex, SeenIndexStuck } from "./seen-index.ts";
import type { SeenIndexPlace } from "./seen-index.ts";
import { DamagedRun } from "./seen-run.ts";
import type { StoreThread } from "./store-thread.ts";

export interface RowSource {
  /** The number of the last row; 0 when there is none. */
  last(): number;
  /** Sets the entries of some rows after this one, in order; answers the number of the last of them. */
  setSome(after: number): number;
}

export class SeenRows {
  readonly #place: SeenIndexPlace;
  readonly #source: RowSource;
  readonly #thread: StoreThread;
  #index: SeenIndex;

  constructor(place: SeenIndexPlace, source: RowSource, thread: StoreThread) {
    this.#place = place;
    this.#source = source;
    this.#thread = thread;
    this.#index = new SeenIndex(place, source.last(), thread);
  }

  /** 0 when unknown. */
  get(high: number, low: number): number {
    // Once more for every run that is damaged; none is met twice.
    for (;;) {
      try {
        return this.#index.get(high, low);
      } catch (error) {
        this.#mend(error);
      }
    }
  }

  set(high: number, low: number, id: number): void {
    this.#index.set(high, low, id);
  }

  advance(sequence: number): void {
    this.#index.advance(sequence);
  }

  /** To be called before a commit; throws when what is in memory cannot be written. */
  makeRoom(): void {
    try {
      this.#index.makeRoom();
    } catch (error) {
      if (error instanceof SeenIndexStuck)
        throw new CrawlError("DISK_FULL", `${this.#place.folder}: ${error.message}`);
      this.#mend(error);
    }
  }

  /** Takes in the rows that the index does not have yet. */
  catchUp(): void {
    const last = this.#source.last();
    while (this.#index.coveredTo < last) {
      this.#index.advance(this.#source.setSome(this.#index.coveredTo));
      this.makeRoom();
    }
  }

  close(): void {
    this.#index.close();
  }

  #mend(error: unknown): void {
    if (!(error instanceof DamagedRun)) throw error;
    this.#index.discard(error);
    // A looker-on takes nothing away, so he does without any run.
    const lastTrusted = this.#place.entriesMax === undefined ? 0 : this.#source.last();
    this.#index = new SeenIndex(this.#place, lastTrusted, this.#thread);
    this.catchUp();
  }
}
