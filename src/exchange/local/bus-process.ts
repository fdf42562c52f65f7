/**
 * The bus between a supervisor and its forked processes, over Node's channels.
 *
 * All traffic passes through the hub in the supervisor, since each process has one channel, to it. Bounds are per
 * destination: if a process does not read, its lane in the hub fills up to 8 MiB, and further items for it are lost;
 * `send` refuses while the process's own lane to the hub is full. Items in transit to a dead process are lost.
 *
 * A process cannot send in another's name: the hub knows the channel of each item.
 */

import { assert } from "../../base/assert.ts";
import type { Bus, Inbox, Membership } from "../bus.ts";
import { LANE_LIMITS, Lane, itemsIn } from "./lane.ts";
import type { LaneLimits } from "./lane.ts";
import type { Port } from "./port.ts";
import { receiverOf, routeOf, sealingMember } from "../sealing.ts";
import type { Item } from "../sealing.ts";

/** The supervisor's side, which can be a node itself. */
export class ProcessHub implements Bus {
  readonly #limits: LaneLimits;
  readonly #lanes = new Map<string, Lane>();

  constructor(limits: LaneLimits = LANE_LIMITS) {
    this.#limits = limits;
  }

  /** Connects a port as this node; an earlier port of that name is disconnected. */
  attach(node: string, port: Port): void {
    const lane = this.#add(node, port);
    const isCurrent = (): boolean => this.#lanes.get(node) === lane;
    port.onMessage((message) => {
      if (!isCurrent()) return;
      for (const item of itemsIn(message)) if (routeOf(item).from === node) this.#pass(item);
    });
    port.onClose(() => {
      if (isCurrent()) this.detach(node);
    });
  }

  detach(node: string): void {
    this.#lanes.get(node)?.close();
    this.#lanes.delete(node);
  }

  async join(node: string, inbox: Inbox): Promise<Membership> {
    assert(!this.#lanes.has(node), "a node is on the bus once");
    const receive = receiverOf(inbox);
    const deliver = (message: unknown): boolean => {
      for (const item of itemsIn(message)) if (isCurrent()) receive(item);
      return true;
    };
    const lane = this.#add(node, { send: deliver, onRoom() {} });
    const isCurrent = (): boolean => this.#lanes.get(node) === lane;
    return sealingMember(
      node,
      (item) => this.#pass(item),
      () => {
        if (isCurrent()) this.detach(node);
      },
    );
  }

  async close(): Promise<void> {
    for (const node of this.#lanes.keys()) this.detach(node);
  }

  #add(node: string, port: Pick<Port, "send" | "onRoom">): Lane {
    this.detach(node);
    const lane = new Lane(port, this.#limits);
    this.#lanes.set(node, lane);
    return lane;
  }

  #pass(item: Item): boolean {
    const lane = this.#lanes.get(routeOf(item).to);
    return lane === undefined || lane.put(item);
  }
}

/** A forked process's side. The supervisor attached it under its node's name. */
export class ProcessBus implements Bus {
  readonly #port: Port;
  readonly #lane: Lane;
  #node: string | undefined;
  #receive: ((item: Item) => void) | undefined;

  constructor(port: Port, limits: LaneLimits = LANE_LIMITS) {
    this.#port = port;
    this.#lane = new Lane(port, limits);
    port.onMessage((message) => {
      for (const item of itemsIn(message))
        if (routeOf(item).to === this.#node) this.#receive?.(item);
    });
  }

  async join(node: string, inbox: Inbox): Promise<Membership> {
    assert(this.#receive === undefined, "a process is one node of the bus");
    this.#node = node;
    const receive = receiverOf(inbox);
    this.#receive = receive;
    return sealingMember(
      node,
      (item) => this.#lane.put(item),
      () => {
        if (this.#receive === receive) this.#receive = undefined;
      },
    );
  }

  async close(): Promise<void> {
    this.#receive = undefined;
    this.#lane.close();
    this.#port.release();
  }
}
