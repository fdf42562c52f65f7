/** Fingerprints in messages: eight bytes each, in base64; JSON would take three times as many. */

import type { Fingerprint } from "../url/fingerprint.ts";

const BYTES = 8;

export function writeFingerprints(all: readonly Fingerprint[]): string {
  const bytes = Buffer.alloc(BYTES * all.length);
  for (const [index, { high, low }] of all.entries()) {
    bytes.writeUInt32BE(high, BYTES * index);
    bytes.writeUInt32BE(low, BYTES * index + 4);
  }
  return bytes.toString("base64");
}

/** Ignores an incomplete one at the end. */
export function readFingerprints(text: string): Fingerprint[] {
  const bytes = Buffer.from(text, "base64");
  return Array.from({ length: Math.floor(bytes.length / BYTES) }, (_, index) => ({
    high: bytes.readUInt32BE(BYTES * index),
    low: bytes.readUInt32BE(BYTES * index + 4),
  }));
}
