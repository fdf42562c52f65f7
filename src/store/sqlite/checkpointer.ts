/**
 * Keeps SQLite's write-ahead log short, while commits rarely wait for the disk.
 *
 * Another thread moves the log's frames into the database file while commits continue. A commit
 * restarts the log when all frames are moved, which in a busy crawl may never happen by itself. So a
 * commit that finds a long log moves the rest itself, when the thread has left few frames; that commit
 * waits some milliseconds.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { assert } from "../../base/assert.ts";
import type { StoreThread } from "../seen/store-thread.ts";

/** Unmoved frames of 4 KiB that start the other thread: 16 MiB. */
const FRAMES_TO_MOVE = 4_096;
/** Unmoved frames that a commit may move itself: 4 MiB. */
const FRAMES_FEW = 1_024;
/** Length of a log that a commit restarts when the thread is idle: 128 MiB. */
const FRAMES_LONG = 32_768;
/** Length of a log that a commit restarts even while the thread is busy: 256 MiB. */
const FRAMES_MAX = 65_536;

export class Checkpointer {
  readonly #path: string;
  readonly #thread: StoreThread;
  readonly #readState: StatementSync;
  readonly #restart: StatementSync;
  readonly #isDone = new Int32Array(new SharedArrayBuffer(4)).fill(1);
  /** The thread's life at the last request. */
  #requestedInLife = 0;
  #restartAtFrames = FRAMES_LONG;

  constructor(database: DatabaseSync, thread: StoreThread) {
    const path = database.location();
    assert(path !== null, "the store is a file");
    this.#path = path;
    this.#thread = thread;
    this.#readState = database.prepare("PRAGMA wal_checkpoint(NOOP)");
    this.#restart = database.prepare("PRAGMA wal_checkpoint(RESTART)");
  }

  /** Call before each commit. */
  tend(): void {
    const state = this.#readState.get();
    const frames = Number(state?.["log"]);
    const framesLeft = frames - Number(state?.["checkpointed"]);
    const isLong = frames >= this.#restartAtFrames;
    const isFree =
      Atomics.load(this.#isDone, 0) === 1 || this.#requestedInLife !== this.#thread.lives;
    if (isFree && framesLeft >= (isLong ? FRAMES_FEW : FRAMES_TO_MOVE)) this.#requestCheckpoint();
    else if (isLong && (isFree || frames >= FRAMES_MAX)) {
      const isBusy = this.#restart.get()?.["busy"] === 1;
      // A reader uses the log, so it cannot restart; retry only after more growth.
      this.#restartAtFrames = isBusy ? frames + FRAMES_LONG : FRAMES_LONG;
    }
  }

  #requestCheckpoint(): void {
    Atomics.store(this.#isDone, 0, 0);
    this.#thread.post({ kind: "checkpoint", database: this.#path, isDone: this.#isDone });
    this.#requestedInLife = this.#thread.lives;
  }
}
