/**
 * What buses carry, fixed as it is when it is handed over: whatever its sender changes later is not
 * carried. Anything above its size is our own mistake, the same on every bus.
 */

import { assert } from "../base/assert.ts";
import { NOTE_BYTES_MAX, PARCEL_BYTES_MAX } from "./bus.ts";
import type { Inbox, Membership, Note, Parcel, Receipt } from "./bus.ts";

/** One thing on its way. */
export type Item =
  | { readonly kind: "parcel"; readonly parcel: Parcel }
  | { readonly kind: "receipt"; readonly receipt: Receipt }
  | { readonly kind: "note"; readonly note: SealedNote };

export interface SealedNote {
  readonly from: string;
  readonly to: string;
  /** As JSON. */
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

/** The note as JSON. */
export function sealedNote(note: Note): string {
  const text = JSON.stringify(note);
  assert(Buffer.byteLength(text) <= NOTE_BYTES_MAX, "a note is within its size");
  return text;
}

/** What `sealedNote` wrote. */
function openedNote(text: string): Note {
  return JSON.parse(text) as Note;
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
      take({ kind: "note", note: { from: node, to, text: sealedNote(note) } });
    },
    leave: async () => leave(),
  };
}

export function handOver(inbox: Inbox, item: Item): void {
  if (item.kind === "parcel") inbox.onParcel(item.parcel);
  else if (item.kind === "receipt") inbox.onReceipt(item.receipt);
  else inbox.onNote(item.note.from, openedNote(item.note.text));
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
