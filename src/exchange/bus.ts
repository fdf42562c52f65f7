/**
 * The connection between crawling processes, as a socket: it carries parcels, receipts and control messages.
 *
 * A bus promises almost nothing, so that anything can be one. It may lose, repeat and reorder what it carries; it never
 * alters it, and never delivers it to another node than the addressee. A sender keeps a parcel and repeats it until the
 * receipt arrives. A receiver sends the receipt when the parcel's effect is committed, and again for every repeat, which
 * it knows by the id. So a bus that loses parcels still delivers each at least once, and each takes effect once.
 *
 * Control messages are reports, licences and the like. They are never kept, so a sender repeats those that matter.
 *
 * Promises, held by `bus.suite.ts` on every adapter:
 *   1. delivery is never inside the call that sends, nor after leaving;
 *   2. the bytes delivered are those at the moment of sending;
 *   3. memory is bounded: a bus that cannot take a parcel now refuses it.
 */

export interface Parcel {
  /** Chosen by the sender; a repeat has the same one. */
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly body: Uint8Array;
}

/** Confirms that a parcel's effect is committed at its addressee. */
export interface Receipt {
  readonly parcelId: string;
  readonly from: string;
  readonly to: string;
}

/** A node's handlers for what arrives. */
export interface Inbox {
  readonly onParcel: (parcel: Parcel) => void;
  readonly onReceipt: (receipt: Receipt) => void;
  readonly onMessage: (from: string, control: ControlMessage) => void;
}

/** Any JSON object. */
export type ControlMessage = Readonly<Record<string, unknown>>;

/** A node's place on the bus. */
export interface Membership {
  /** False when the bus cannot take it now: the sender keeps it and retries. */
  send(parcel: Omit<Parcel, "from">): boolean;
  /** Sends the receipt of a committed parcel; a repeat of the parcel requests a lost one. */
  acknowledge(parcel: Parcel): void;
  /** Sends a control message, which may be lost. */
  tell(to: string, control: ControlMessage): void;
  leave(): Promise<void>;
}

export interface Bus {
  /** At most one member of a name at a time. */
  join(node: string, inbox: Inbox): Promise<Membership>;
  close(): Promise<void>;
}

/** The largest body a parcel may have. */
export const PARCEL_BYTES_MAX = 1024 * 1024;

/** The largest text of a control message: a longer one is sent in pieces (`control-pieces.ts`). */
export const MESSAGE_BYTES_MAX = 64 * 1024;
