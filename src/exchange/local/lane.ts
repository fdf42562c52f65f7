/**
 * A bounded queue before a port: items put into it in one turn of the event loop leave together.
 *
 * A message between processes costs about 7 µs at each end, whatever its size (`node bench/exchange.ts`), so small items
 * share one. While the port refuses, the queue fills up to its limits and then refuses too. No item leaves inside the
 * call that puts it.
 */

import type { Port } from "./port.ts";
import { itemBytes } from "../sealing.ts";
import type { Item } from "../sealing.ts";

export interface LaneLimits {
  readonly itemsMax: number;
  readonly bytesMax: number;
}

export const LANE_LIMITS: LaneLimits = { itemsMax: 2_000, bytesMax: 8 * 2 ** 20 };

/** A message gets no further item once it has this size. */
const MESSAGE_BYTES = 256 * 1024;

export class Lane {
  readonly #port: Pick<Port, "send" | "onRoom">;
  readonly #limits: LaneLimits;
  #queue: Item[] = [];
  #bytes = 0;
  /** Whether a turn or the port's `onRoom` is due that empties the queue. */
  #isLeaving = false;
  #isClosed = false;

  constructor(port: Pick<Port, "send" | "onRoom">, limits: LaneLimits) {
    this.#port = port;
    this.#limits = limits;
    port.onRoom(() => this.#leave());
  }

  put(item: Item): boolean {
    if (this.#isClosed) return true;
    const bytes = this.#bytes + itemBytes(item);
    if (this.#queue.length >= this.#limits.itemsMax || bytes > this.#limits.bytesMax) return false;
    this.#queue.push(item);
    this.#bytes = bytes;
    if (!this.#isLeaving) setImmediate(() => this.#leave());
    this.#isLeaving = true;
    return true;
  }

  /** Drops everything in it, and everything put later. */
  close(): void {
    this.#isClosed = true;
    this.#queue = [];
  }

  #leave(): void {
    const queue = this.#queue;
    // Items put meanwhile leave in the next turn, so that two busy processes do not block the event loop.
    const end = queue.length;
    let from = 0;
    let isRefused = false;
    while (from < end && !isRefused && !this.#isClosed) {
      const [to, bytes] = messageIn(queue, from, end);
      isRefused = !this.#port.send({ [MAIL]: queue.slice(from, to) });
      if (isRefused) continue;
      from = to;
      this.#bytes -= bytes;
    }
    if (this.#isClosed) return;
    this.#queue = queue.slice(from);
    this.#isLeaving = this.#queue.length > 0;
    if (this.#isLeaving && !isRefused) setImmediate(() => this.#leave());
  }
}

/** End and size of the message that begins here. */
function messageIn(queue: readonly Item[], from: number, end: number): [to: number, bytes: number] {
  let bytes = 0;
  let to = from;
  while (to < end && bytes < MESSAGE_BYTES) {
    bytes += itemBytes(queue[to] as Item);
    to++;
  }
  return [to, bytes];
}

/** Marks messages of the bus among others between a process and its parent. */
const MAIL = "weir mail";

/** The items of a message; none if it is not of the bus. */
export function itemsIn(message: unknown): readonly Item[] {
  if (typeof message !== "object" || message === null) return [];
  const items = (message as Readonly<Record<string, unknown>>)[MAIL];
  return Array.isArray(items) ? (items as Item[]) : [];
}
