/**
 * The way between crawling processes, as a socket: parcels go out, receipts come back, notes fly.
 *
 * A bus promises almost nothing, so that anything can be one. It may lose, repeat and reorder
 * whatever it carries, parcels and receipts alike; it never alters it, and never delivers it to
 * another node than the one named. Who needs a parcel to arrive keeps it and sends it again until
 * the receipt is there. Who receives one gives the receipt when its effect is committed, and again
 * for every repeat, which it knows by its id. That makes at-least-once of a bus that drops, and
 * once of what arrives twice.
 *
 * Notes are small talk between nodes: what I can use, what you may take. They are never kept, so
 * whoever tells something that matters tells it again.
 *
 * Promises, held by `bus.suite.ts` on every adapter:
 *   1. delivery is never inside the call that sends, nor after leaving;
 *   2. the bytes delivered are those at the moment of sending;
 *   3. memory is bounded: a bus that cannot take a parcel now says so.
 */

export interface Parcel {
  /** Given by the sender, for good: a repeat has the same one. */
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly body: Uint8Array;
}

/** Says that a parcel's effect is committed at the node it was sent to. */
export interface Receipt {
  readonly parcelId: string;
  readonly from: string;
  readonly to: string;
}

/** What a node does with what arrives. */
export interface Inbox {
  readonly onParcel: (parcel: Parcel) => void;
  readonly onReceipt: (receipt: Receipt) => void;
  readonly onMessage: (from: string, note: ControlMessage) => void;
}

/** Anything that survives JSON. */
export type ControlMessage = Readonly<Record<string, unknown>>;

/** A node's place on the bus. */
export interface Membership {
  /** False when the bus cannot take it now: keep it and try later. */
  send(parcel: Omit<Parcel, "from">): boolean;
  /** Tells the sender that the parcel is committed. A lost one is asked for by a repeat. */
  acknowledge(parcel: Parcel): void;
  /** May be lost like the rest, and is not missed. */
  tell(to: string, note: ControlMessage): void;
  leave(): Promise<void>;
}

export interface Bus {
  /** One member to a name at a time. */
  join(node: string, inbox: Inbox): Promise<Membership>;
  close(): Promise<void>;
}

/** The largest body a parcel may have. */
export const PARCEL_BYTES_MAX = 1024 * 1024;

/** The largest text that a note travels in: a longer note goes in pieces (`note-pieces.ts`). */
export const MESSAGE_BYTES_MAX = 64 * 1024;
