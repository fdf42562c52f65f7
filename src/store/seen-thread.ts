/**
 * The near end of the seen index's other thread: asks it, and collects answers without an event loop.
 *
 * Commits are synchronous, so answers are polled, and waited for where there is no way around. The
 * thread starts with the first job: a small crawl never needs one. If it dies, its jobs are answered
 * as failed, and the next one starts another.
 */

import { MessageChannel, Worker, receiveMessageOnPort } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import type { FlushJob, MergeJob } from "./seen-merge.ts";
import type { SeenAnswer, SeenRequest, SeenWorkerData } from "./seen-worker.ts";

/** Far more than the largest table takes; what lasts longer has died without a word. */
const ANSWER_MS_MAX = 120_000;
// Run as text or as built: the other file has the ending of this one.
const WORKER_FILE = new URL(
  `./seen-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`,
  import.meta.url,
);

export class SeenThread {
  #worker: Worker | undefined;
  #port: MessagePort | undefined;
  readonly #answerCount = new Int32Array(new SharedArrayBuffer(4));
  #answersTaken = 0;
  #nextNumber = 1;
  #open = new Set<number>();

  /** The number under which the answer will come. */
  ask(job: FlushJob | MergeJob): number {
    const request: SeenRequest = { number: this.#nextNumber++, job };
    this.#open.add(request.number);
    this.#livePort().postMessage(request, []);
    return request.number;
  }

  /** What has been answered since it was last asked. */
  answers(): SeenAnswer[] {
    const found: SeenAnswer[] = [];
    while (this.#open.size > 0) {
      if (this.#port === undefined) return [...found, ...this.#failAll()];
      const received = receiveMessageOnPort(this.#port) as { message: SeenAnswer } | undefined;
      if (received === undefined) break;
      found.push(received.message);
      this.#open.delete(received.message.number);
      this.#answersTaken++;
    }
    return found;
  }

  /** As `answers`, but at least one; holds the whole thread until then. */
  waitForAnswers(): SeenAnswer[] {
    assert(this.#open.size > 0, "somebody must have been asked");
    for (;;) {
      const found = this.answers();
      if (found.length > 0) return found;
      const slept = Atomics.wait(this.#answerCount, 0, this.#answersTaken, ANSWER_MS_MAX);
      if (slept === "timed-out") return this.#failAll();
    }
  }

  async close(): Promise<void> {
    this.#port?.close();
    this.#port = undefined;
    await this.#worker?.terminate();
  }

  #livePort(): MessagePort {
    if (this.#port !== undefined) return this.#port;
    const { port1, port2 } = new MessageChannel();
    const workerData: SeenWorkerData = { port: port2, answerCount: this.#answerCount };
    // Its large arrays are outside its heap; a small nursery has them collected soon.
    const resourceLimits = { maxYoungGenerationSizeMb: 2 };
    const worker = new Worker(WORKER_FILE, { workerData, transferList: [port2], resourceLimits });
    // Its end shows as a port that is gone; an error needs a listener, or it would end the program.
    worker.on("error", () => this.#forget(worker));
    worker.on("exit", () => this.#forget(worker));
    worker.unref();
    this.#worker = worker;
    this.#port = port1;
    return port1;
  }

  #forget(worker: Worker): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    this.#port = undefined;
  }

  #failAll(): SeenAnswer[] {
    const failed = Array.from(this.#open, (number): SeenAnswer => {
      return { number, kind: "failed", because: "the sorting thread has died" };
    });
    this.#open = new Set();
    return failed;
  }
}
