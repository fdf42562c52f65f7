/**
 * Sends what is for other processes, and keeps it until they have it.
 *
 * A message is noted together with the page it comes from, so it leaves with that page's commit or not
 * at all. Messages to one addressee travel several in a parcel: after so many pages, after so much time, or at once when
 * there is nothing else to do. A parcel without a receipt is sent again, ever later, for ever: the
 * bus may lose everything at any time. What an addressee that has left did not take is addressed anew.
 */

import { assert } from "../../base/assert.ts";
import type { Membership, Receipt } from "../../exchange/bus.ts";
import { type NumberedMessage, pack, PACKED_BYTES_MAX } from "../../exchange/packing.ts";
import {
  type PeerMessage,
  decodePeerMessage,
  encodePeerMessage,
} from "../../exchange/peer-message.ts";
import type { OutgoingParcel } from "../../store/store.ts";
import type { CrawlContext } from "../context.ts";

interface OutboxParts {
  readonly bus: Pick<Membership, "send">;
  /** Names the store: a store that is new counts its messages from 1. */
  readonly sender: string;
  readonly everyPages: number;
  readonly everyMs: number;
}

interface Shipment {
  readonly to: string;
  readonly seqs: readonly number[];
  /** Of one message that goes in several parcels. */
  readonly part: number;
  readonly parts: number;
  sentAtMs: number;
  tries: number;
}

/** What waits for one addressee, committed, oldest first. */
interface Pile {
  seqs: number[];
  /** Since when something waits that has not been sent. */
  sinceMs: number;
  /** Pages until it must go. */
  dueAtPage: number;
}

/** Nobody yet: its part of the web has not been given to anyone. */
export const NO_OWNER = "";

const TICK_MS = 50;
const AGAIN_AFTER_MS = 2_000;
const AGAIN_AFTER_MAX_MS = 15_000;
const SHIPMENTS_MAX = 4;
const MESSAGES_MAX = 4_096;
const READ_AT_ONCE = 1_000;

export class Outbox {
  readonly #context: CrawlContext;
  readonly #parts: OutboxParts;
  readonly #piles = new Map<string, Pile>();
  readonly #shipments = new Map<string, Shipment>();
  /** Noted since the last commit. */
  #noted: { readonly seq: number; readonly to: string }[] = [];
  #nextSeq: number;
  #pages = 0;
  #cancelTimer: (() => void) | undefined;
  #sentBytes = 0;

  constructor(context: CrawlContext, parts: OutboxParts) {
    this.#context = context;
    this.#parts = parts;
    const { store } = context;
    this.#nextSeq = store.nextParcelSeq;
    for (let afterSeq = 0; ;) {
      const rows = store.outbox(afterSeq, READ_AT_ONCE);
      for (const { seq, to } of rows) this.#pile(to).seqs.push(seq);
      afterSeq = rows.at(-1)?.seq ?? afterSeq;
      if (rows.length < READ_AT_ONCE) break;
    }
  }

  /** Whether everything that was ever noted here has been committed where it belongs. */
  get isEmpty(): boolean {
    return this.#noted.length === 0 && this.#piles.size === 0;
  }

  /** Messages that have not arrived yet. */
  get count(): number {
    let count = this.#noted.length;
    for (const { seqs } of this.#piles.values()) count += seqs.length;
    return count;
  }

  /** The number that the next message gets, and the lowest of those that have not arrived. */
  get numbers(): { readonly next: number; readonly first: number } {
    let first = this.#noted[0]?.seq ?? this.#nextSeq;
    for (const { seqs } of this.#piles.values()) first = Math.min(first, seqs[0] ?? first);
    return { next: this.#nextSeq, first };
  }

  /** Bytes handed to the bus, repeats included. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  /** Notes a message: it is sent once it is committed. Answers its number. */
  put(to: string, message: PeerMessage): number {
    const seq = this.#nextSeq++;
    this.#context.batch.addParcel({ seq, to, body: encodePeerMessage(message) });
    this.#noted.push({ seq, to });
    return seq;
  }

  /** A page more has been read. */
  countPage(): void {
    this.#pages += 1;
  }

  committed(): void {
    for (const { seq, to } of this.#noted) this.#pile(to).seqs.push(seq);
    this.#noted = [];
    this.ship();
  }

  receipt({ parcelId, from }: Receipt): void {
    const shipment = this.#shipments.get(parcelId);
    if (shipment === undefined || shipment.to !== from) return;
    this.#shipments.delete(parcelId);
    const [seq] = shipment.seqs;
    const isPart = shipment.parts > 1;
    const hasMore =
      isPart && this.#shipments.values().some(({ seqs, parts }) => parts > 1 && seqs[0] === seq);
    if (!hasMore) this.#drop(from, new Set(shipment.seqs));
    this.ship();
  }

  /** Takes back all messages to whoever `isGone`, to be addressed anew in the same commit. */
  takeBack(isGone: (to: string) => boolean): PeerMessage[] {
    const messages: PeerMessage[] = [];
    const noted = this.#noted.filter(({ to }) => isGone(to));
    this.#noted = this.#noted.filter(({ to }) => !isGone(to));
    for (const [to, pile] of this.#piles) {
      if (!isGone(to)) continue;
      for (const [id, shipment] of this.#shipments)
        if (shipment.to === to) this.#shipments.delete(id);
      messages.push(...this.messagesTo(to, Infinity));
      this.#drop(to, new Set(pile.seqs));
    }
    for (const { seq } of noted) {
      messages.push(this.#message(seq));
      this.#context.batch.dropParcel(seq);
    }
    return messages;
  }

  /** The first that wait for an addressee. */
  messagesTo(to: string, countMax: number): PeerMessage[] {
    return (this.#piles.get(to)?.seqs ?? []).slice(0, countMax).map((seq) => this.#message(seq));
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #pile(to: string): Pile {
    const known = this.#piles.get(to);
    if (known !== undefined) return known;
    const sinceMs = this.#context.clock.nowMs();
    const pile = { seqs: [], sinceMs, dueAtPage: this.#pages + this.#parts.everyPages };
    this.#piles.set(to, pile);
    return pile;
  }

  #drop(to: string, seqs: ReadonlySet<number>): void {
    const pile = this.#pile(to);
    pile.seqs = pile.seqs.filter((seq) => !seqs.has(seq));
    if (pile.seqs.length === 0) this.#piles.delete(to);
    for (const seq of seqs) this.#context.batch.dropParcel(seq);
  }

  #row(seq: number): OutgoingParcel {
    const row = this.#context.batch.parcel(seq);
    assert(row !== undefined, "a message is kept until it has arrived");
    return row;
  }

  #message(seq: number): PeerMessage {
    const message = decodePeerMessage(this.#row(seq).body);
    assert(message !== undefined, "what we wrote we can read");
    return message;
  }

  /** Sends whatever is due. */
  ship(): void {
    const nowMs = this.#context.clock.nowMs();
    for (const [id, shipment] of this.#shipments) {
      const againAfterMs = Math.min(AGAIN_AFTER_MAX_MS, AGAIN_AFTER_MS * 2 ** shipment.tries);
      if (nowMs - shipment.sentAtMs < againAfterMs) continue;
      shipment.tries += 1;
      this.#send(id, shipment, nowMs);
    }
    for (const [to, pile] of this.#piles)
      if (to !== NO_OWNER && this.#isDue(pile, nowMs)) this.#shipPile(to, pile, nowMs);
    if (this.#cancelTimer === undefined && this.#piles.size > 0)
      this.#cancelTimer = this.#context.clock.after(TICK_MS, () => {
        this.#cancelTimer = undefined;
        this.ship();
      });
  }

  #isDue({ sinceMs, dueAtPage }: Pile, nowMs: number): boolean {
    const { everyMs } = this.#parts;
    return this.#context.requests.isQuiet || this.#pages >= dueAtPage || nowMs - sinceMs >= everyMs;
  }

  #shipPile(to: string, pile: Pile, nowMs: number): void {
    const underWay = [...this.#shipments.values()].filter((shipment) => shipment.to === to);
    const isOut = new Set(underWay.flatMap(({ seqs }) => seqs));
    const waiting = pile.seqs.filter((seq) => !isOut.has(seq));
    for (let count = underWay.length; count < SHIPMENTS_MAX && waiting.length > 0; count++) {
      const seqs = this.#fitting(waiting);
      waiting.splice(0, seqs.length);
      const bytes = this.#row(seqs[0] as number).body.length;
      const parts = seqs.length > 1 ? 1 : Math.max(1, Math.ceil(bytes / PACKED_BYTES_MAX));
      for (let part = 0; part < parts; part++) {
        const shipment = { to, seqs, part, parts, sentAtMs: nowMs, tries: 0 };
        const id = `${this.#parts.sender}-${seqs[0]}-${seqs.at(-1)}-${part}`;
        this.#shipments.set(id, shipment);
        this.#send(id, shipment, nowMs);
      }
    }
    if (waiting.length > 0) return;
    pile.sinceMs = Infinity;
    pile.dueAtPage = Infinity;
    if (pile.seqs.length === 0) this.#piles.delete(to);
  }

  /** The first that go into one parcel. */
  #fitting(seqs: readonly number[]): number[] {
    let bytes = 0;
    const fitting: number[] = [];
    for (const seq of seqs.slice(0, MESSAGES_MAX)) {
      bytes += this.#row(seq).body.length;
      if (fitting.length > 0 && bytes > PACKED_BYTES_MAX) break;
      fitting.push(seq);
    }
    return fitting;
  }

  #send(id: string, shipment: Shipment, nowMs: number): void {
    const { bus, sender } = this.#parts;
    const { to, seqs, part, parts } = shipment;
    const messages: NumberedMessage[] = seqs.map((seq) => {
      const { body } = this.#row(seq);
      const from = part * PACKED_BYTES_MAX;
      return {
        seq,
        part,
        parts,
        body: parts === 1 ? body : body.subarray(from, from + PACKED_BYTES_MAX),
      };
    });
    const body = pack({ sender, floor: this.#pile(to).seqs[0] as number, messages: messages });
    shipment.sentAtMs = nowMs;
    this.#sentBytes += body.length;
    bus.send({ id, to, body });
  }
}
