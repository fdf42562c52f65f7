/**
 * Captures on their way to the thread that writes them: many in one buffer, so that a message is
 * paid for once for all of them.
 *
 * A capture in a parcel is two lengths, its texts as JSON, and its body. The buffers are handed over
 * and handed back, never copied by the engine; the one copy is ours, and leaves the caller his body.
 */

import { assert } from "../../base/assert.ts";
import type { Capture } from "../output.ts";

const LENGTHS_BYTES = 8;
/** The most bytes of UTF-8 for one unit of a string. */
const UNIT_BYTES_MAX = 3;

const encoder = new TextEncoder();

/** A capture with its texts as messages carry them. */
export interface Told {
  readonly text: string;
  readonly body: Uint8Array;
}

/** A received capture; the bytes of its digest are not needed. */
export interface Unpacked extends Capture {
  /** Empty if unknown. */
  readonly bodyDigestHex: string;
}

export function tell({ body, bodyDigest, ...texts }: Capture): Told {
  const bodyDigestHex = bodyDigest === undefined ? "" : Buffer.from(bodyDigest).toString("hex");
  return { text: JSON.stringify({ ...texts, bodyDigestHex }), body };
}

/** How much room a capture may need. */
export function roomFor(told: Told): number {
  return LENGTHS_BYTES + UNIT_BYTES_MAX * told.text.length + told.body.length;
}

/** Puts a capture into the parcel at `at`; answers where it ends. */
export function pack(told: Told, parcel: Uint8Array, at: number): number {
  assert(at + roomFor(told) <= parcel.length, "the capture fits the parcel");
  const textAt = at + LENGTHS_BYTES;
  const { written } = encoder.encodeInto(told.text, parcel.subarray(textAt));
  const lengths = new DataView(parcel.buffer, parcel.byteOffset + at, LENGTHS_BYTES);
  lengths.setUint32(0, written);
  lengths.setUint32(4, told.body.length);
  parcel.set(told.body, textAt + written);
  return textAt + written + told.body.length;
}

/** The captures of a parcel, in order; their bodies lie in it. */
export function* unpack(parcel: Uint8Array, end: number): Generator<Unpacked> {
  const bytes = Buffer.from(parcel.buffer, parcel.byteOffset, parcel.byteLength);
  for (let at = 0; at < end;) {
    const textAt = at + LENGTHS_BYTES;
    const bodyAt = textAt + bytes.readUInt32BE(at);
    at = bodyAt + bytes.readUInt32BE(textAt - 4);
    const texts = JSON.parse(bytes.toString("utf8", textAt, bodyAt)) as Omit<Unpacked, "body">;
    yield { ...texts, body: parcel.subarray(bodyAt, at) };
  }
}
