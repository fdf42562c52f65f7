/**
 * Sites by the time each may next be asked, in two queues: those that were never asked, and the others.
 *
 * A thousand sites that come together would otherwise all be greeted before the first that has answered is asked for a
 * page; and were the known ones first, new ones would wait for as long as those have pages. So where both may be asked,
 * each kind has the same part of what requests are expected to bring.
 *
 * Promise: who cannot use its part saves nothing up for later (`workbench.test.ts`). O(log sites) everything.
 */

import { Heap } from "../base/heap.ts";

export interface Timed {
  readonly atMs: number;
  /** Among equals the one that has waited longest goes first. */
  readonly ticket: number;
}

interface Queue<S> {
  readonly heap: Heap<S>;
  /** What its requests were expected to bring so far. */
  bytes: number;
}

export class NewAndKnown<S extends Timed> {
  readonly #new: Queue<S> = { heap: new Heap<S>(byTime), bytes: 0 };
  readonly #known: Queue<S> = { heap: new Heap<S>(byTime), bytes: 0 };
  #turn = this.#new;

  push(slot: S, isKnown: boolean): void {
    this.#of(isKnown).heap.push(slot);
  }

  /** A search begins with the kind that has had less. */
  beginSearch(): void {
    this.#turn = this.#known.bytes < this.#new.bytes ? this.#known : this.#new;
  }

  /** The next whose time has come; whoever asks again gets one of the other kind, if there is any. */
  popDue(nowMs: number): S | undefined {
    const queue = isDue(this.#turn, nowMs) ? this.#turn : this.#other(this.#turn);
    if (!isDue(queue, nowMs)) return undefined;
    this.#turn = this.#other(queue);
    return queue.heap.pop();
  }

  /** One of a kind was taken, and is expected to bring so much. */
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
