/**
 * Where one seen index asks the store's other thread, and collects answers without an event loop.
 *
 * Commits are synchronous, so answers are polled, and waited for where there is no way around. If the
 * thread dies, what it was asked is answered as failed, and the next question goes to another thread.
 */

import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import type { FlushJob, MergeJob } from "./seen-merge.ts";
import type { StoreThread } from "./store-thread.ts";
import type { SeenAnswer, SeenRequest } from "./store-worker.ts";

/** Far more than the largest table takes; what lasts longer has died without a word. */
const ANSWER_MS_MAX = 120_000;

export class SeenDesk {
  readonly #thread: StoreThread;
  #port: MessagePort | undefined;
  /** In which life of the thread the port was made. */
  #life = 0;
  readonly #answerCount = new Int32Array(new SharedArrayBuffer(4));
  #answersTaken = 0;
  #nextNumber = 1;
  #open = new Set<number>();

  constructor(thread: StoreThread) {
    this.#thread = thread;
  }

  /** The number under which the answer will come. */
  ask(job: FlushJob | MergeJob): number {
    const request: SeenRequest = { number: this.#nextNumber++, job };
    this.#open.add(request.number);
    const port = this.#livePort ?? this.#openPort();
    port.postMessage(request, []);
    return request.number;
  }

  /** What has been answered since it was last asked. */
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

  /** What is still being done for it is done for nobody. */
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
    // Answers that came with its last breath are not read any more.
    this.#answersTaken = Atomics.load(this.#answerCount, 0);
    return failed;
  }
}
