/**
 * Writes gzip members (RFC 1952), each readable on its own, which form a WARC file.
 *
 * A member has a head and a body. The head is compressed; a body that is already compressed is stored,
 * because compressing it again costs time without gain. Level 0 stores everything, level 1 uses
 * `deflate.ts`, levels 2 to 9 use zlib.
 */

import { constants, crc32, deflateRawSync } from "node:zlib";
import { deflate, deflateRoom, store } from "./deflate.ts";

/** Magic, deflate, no flags, no time, no hints, unknown system. */
const MEMBER_HEAD = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
const TRAILER_BYTES = 8;

interface MemberText {
  /** Head and body in one piece. */
  readonly bytes: Uint8Array;
  /** Start of an already compressed body; undefined for an uncompressed one. */
  readonly packedFrom: number | undefined;
}

/** Output size that is always enough for a member of this number of bytes. */
export function memberRoom(bytes: number): number {
  return deflateRoom(bytes) + MEMBER_HEAD.length + TRAILER_BYTES + 64;
}

/** Writes a member into `out` at `start`; returns its end. */
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
  else if (packedFrom === undefined) at = compress(bytes, level, out, at);
  else {
    at = compressHead(bytes.subarray(0, packedFrom), level, out, at);
    at = store(bytes.subarray(packedFrom), out, at, "last");
  }
  const trailer = new DataView(out.buffer, out.byteOffset + at, TRAILER_BYTES);
  trailer.setUint32(0, crc32(bytes), true);
  trailer.setUint32(4, bytes.length, true);
  return at + TRAILER_BYTES;
}

function compress(bytes: Uint8Array, level: number, out: Uint8Array, at: number): number {
  if (level === 1) return deflate(bytes, out, at, "last");
  const compressed = deflateRawSync(bytes, { level });
  out.set(compressed, at);
  return at + compressed.length;
}

function compressHead(head: Uint8Array, level: number, out: Uint8Array, at: number): number {
  if (level === 1) return deflate(head, out, at, "more");
  const compressed = deflateRawSync(head, { level, finishFlush: constants.Z_SYNC_FLUSH });
  out.set(compressed, at);
  return at + compressed.length;
}
