/**
 * Nodes on the JetStream bus with outboxes: what one writes is sent again until its receipt, and what
 * arrives is compared with what was sent.
 */

import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { below, type Random } from "../../src/base/random.ts";
import {
  type JetStreamBusOptions,
  openJetStreamBus,
} from "../../src/exchange/nats/bus-jetstream.ts";
import type { Bus, Membership, Parcel } from "../../src/exchange/bus.ts";

const DONE_MS_MAX = 60_000;
const RESEND_MS = 250;

export class Post implements AsyncDisposable {
  readonly crawl: string;
  readonly #buses = new Map<string, Bus>();
  readonly #members = new Map<string, Membership>();
  readonly #arrived = new Map<string, Map<string, Buffer>>();
  readonly #outbox = new Map<string, { from: string; to: string; body: Uint8Array }>();
  readonly #timer = setInterval(() => this.#resend(), RESEND_MS);
  #written = 0;

  constructor(crawl: string) {
    this.crawl = crawl;
  }

  async join(
    name: string,
    url: string,
    options: Partial<JetStreamBusOptions> = {},
  ): Promise<Membership> {
    const bus = await openJetStreamBus({ servers: [url], ...options, crawl: this.crawl });
    const arrived = this.#arrived.get(name) ?? new Map<string, Buffer>();
    this.#arrived.set(name, arrived);
    // What waited for it may come before it knows that it has joined.
    const early: Parcel[] = [];
    let member: Membership | undefined;
    member = await bus.join(name, {
      onParcel: (parcel) => {
        assert.equal(parcel.to, name);
        const before = arrived.get(parcel.id);
        if (before !== undefined) assert.ok(before.equals(parcel.body), "a repeat is the same");
        arrived.set(parcel.id, Buffer.from(parcel.body));
        if (member === undefined) early.push(parcel);
        else member.acknowledge(parcel);
      },
      onReceipt: ({ parcelId, from, to }) => {
        const sent = this.#outbox.get(parcelId);
        if (sent === undefined) return;
        assert.deepEqual([from, to], [sent.to, sent.from]);
        const came = this.#arrived.get(from)?.get(parcelId);
        assert.ok(came?.equals(sent.body), `${parcelId} arrived as it was sent`);
        this.#outbox.delete(parcelId);
      },
      onMessage() {},
    });
    for (const parcel of early) member.acknowledge(parcel);
    this.#buses.set(name, bus);
    this.#members.set(name, member);
    return member;
  }

  async leave(name: string): Promise<void> {
    await this.#members.get(name)?.leave();
    await this.#buses.get(name)?.close();
    this.#members.delete(name);
  }

  /** The answer is the parcel's id. */
  write(from: string, to: string, body: Uint8Array): string {
    const id = `p${this.#written++}`;
    this.#outbox.set(id, { from, to, body });
    this.#members.get(from)?.send({ id, to, body });
    return id;
  }

  isDelivered(id: string): boolean {
    return !this.#outbox.has(id);
  }

  /** How many wait for their receipts. */
  get waiting(): number {
    return this.#outbox.size;
  }

  delivered(): Promise<void> {
    return until(() => this.#outbox.size === 0);
  }

  bodiesAt(name: string): string[] {
    return [...(this.#arrived.get(name)?.values() ?? [])].map(String);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    for (const bus of this.#buses.values()) await bus.close();
  }

  #resend(): void {
    for (const [id, { from, to, body }] of this.#outbox)
      this.#members.get(from)?.send({ id, to, body });
  }
}

export async function until(isDone: () => boolean): Promise<void> {
  for (const endMs = performance.now() + DONE_MS_MAX; !isDone(); await wait(20))
    assert.ok(performance.now() < endMs, "a minute was not enough");
}

/** Bytes of chance. */
export function noise(random: Random, bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, () => below(random, 256));
}
