/**
 * Sites by the time of their next request, in two queues: sites without any request so far, and the others.
 *
 * If new sites went first, a thousand sites found together would all be contacted before the first of them is
 * sent a page request; if known sites went first, new ones would wait until those have no pages left. So while both
 * queues have sites due, each gets half of the expected bytes.
 *
 * Promise: a queue that cannot use its share saves nothing for later (`workbench.test.ts`). All operations are
 * O(log sites).
 */

import { Heap } from "../base/heap.ts";

export interface Timed {
  readonly atMs: number;
  /** Among equal times the lowest ticket, which has waited longest, goes first. */
  readonly ticket: number;
}

interface Queue<S> {
  readonly heap: Heap<S>;
  /** Bytes expected of its requests so far. */
  bytes: number;
}

export class NewAndKnown<S extends Timed> {
  readonly #new: Queue<S> = { heap: new Heap<S>(byTime), bytes: 0 };
  readonly #known: Queue<S> = { heap: new Heap<S>(byTime), bytes: 0 };
  #turn = this.#new;

  push(slot: S, isKnown: boolean): void {
    this.#of(isKnown).heap.push(slot);
  }

  /** Begins a search with the queue that has had fewer bytes. */
  beginSearch(): void {
    this.#turn = this.#known.bytes < this.#new.bytes ? this.#known : this.#new;
  }

  /** Removes the next site that is due; repeated calls alternate between the queues while both have one. */
  popDue(nowMs: number): S | undefined {
    const queue = isDue(this.#turn, nowMs) ? this.#turn : this.#other(this.#turn);
    if (!isDue(queue, nowMs)) return undefined;
    this.#turn = this.#other(queue);
    return queue.heap.pop();
  }

  /** Counts a request to a site of a queue, with the bytes expected of it. */
  took(nowMs: number, isKnown: boolean, bytes: number): void {
    const queue = this.#of(isKnown);
    const other = this.#other(queue);
    queue.bytes += bytes;
    if (!isDue(other, nowMs)) other.bytes = Math.max(other.bytes, queue.bytes);
  }

  nextAtMs(): number {
    const [first, second] = [this.#new, this.#known].map(({ heap }) => heap.peek()?.atMs);
    return Math.min(first ?? Infinity, second ?? Infinity);
  }

  #of(isKnown: boolean): Queue<S> {
    return isKnown ? this.#known : this.#new;
  }

  #other(queue: Queue<S>): Queue<S> {
    return queue === this.#known ? this.#new : this.#known;
  }
}

function isDue<S extends Timed>({ heap }: Queue<S>, nowMs: number): boolean {
  return (heap.peek()?.atMs ?? Infinity) <= nowMs;
}

function byTime(a: Timed, b: Timed): number {
  return a.atMs - b.atMs || a.ticket - b.ticket;
}
