/**
 * Fixes what is handed to a bus as it is at that moment: whatever its sender changes later is not
 * carried. Anything above its size is our own mistake, the same on every bus.
 */

import { assert } from "../base/assert.ts";
import { NOTE_BYTES_MAX, PARCEL_BYTES_MAX } from "./bus.ts";
import type { Note, Parcel } from "./bus.ts";

/** The parcel with its sender's name and with bytes of its own. */
export function sealedParcel(from: string, parcel: Omit<Parcel, "from">): Parcel {
  assert(parcel.body.length <= PARCEL_BYTES_MAX, "a parcel is within its size");
  return { ...parcel, from, body: parcel.body.slice() };
}

/** The note as JSON. */
export function sealedNote(note: Note): string {
  const text = JSON.stringify(note);
  assert(Buffer.byteLength(text) <= NOTE_BYTES_MAX, "a note is within its size");
  return text;
}

/** What `sealedNote` wrote. */
export function openedNote(text: string): Note {
  return JSON.parse(text) as Note;
}
