/**
 * The near end of the store's other thread: starts it with the first errand, and notices when it dies.
 *
 * One thread serves the checkpoints and all seen indexes, because an idle one already takes some ten
 * megabytes. A small crawl never needs it. After its death the next errand starts another; whoever
 * waits for an answer tells by `lives` that none will come.
 */

import type { MessagePort } from "node:worker_threads";
import { Worker } from "node:worker_threads";
import type { StoreErrand } from "./store-worker.ts";

// Run as text or as built: the other file has the ending of this one.
const WORKER_FILE = new URL(
  `./store-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`,
  import.meta.url,
);
/** What it makes is large, and outside its heap or soon let go. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 2 };

export class StoreThread {
  #worker: Worker | undefined;
  #livesBefore = 0;

  /** Counts up when the thread dies: what was asked in an earlier life is not answered. */
  get lives(): number {
    return this.#livesBefore;
  }

  post(errand: StoreErrand, handedOver: readonly MessagePort[] = []): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage(errand, handedOver);
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
    // An error needs a listener, or it would end the program.
    worker.on("error", forget);
    worker.on("exit", forget);
    worker.unref();
    return worker;
  }
}
