/**
 * Items as buses carry them, fixed when they are handed over: later changes by the sender have no effect. A parcel above
 * its size is a bug, on every bus.
 */

import { assert } from "../base/assert.ts";
import { PARCEL_BYTES_MAX } from "./bus.ts";
import type { Inbox, Membership, Parcel, Receipt } from "./bus.ts";
import { MessageJoiner, textsOf } from "./control-pieces.ts";

/** One item in transit. */
export type Item =
  | { readonly kind: "parcel"; readonly parcel: Parcel }
  | { readonly kind: "receipt"; readonly receipt: Receipt }
  | { readonly kind: "control"; readonly control: SealedMessage };

export interface SealedMessage {
  readonly from: string;
  readonly to: string;
  /** One of `textsOf`. */
  readonly text: string;
}

/** Size of an item besides its body or text. */
const ENVELOPE_BYTES = 100;

/** The parcel with its sender's name and a copy of its bytes. */
function sealedParcel(from: string, parcel: Omit<Parcel, "from">): Parcel {
  assert(parcel.body.length <= PARCEL_BYTES_MAX, "a parcel is within its size");
  // Not `slice`: that of a Buffer shares its bytes.
  return { ...parcel, from, body: new Uint8Array(parcel.body) };
}

/** A node's place on a bus that accepts items, or returns false when it cannot. */
export function sealingMember(
  node: string,
  take: (item: Item) => boolean,
  leave: () => void,
): Membership {
  return {
    send: (parcel) => take({ kind: "parcel", parcel: sealedParcel(node, parcel) }),
    acknowledge: ({ id, from }) => {
      take({ kind: "receipt", receipt: { parcelId: id, from: node, to: from } });
    },
    tell: (to, control) => {
      for (const text of textsOf({ from: node, to }, control))
        take({ kind: "control", control: { from: node, to, text } });
    },
    leave: async () => leave(),
  };
}

/** Delivers items to an inbox, control messages as soon as they are complete. */
export function receiverOf(inbox: Inbox): (item: Item) => void {
  const joiner = new MessageJoiner();
  return (item) => {
    if (item.kind === "parcel") return inbox.onParcel(item.parcel);
    if (item.kind === "receipt") return inbox.onReceipt(item.receipt);
    const control = joiner.add(item.control, item.control.text);
    if (control !== undefined) inbox.onMessage(item.control.from, control);
  };
}

export function routeOf(item: Item): { readonly from: string; readonly to: string } {
  if (item.kind === "parcel") return item.parcel;
  return item.kind === "receipt" ? item.receipt : item.control;
}

/** Approximate, for limits. */
export function itemBytes(item: Item): number {
  if (item.kind === "parcel") return ENVELOPE_BYTES + item.parcel.body.length;
  return ENVELOPE_BYTES + (item.kind === "control" ? item.control.text.length : 0);
}
