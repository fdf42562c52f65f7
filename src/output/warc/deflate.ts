/**
 * Compresses web pages into raw deflate (RFC 1951) in one pass, at 60 % of the cost of zlib's level 1.
 *
 * The compressor must be cheap compared with the crawl. So it searches for repeats like LZ4: one
 * candidate per position, found by a hash of six bytes; shorter repeats gain little. After many misses in
 * a row the stride grows, so that pictures and compressed data pass quickly. Output is written at once,
 * in the code of `page-code.ts`.
 *
 * Promises: any inflater restores the input; input that would grow is stored; the same input always
 * gives the same output. O(n), in fixed memory.
 *
 * The tables belong to the module (one set per thread) and not to an object, because the compiler then
 * knows their location, which saves a third of the time. Imported tables get local names for the same
 * reason.
 */

import { assert } from "../../base/assert.ts";
import * as code from "./page-code.ts";

const HASH_BITS = 13;
const MATCH_BYTES_MIN = 6;
const MATCH_BYTES_MAX = 258;
const DISTANCE_MAX = 32_768;
/** After 2^this misses in a row the stride grows by one. */
const STRIDE_BITS = 6;
/** No match is searched this close to the end, because reads of four bytes must stay inside. */
const MARGIN_BYTES = 12;
const STORED_BYTES_MAX = 65_535;
/** An empty stored block after its first bits. */
const EMPTY_STORED = [0, 0, 0xff, 0xff];
/** The first bit of a block. */
const LAST_BLOCK = 1;

/** By hash of six bytes: their last position, modulo 2^16. 16 KiB, to fit into the L1 cache. */
const places = new Uint16Array(1 << HASH_BITS);
const { literalCodes, matchCodes, distanceSymbols, distanceCodes } = code;
const { distanceExtraBits, distanceBases, HEAD_BYTES, HEAD_REST, HEAD_REST_BITS, END_CODE } = code;

/** Length and distance of the match found by `seekMatch`. */
let matchBytes = 0;
let matchDistance = 0;

/** Output size that is always enough for this number of input bytes. */
export function deflateRoom(bytes: number): number {
  return Math.ceil(bytes * 1.5) + 128;
}

/** Whether the stream ends here, or another part follows at the next byte. */
export type Part = "last" | "more";

/** Deflates `input` into `out` at `start`; returns the end of the output. */
export function deflate(input: Uint8Array, out: Uint8Array, start: number, part: Part): number {
  assert(out.length - start >= deflateRoom(input.length), "the output has room");
  const endBits = deflateInPageCode(input, out, start);
  if (endBits > 8 * storedBytes(input.length)) return store(input, out, start, part);
  if (part === "last") return start + ((endBits + 7) >>> 3);
  out[start] = (out[start] as number) & ~LAST_BLOCK;
  // A stored block continues at a byte boundary after three bits, so an empty one aligns the next part.
  const aligned = start + ((endBits + 10) >>> 3);
  out.set(EMPTY_STORED, aligned);
  return aligned + EMPTY_STORED.length;
}

/** Writes the input in stored blocks; returns the end of the output. */
export function store(input: Uint8Array, out: Uint8Array, start: number, part: Part): number {
  let at = start;
  let from = 0;
  do {
    const bytes = Math.min(STORED_BYTES_MAX, input.length - from);
    out[at] = part === "last" && from + bytes === input.length ? LAST_BLOCK : 0;
    out[at + 1] = bytes;
    out[at + 2] = bytes >> 8;
    out[at + 3] = ~bytes;
    out[at + 4] = ~bytes >> 8;
    out.set(input.subarray(from, from + bytes), at + 5);
    at += 5 + bytes;
    from += bytes;
  } while (from < input.length);
  return at;
}

function storedBytes(bytes: number): number {
  return bytes + 5 * Math.max(1, Math.ceil(bytes / STORED_BYTES_MAX));
}

/** Returns the number of bits written; the rest of the last byte and the next byte are zero. */
function deflateInPageCode(input: Uint8Array, out: Uint8Array, start: number): number {
  const inputView = new DataView(input.buffer, input.byteOffset, input.byteLength);
  const outView = new DataView(out.buffer, out.byteOffset, out.byteLength);
  out.set(HEAD_BYTES, start);
  places.fill(0);
  let outAt = start + HEAD_BYTES.length;
  // Bits that do not fill a byte yet. Without a branch for full bytes: every step stores four bytes
  // and advances by the number of full ones.
  let pending = HEAD_REST;
  let pendingBits = HEAD_REST_BITS;
  let at = 0;
  for (;;) {
    const matchAt = seekMatch(input, inputView, at);
    while (at < matchAt) {
      const first = literalCodes[input[at++] as number] as number;
      pending |= (first >> 4) << pendingBits;
      pendingBits += first & 15;
      if (at < matchAt) {
        const second = literalCodes[input[at++] as number] as number;
        pending |= (second >> 4) << pendingBits;
        pendingBits += second & 15;
      }
      outView.setInt32(outAt, pending, true);
      outAt += pendingBits >> 3;
      pending >>>= pendingBits & 24;
      pendingBits &= 7;
    }
    if (matchAt === input.length) break;

    const lengthCode = matchCodes[matchBytes] as number;
    pending |= (lengthCode >> 5) << pendingBits;
    pendingBits += lengthCode & 31;
    outView.setInt32(outAt, pending, true);
    outAt += pendingBits >> 3;
    pending >>>= pendingBits & 24;
    pendingBits &= 7;

    const far = matchDistance - 1;
    const symbol = distanceSymbols[far < 256 ? far : 256 + (far >> 7)] as number;
    const distanceCode = distanceCodes[symbol] as number;
    pending |= (distanceCode >> 4) << pendingBits;
    pendingBits += distanceCode & 15;
    pending |= (far - (distanceBases[symbol] as number)) << pendingBits;
    pendingBits += distanceExtraBits[symbol] as number;
    outView.setInt32(outAt, pending, true);
    outAt += pendingBits >> 3;
    pending >>>= pendingBits & 24;
    pendingBits &= 7;
    at += matchBytes;
  }
  outView.setInt32(outAt, pending | ((END_CODE >> 4) << pendingBits), true);
  return 8 * (outAt - start) + pendingBits + (END_CODE & 15);
}

/** Returns the start of the next match at or after `start`; the end of the input when there is none. */
function seekMatch(input: Uint8Array, view: DataView, start: number): number {
  const last = input.length - MARGIN_BYTES;
  let misses = 0;
  let at = start;
  while (at < last) {
    const word = view.getInt32(at, true);
    const next = view.getInt32(at + 2, true);
    const slot = slotOf(word, next);
    // Positions are stored modulo 2^16, so the bytes are compared.
    const distance = (at - (places[slot] as number)) & 0xffff;
    const from = at - distance;
    places[slot] = at;
    if (
      (distance - 1) >>> 0 < DISTANCE_MAX &&
      from >= 0 &&
      view.getInt32(from, true) === word &&
      view.getInt32(from + 2, true) === next
    ) {
      matchDistance = distance;
      return measureMatch(input, view, at, start);
    }
    at += 1 + (misses++ >> STRIDE_BITS);
  }
  return input.length;
}

/** Extends the match to both sides while the bytes agree; returns its start. */
function measureMatch(input: Uint8Array, view: DataView, found: number, start: number): number {
  const distance = matchDistance;
  const endMax = Math.min(input.length, found + MATCH_BYTES_MAX);
  let end = found + MATCH_BYTES_MIN;
  let differs = 0;
  while (end + 4 <= endMax && differs === 0) {
    differs = view.getInt32(end, true) ^ view.getInt32(end - distance, true);
    end += differs === 0 ? 4 : (31 - Math.clz32(differs & -differs)) >> 3;
  }
  if (differs === 0) while (end < endMax && input[end] === input[end - distance]) end++;

  let at = found;
  const atMin = Math.max(start, distance, end - MATCH_BYTES_MAX);
  while (at > atMin && input[at - 1] === input[at - 1 - distance]) at--;
  matchBytes = end - at;
  // One position near the end of the match is enough to find most later matches.
  if (end + 4 <= input.length)
    places[slotOf(view.getInt32(end - 2, true), view.getInt32(end, true))] = end - 2;
  return at;
}

/** Multiplies by large odd numbers and uses the top bits, which depend on every bit of the input. */
function slotOf(word: number, next: number): number {
  return (Math.imul(word, 0x9e3779b1) ^ Math.imul(next, 0x85ebca6b)) >>> (32 - HASH_BITS);
}
