/**
 * Keeps SQLite's write-ahead log short without making commits wait for the disk.
 *
 * Past a first length another thread is asked to move the log into the file. Commits go on meanwhile,
 * and the log starts anew at the first one that finds it moved to the end. Past a second length,
 * which only a storm of commits reaches, the commit that meets it does the moving itself.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { assert } from "../base/assert.ts";

/** Of 4 KiB each: 16 MiB, and 256 MiB. */
const FRAMES_TO_MOVE = 4_096;
const FRAMES_MAX = 65_536;
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
    if (frames > FRAMES_MAX) this.#restart.get();
    else if (frames > FRAMES_TO_MOVE && state?.["checkpointed"] !== frames) this.#askWorker();
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #askWorker(): void {
    if (Atomics.load(this.#isDone, 0) === 0) return;
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
