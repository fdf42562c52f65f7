/**
 * One gzip member (RFC 1952) after another, each readable on its own: what a WARC file is made of.
 *
 * A member has a head that is compressed and a body that may be compressed already; such a body is
 * stored, because pressing it again costs time and gains nothing. Level 0 stores everything, level 1
 * is our own `deflate.ts`, levels 2 to 9 are zlib's.
 */

import { constants, crc32, deflateRawSync } from "node:zlib";
import { deflate, deflateRoom, store } from "./deflate.ts";

/** Magic, deflate, no flags, no time, no hints, unknown system. */
const MEMBER_HEAD = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
const TRAILER_BYTES = 8;

export interface MemberText {
  /** Head and body in one piece. */
  readonly bytes: Uint8Array;
  /** Where the body begins that is compressed already; undefined when it is not. */
  readonly packedFrom: number | undefined;
}

/** How much room a member of so many bytes needs. */
export function memberRoom(bytes: number): number {
  return deflateRoom(bytes) + MEMBER_HEAD.length + TRAILER_BYTES + 64;
}

/** Writes a member into `out` at `start`; answers where it ends. */
export function writeMember(
  text: MemberText,
  level: number,
  out: Uint8Array,
  start: number,
): number {
  const { bytes, packedFrom } = text;
  out.set(MEMBER_HEAD, start);
  let at = start + MEMBER_HEAD.length;
  if (level === 0) at = store(bytes, out, at, "last");
  else if (packedFrom === undefined) at = press(bytes, level, out, at);
  else {
    at = pressHead(bytes.subarray(0, packedFrom), level, out, at);
    at = store(bytes.subarray(packedFrom), out, at, "last");
  }
  const trailer = new DataView(out.buffer, out.byteOffset + at, TRAILER_BYTES);
  trailer.setUint32(0, crc32(bytes), true);
  trailer.setUint32(4, bytes.length, true);
  return at + TRAILER_BYTES;
}

function press(bytes: Uint8Array, level: number, out: Uint8Array, at: number): number {
  if (level === 1) return deflate(bytes, out, at, "last");
  const pressed = deflateRawSync(bytes, { level });
  out.set(pressed, at);
  return at + pressed.length;
}

function pressHead(head: Uint8Array, level: number, out: Uint8Array, at: number): number {
  if (level === 1) return deflate(head, out, at, "more");
  const pressed = deflateRawSync(head, { level, finishFlush: constants.Z_SYNC_FLUSH });
  out.set(pressed, at);
  return at + pressed.length;
}
