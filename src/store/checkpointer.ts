/**
 * Keeps SQLite's write-ahead log short while commits hardly ever wait for the disk.
 *
 * What has gathered in the log is moved into the file by another thread, and commits go on meanwhile.
 * The log starts anew at a commit that finds it moved to the end, which in a busy crawl may not
 * happen by itself. So a log that has grown long is moved to the end by the commit that meets it, at
 * a moment when the other thread has left little to move; that commit waits some milliseconds.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { assert } from "../base/assert.ts";
import type { StoreThread } from "./store-thread.ts";

/** In frames of 4 KiB: 16 MiB are worth a turn of the other thread, and 4 MiB may be left to a commit. */
const FRAMES_TO_MOVE = 4_096;
const FRAMES_FEW = 1_024;
/** A log of 128 MiB is long; at 256 MiB it is moved at any cost. */
const FRAMES_LONG = 32_768;
const FRAMES_MAX = 65_536;

export class Checkpointer {
  readonly #path: string;
  readonly #thread: StoreThread;
  readonly #look: StatementSync;
  readonly #restart: StatementSync;
  readonly #isDone = new Int32Array(new SharedArrayBuffer(4)).fill(1);
  /** In which life of the thread it was asked last. */
  #askedInLife = 0;
  #restartAtFrames = FRAMES_LONG;

  constructor(database: DatabaseSync, thread: StoreThread) {
    const path = database.location();
    assert(path !== null, "the store is a file");
    this.#path = path;
    this.#thread = thread;
    this.#look = database.prepare("PRAGMA wal_checkpoint(NOOP)");
    this.#restart = database.prepare("PRAGMA wal_checkpoint(RESTART)");
  }

  /** To be called before each commit. */
  tend(): void {
    const state = this.#look.get();
    const frames = Number(state?.["log"]);
    const framesLeft = frames - Number(state?.["checkpointed"]);
    const isLong = frames >= this.#restartAtFrames;
    const isFree = Atomics.load(this.#isDone, 0) === 1 || this.#askedInLife !== this.#thread.lives;
    if (isFree && framesLeft >= (isLong ? FRAMES_FEW : FRAMES_TO_MOVE)) this.#askThread();
    else if (isLong && (isFree || frames >= FRAMES_MAX)) {
      const isBusy = this.#restart.get()?.["busy"] === 1;
      // Somebody reads from the log: it cannot start anew, and asking at every commit would not help.
      this.#restartAtFrames = isBusy ? frames + FRAMES_LONG : FRAMES_LONG;
    }
  }

  #askThread(): void {
    Atomics.store(this.#isDone, 0, 0);
    this.#thread.post({ kind: "checkpoint", database: this.#path, isDone: this.#isDone });
    this.#askedInLife = this.#thread.lives;
  }
}
