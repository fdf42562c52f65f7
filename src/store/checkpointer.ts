/**
 * Keeps SQLite's write-ahead log short while commits hardly ever wait for the disk.
 *
 * What has gathered in the log is moved into the file by another thread, and commits go on meanwhile.
 * The log starts anew at a commit that finds it moved to the end, which in a busy crawl may not
 * happen by itself. So a log that has grown long is moved to the end by the commit that meets it, at
 * a moment when the other thread has left little to move; that commit waits some milliseconds.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { assert } from "../base/assert.ts";

/** In frames of 4 KiB: 16 MiB are worth a turn of the other thread, and 4 MiB may be left to a commit. */
const FRAMES_TO_MOVE = 4_096;
const FRAMES_FEW = 1_024;
/** A log of 128 MiB is long; at 256 MiB it is moved at any cost. */
const FRAMES_LONG = 32_768;
const FRAMES_MAX = 65_536;
// Run as text or as built: the other file has the ending of this one.
const WORKER_FILE = new URL(
  `./checkpoint-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`,
  import.meta.url,
);

export class Checkpointer {
  readonly #path: string;
  readonly #look: StatementSync;
  readonly #restart: StatementSync;
  readonly #isDone = new Int32Array(new SharedArrayBuffer(4)).fill(1);
  #worker: Worker | undefined;
  #restartAtFrames = FRAMES_LONG;

  constructor(database: DatabaseSync) {
    const path = database.location();
    assert(path !== null, "the store is a file");
    this.#path = path;
    this.#look = database.prepare("PRAGMA wal_checkpoint(NOOP)");
    this.#restart = database.prepare("PRAGMA wal_checkpoint(RESTART)");
  }

  /** To be called before each commit. */
  tend(): void {
    const state = this.#look.get();
    const frames = Number(state?.["log"]);
    const framesLeft = frames - Number(state?.["checkpointed"]);
    const isLong = frames >= this.#restartAtFrames;
    const isFree = Atomics.load(this.#isDone, 0) === 1;
    if (isFree && framesLeft >= (isLong ? FRAMES_FEW : FRAMES_TO_MOVE)) this.#askWorker();
    else if (isLong && (isFree || frames >= FRAMES_MAX)) {
      const isBusy = this.#restart.get()?.["busy"] === 1;
      // Somebody reads from the log: it cannot start anew, and asking at every commit would not help.
      this.#restartAtFrames = isBusy ? frames + FRAMES_LONG : FRAMES_LONG;
    }
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #askWorker(): void {
    Atomics.store(this.#isDone, 0, 0);
    this.#worker ??= this.#startWorker();
    this.#worker.postMessage(this.#isDone, []);
  }

  #startWorker(): Worker {
    const resourceLimits = { maxYoungGenerationSizeMb: 1 };
    const worker = new Worker(WORKER_FILE, { workerData: this.#path, resourceLimits });
    const forget = (): void => {
      if (this.#worker === worker) this.#worker = undefined;
      Atomics.store(this.#isDone, 0, 1);
    };
    worker.on("error", forget);
    worker.on("exit", forget);
    worker.unref();
    return worker;
  }
}
