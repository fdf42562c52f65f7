/**
 * A bounded queue before a port: what is put into it in one turn of the event loop leaves together.
 *
 * A message between processes costs about 7 µs at each end whatever is in it (`node bench/exchange.ts`),
 * so small items share one. While the port takes nothing the queue fills up to its limits, and then
 * refuses. Nothing leaves inside the call that puts it.
 */

import type { Port } from "./port.ts";
import { itemBytes } from "../sealing.ts";
import type { Item } from "../sealing.ts";

export interface LaneLimits {
  readonly itemsMax: number;
  readonly bytesMax: number;
}

export const LANE_LIMITS: LaneLimits = { itemsMax: 2_000, bytesMax: 8 * 2 ** 20 };

/** A message is closed when it holds as much as this. */
const MESSAGE_BYTES = 256 * 1024;

export class Lane {
  readonly #port: Pick<Port, "send" | "onRoom">;
  readonly #limits: LaneLimits;
  #queue: Item[] = [];
  #bytes = 0;
  /** A turn or the port's word is on its way that empties the queue. */
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

  /** Everything in it is lost, and whatever comes later. */
  close(): void {
    this.#isClosed = true;
    this.#queue = [];
  }

  #leave(): void {
    const queue = this.#queue;
    // What is put in meanwhile leaves in the next turn: two that talk for ever must let others in.
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

/** Where the message that begins here ends, and its bytes. */
function messageIn(queue: readonly Item[], from: number, end: number): [to: number, bytes: number] {
  let bytes = 0;
  let to = from;
  while (to < end && bytes < MESSAGE_BYTES) {
    bytes += itemBytes(queue[to] as Item);
    to++;
  }
  return [to, bytes];
}

/** Tells our messages from whatever else is said between a process and its parent. */
const MAIL = "weir mail";

/** The items of a message; none when it is not ours. */
export function itemsIn(message: unknown): readonly Item[] {
  if (typeof message !== "object" || message === null) return [];
  const items = (message as Readonly<Record<string, unknown>>)[MAIL];
  return Array.isArray(items) ? (items as Item[]) : [];
}
