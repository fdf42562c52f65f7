/** Converts the stored fingerprints of a page's links for a lookup in the store. */

import type { Fingerprints } from "../store/store.ts";

const BYTES = 8;

/** `links` has 8 bytes per link, big-endian. */
export function fingerprintsIn(links: Uint8Array): Fingerprints {
  const view = new DataView(links.buffer, links.byteOffset, links.byteLength);
  const count = Math.floor(links.byteLength / BYTES);
  const high = new Uint32Array(count);
  const low = new Uint32Array(count);
  for (let index = 0; index < count; index++) {
    high[index] = view.getUint32(BYTES * index);
    low[index] = view.getUint32(BYTES * index + 4);
  }
  return { high, low, count };
}
