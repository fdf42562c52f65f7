/**
 * What buses carry, fixed as it is when it is handed over: whatever its sender changes later is not
 * carried. A parcel above its size is our own mistake, the same on every bus.
 */

import { assert } from "../base/assert.ts";
import { PARCEL_BYTES_MAX } from "./bus.ts";
import type { Inbox, Membership, Parcel, Receipt } from "./bus.ts";
import { NoteJoiner, textsOf } from "./note-pieces.ts";

/** One thing on its way. */
export type Item =
  | { readonly kind: "parcel"; readonly parcel: Parcel }
  | { readonly kind: "receipt"; readonly receipt: Receipt }
  | { readonly kind: "note"; readonly note: SealedNote };

export interface SealedNote {
  readonly from: string;
  readonly to: string;
  /** One of `textsOf`. */
  readonly text: string;
}

/** What an item weighs besides its body or text. */
const ENVELOPE_BYTES = 100;

/** The parcel with its sender's name and with bytes of its own. */
function sealedParcel(from: string, parcel: Omit<Parcel, "from">): Parcel {
  assert(parcel.body.length <= PARCEL_BYTES_MAX, "a parcel is within its size");
  // Not `slice`: that of a Buffer shares its bytes.
  return { ...parcel, from, body: new Uint8Array(parcel.body) };
}

/** A node's place on a bus that takes items, or answers false when it cannot. */
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
    tell: (to, note) => {
      for (const text of textsOf({ from: node, to }, note))
        take({ kind: "note", note: { from: node, to, text } });
    },
    leave: async () => leave(),
  };
}

/** Hands items to an inbox, notes as soon as they are whole. */
export function receiverOf(inbox: Inbox): (item: Item) => void {
  const joiner = new NoteJoiner();
  return (item) => {
    if (item.kind === "parcel") return inbox.onParcel(item.parcel);
    if (item.kind === "receipt") return inbox.onReceipt(item.receipt);
    const note = joiner.add(item.note, item.note.text);
    if (note !== undefined) inbox.onNote(item.note.from, note);
  };
}

export function routeOf(item: Item): { readonly from: string; readonly to: string } {
  if (item.kind === "parcel") return item.parcel;
  return item.kind === "receipt" ? item.receipt : item.note;
}

/** Roughly, for limits. */
export function itemBytes(item: Item): number {
  if (item.kind === "parcel") return ENVELOPE_BYTES + item.parcel.body.length;
  return ENVELOPE_BYTES + (item.kind === "note" ? item.note.text.length : 0);
}
