/**
 * A bus with every permitted fault: it loses, repeats and delays (so reorders) messages from a seed.
 *
 * Deliveries happen in virtual time. Members can be on several machines, each of which can be cut off.
 * Messages in transit can be wiped, as when a server loses its store.
 */

import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Bus, Inbox, Membership } from "../exchange/bus.ts";
import { receiverOf, routeOf, sealingMember } from "../exchange/sealing.ts";
import { spoiltMessage } from "./spoilt-messages.ts";
import type { Item } from "../exchange/sealing.ts";

export interface BusFaults {
  /** Share of messages that are lost. */
  readonly lossShare: number;
  /** Share of messages that are delivered twice. */
  readonly repeatShare: number;
  /** Share of sends that are refused, as by a full bus. */
  readonly refusalShare: number;
  readonly delayMsMax: number;
  /** Spoilt copies that are delivered beside each control. */
  readonly spoiltCopies?: number;
}

export const NO_BUS_FAULTS: BusFaults = {
  lossShare: 0,
  repeatShare: 0,
  refusalShare: 0,
  delayMsMax: 1,
};

interface Place {
  readonly machine: string;
  readonly receive: (item: Item) => void;
}

export class SimBus implements Bus {
  /** Machines that can neither send nor receive. */
  readonly cutOff = new Set<string>();
  /** Spoilt copies so far. */
  spoilt = 0;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #faults: BusFaults;
  readonly #places = new Map<string, Set<Place>>();
  #wipes = 0;

  constructor(clock: Clock, random: Random, faults: BusFaults = NO_BUS_FAULTS) {
    this.#clock = clock;
    this.#random = random;
    this.#faults = faults;
  }

  join(node: string, inbox: Inbox): Promise<Membership> {
    assert(!this.#places.has(node), "a node is on the bus once");
    return this.#join(node, { machine: node, receive: receiverOf(inbox) });
  }

  async close(): Promise<void> {
    this.#places.clear();
  }

  /** The bus as seen from one machine; closing it removes all members that joined from there. */
  from(machine: string, run: (callBack: () => void) => void): Bus {
    const members = new Set<Membership>();
    return {
      join: async (node, inbox) => {
        const receive = receiverOf(runningIn(inbox, run));
        const member = await this.#join(node, { machine, receive });
        members.add(member);
        return member;
      },
      close: async () => {
        for (const member of members) await member.leave();
      },
    };
  }

  /** Loses all messages in transit. */
  wipe(): void {
    this.#wipes += 1;
  }

  async #join(node: string, place: Place): Promise<Membership> {
    const places = this.#places.get(node) ?? new Set();
    this.#places.set(node, places.add(place));
    return sealingMember(
      node,
      (item) => this.#take(item, place.machine),
      () => {
        places.delete(place);
        if (places.size === 0 && this.#places.get(node) === places) this.#places.delete(node);
      },
    );
  }

  #take(item: Item, machine: string): boolean {
    const { lossShare, repeatShare, refusalShare, delayMsMax } = this.#faults;
    if (item.kind === "parcel" && this.#random.next() < refusalShare) return false;
    if (this.#random.next() < lossShare || this.cutOff.has(machine)) return true;
    const times = this.#random.next() < repeatShare ? 2 : 1;
    const wipes = this.#wipes;
    for (let count = 0; count < times; count++)
      this.#clock.after(this.#random.next() * delayMsMax, () => {
        if (wipes === this.#wipes) this.#deliver(item);
      });
    if (item.kind === "control")
      for (let count = 0; count < (this.#faults.spoiltCopies ?? 0); count++) {
        const control = spoiltMessage(this.#random, item.control);
        const delayMs = this.#random.next() * delayMsMax;
        this.#clock.after(delayMs, () => this.#deliver({ kind: "control", control }));
        this.spoilt += 1;
      }
    return true;
  }

  #deliver(item: Item): void {
    for (const { machine, receive } of this.#places.get(routeOf(item).to) ?? [])
      if (!this.cutOff.has(machine)) receive(item);
  }
}

function runningIn(inbox: Inbox, run: (callBack: () => void) => void): Inbox {
  return {
    onParcel: (parcel) => run(() => inbox.onParcel(parcel)),
    onReceipt: (receipt) => run(() => inbox.onReceipt(receipt)),
    onMessage: (from, control) => run(() => inbox.onMessage(from, control)),
  };
}
