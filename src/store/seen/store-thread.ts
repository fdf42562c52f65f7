/**
 * Controls the store's other thread: starts it with the first task, and detects its death.
 *
 * One thread serves the checkpoints and all seen indexes, because an idle thread takes about ten
 * megabytes. A small crawl never starts it. After its death the next task starts a new one; a change of
 * `lives` shows that open tasks will not be answered.
 */

import type { MessagePort } from "node:worker_threads";
import { Worker } from "node:worker_threads";
import type { StoreTask } from "./store-worker.ts";

// The worker has the file extension of this file: .ts from source, .js in a build.
const WORKER_FILE = new URL(
  `./store-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`,
  import.meta.url,
);
/** Small, because the thread's large buffers are outside its heap or short-lived. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 2 };

export class StoreThread {
  #worker: Worker | undefined;
  #livesBefore = 0;

  /** Number of deaths of the thread; tasks of an earlier life are not answered. */
  get lives(): number {
    return this.#livesBefore;
  }

  post(task: StoreTask, transferred: readonly MessagePort[] = []): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage(task, transferred);
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(WORKER_FILE, { resourceLimits: RESOURCE_LIMITS });
    const forget = (): void => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#livesBefore++;
    };
    // An unhandled error event would end the program.
    worker.on("error", forget);
    worker.on("exit", forget);
    worker.unref();
    return worker;
  }
}
