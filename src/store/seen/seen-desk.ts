/**
 * Sends one seen index's jobs to the store's other thread, and receives the results without an event loop.
 *
 * Commits are synchronous, so results are polled, or waited for when necessary. When the thread dies, its open
 * jobs fail, and the next job starts a new thread.
 */

import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { assert } from "../../base/assert.ts";
import type { FlushJob, MergeJob } from "./seen-merge.ts";
import type { StoreThread } from "./store-thread.ts";
import type { SeenAnswer, SeenRequest } from "./store-worker.ts";

/** Far longer than the largest table takes; a thread without an answer for this time is considered dead. */
const ANSWER_MS_MAX = 120_000;

export class SeenDesk {
  readonly #thread: StoreThread;
  #port: MessagePort | undefined;
  /** The thread's life in which the port was opened. */
  #life = 0;
  readonly #answerCount = new Int32Array(new SharedArrayBuffer(4));
  #answersTaken = 0;
  #nextNumber = 1;
  #open = new Set<number>();

  constructor(thread: StoreThread) {
    this.#thread = thread;
  }

  /** Sends a job; returns the number of its answer. */
  send(job: FlushJob | MergeJob): number {
    const request: SeenRequest = { number: this.#nextNumber++, job };
    this.#open.add(request.number);
    const port = this.#livePort ?? this.#openPort();
    port.postMessage(request, []);
    return request.number;
  }

  /** Returns the new answers. */
  answers(): SeenAnswer[] {
    const found: SeenAnswer[] = [];
    while (this.#open.size > 0) {
      const port = this.#livePort;
      if (port === undefined) return [...found, ...this.#failAll()];
      const received = receiveMessageOnPort(port) as { message: SeenAnswer } | undefined;
      if (received === undefined) break;
      found.push(received.message);
      this.#open.delete(received.message.number);
      this.#answersTaken++;
    }
    return found;
  }

  /** Returns at least one new answer; blocks the thread until then. */
  waitForAnswers(): SeenAnswer[] {
    assert(this.#open.size > 0, "a job is open");
    for (;;) {
      const found = this.answers();
      if (found.length > 0) return found;
      const slept = Atomics.wait(this.#answerCount, 0, this.#answersTaken, ANSWER_MS_MAX);
      if (slept === "timed-out") return this.#failAll();
    }
  }

  /** Closes the port; open jobs are abandoned. */
  close(): void {
    this.#port?.close();
    this.#port = undefined;
  }

  get #livePort(): MessagePort | undefined {
    return this.#life === this.#thread.lives ? this.#port : undefined;
  }

  #openPort(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    const answerCount = this.#answerCount;
    this.#thread.post({ kind: "desk", port: port2, answerCount }, [port2]);
    this.#port = port1;
    this.#life = this.#thread.lives;
    return port1;
  }

  #failAll(): SeenAnswer[] {
    const failed = Array.from(this.#open, (number): SeenAnswer => {
      return { number, kind: "failed", because: "the sorting thread has died" };
    });
    this.#open = new Set();
    // Answers sent just before its death are not read.
    this.#answersTaken = Atomics.load(this.#answerCount, 0);
    return failed;
  }
}
