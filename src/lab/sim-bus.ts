/**
 * A bus that does everything a bus may: it loses, repeats and delays, and so reorders, from a seed.
 *
 * Deliveries happen in virtual time.
 */

import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Bus, Inbox, Membership } from "../exchange/bus.ts";
import { handOver, routeOf, sealingMember } from "../exchange/sealing.ts";
import type { Item } from "../exchange/sealing.ts";

export interface BusFaults {
  /** Of all that is sent: shares that are lost, and that are delivered once more. */
  readonly lossShare: number;
  readonly repeatShare: number;
  /** Share of sends that are refused, as by a bus that is full. */
  readonly refusalShare: number;
  readonly delayMsMax: number;
}

export const NO_BUS_FAULTS: BusFaults = {
  lossShare: 0,
  repeatShare: 0,
  refusalShare: 0,
  delayMsMax: 1,
};

export class SimBus implements Bus {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #faults: BusFaults;
  readonly #inboxes = new Map<string, Inbox>();

  constructor(clock: Clock, random: Random, faults: BusFaults = NO_BUS_FAULTS) {
    this.#clock = clock;
    this.#random = random;
    this.#faults = faults;
  }

  async join(node: string, inbox: Inbox): Promise<Membership> {
    assert(!this.#inboxes.has(node), "a node is on the bus once");
    this.#inboxes.set(node, inbox);
    return sealingMember(
      node,
      (item) => this.#take(item),
      () => {
        if (this.#inboxes.get(node) === inbox) this.#inboxes.delete(node);
      },
    );
  }

  async close(): Promise<void> {
    this.#inboxes.clear();
  }

  #take(item: Item): boolean {
    const { lossShare, repeatShare, refusalShare, delayMsMax } = this.#faults;
    if (item.kind === "parcel" && this.#random.next() < refusalShare) return false;
    if (this.#random.next() < lossShare) return true;
    const times = this.#random.next() < repeatShare ? 2 : 1;
    for (let count = 0; count < times; count++) {
      this.#clock.after(this.#random.next() * delayMsMax, () => {
        const inbox = this.#inboxes.get(routeOf(item).to);
        if (inbox !== undefined) handOver(inbox, item);
      });
    }
    return true;
  }
}
