/**
 * A seen index with the rows that it caches, so that it repairs itself.
 *
 * At opening, and after a damaged run, the rows that the runs on disk do not cover are read again. That
 * takes seconds for millions of rows.
 */

import { areDescriptorsUsedUp } from "../../base/descriptors.ts";
import { CrawlError } from "../../base/errors.ts";
import { SeenIndex, SeenIndexStuck } from "./seen-index.ts";
import type { SeenIndexPlace } from "./seen-index.ts";
import { DamagedRun } from "./seen-run.ts";
import type { StoreThread } from "./store-thread.ts";

interface RowSource {
  /** Number of the last row; 0 when there is none. */
  last(): number;
  /** Sets the entries of some rows after this one, in order; returns the number of the last of them. */
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
    // Retries once per damaged run, because a damaged run is removed.
    for (;;) {
      try {
        return this.#index.get(high, low);
      } catch (error) {
        this.#repair(error);
      }
    }
  }

  set(high: number, low: number, id: number): void {
    this.#index.set(high, low, id);
  }

  advance(sequence: number): void {
    this.#index.advance(sequence);
  }

  /** Call before a commit; throws when a full table cannot be written. */
  makeRoom(): void {
    try {
      this.#index.makeRoom();
    } catch (error) {
      if (error instanceof SeenIndexStuck)
        throw new CrawlError(
          areDescriptorsUsedUp() ? "DESCRIPTORS_USED_UP" : "DISK_FULL",
          `${this.#place.folder}: ${error.message}`,
        );
      this.#repair(error);
    }
  }

  /** Reads the rows that the index does not have yet. */
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

  #repair(error: unknown): void {
    if (!(error instanceof DamagedRun)) throw error;
    this.#index.discard(error);
    // A read-only index deletes no runs, so it continues without any.
    const lastTrusted = this.#place.entriesMax === undefined ? 0 : this.#source.last();
    this.#index = new SeenIndex(this.#place, lastTrusted, this.#thread);
    this.catchUp();
  }
}
