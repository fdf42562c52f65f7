/**
 * Cuts a parcel into messages of bounded size, and joins them again.
 *
 * A message is one line of JSON with sender, addressee and piece number, then bytes of the body. The reader trusts nothing:
 * a parcel results only when all its pieces are there and length and checksum are right; anything else counts as lost,
 * and its sender repeats it.
 *
 * Memory: at most `PARTIAL_MAX` incomplete parcels; the oldest are dropped first.
 */

import { crc32 } from "node:zlib";
import { assert } from "../../base/assert.ts";
import { type Parcel, PARCEL_BYTES_MAX } from "../bus.ts";

/** The smallest message size that can carry parcels: a head with long names, and some body. */
export const PIECE_BYTES_MIN = 64 * 1024;

const VERSION = 1;
const HEAD_BYTES_MAX = 16 * 1024;
const PARTIAL_MAX = 16;
const PIECES_MAX = 1_024;
const NEW_LINE = 0x0a;

interface Head {
  readonly v: number;
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly piece: number;
  readonly pieces: number;
  /** Of the whole body. */
  readonly bytes: number;
  /** Of that body, its id, sender and addressee. */
  readonly crc: number;
}

interface Partial {
  readonly pieces: (Uint8Array | undefined)[];
  missing: number;
  bytes: number;
}

export function piecesOf(parcel: Parcel, messageBytesMax: number): Uint8Array[] {
  assert(messageBytesMax >= PIECE_BYTES_MIN, "a message holds a piece");
  const { body } = parcel;
  const room = messageBytesMax - HEAD_BYTES_MAX;
  const pieces = Math.max(1, Math.ceil(body.length / room));
  const { id, from, to } = parcel;
  const common = { v: VERSION, id, from, to, bytes: body.length, crc: checksum(parcel, body) };
  return Array.from({ length: pieces }, (_, piece) => {
    const head = Buffer.from(`${JSON.stringify({ ...common, piece, pieces })}\n`);
    assert(head.length <= HEAD_BYTES_MAX, "names and ids are short");
    return Buffer.concat([head, body.subarray(piece * room, (piece + 1) * room)]);
  });
}

export class PieceJoiner {
  readonly #partials = new Map<string, Partial>();

  /** The parcel that this message completes, if any. */
  add(message: Uint8Array): Parcel | undefined {
    const end = message.indexOf(NEW_LINE);
    const head = end < 0 ? undefined : headOf(message.subarray(0, end));
    if (head === undefined) return undefined;
    const part = message.subarray(end + 1);
    if (head.pieces === 1) return parcelOf(head, part);
    // A repeat is cut in the same way, so its pieces fit; those of another body under this id do not.
    const key = JSON.stringify([head.from, head.id, head.pieces, head.bytes, head.crc]);
    const partial = this.#partials.get(key) ?? this.#begin(key, head.pieces);
    if (partial.pieces[head.piece] === undefined) {
      // The message may be a view of a large buffer, so its bytes are copied.
      partial.pieces[head.piece] = part.slice();
      partial.missing--;
      partial.bytes += part.length;
    }
    if (partial.missing > 0 && partial.bytes <= head.bytes) return undefined;
    this.#partials.delete(key);
    return parcelOf(head, Buffer.concat(partial.pieces.filter((piece) => piece !== undefined)));
  }

  #begin(key: string, count: number): Partial {
    const [oldest] = this.#partials.keys();
    if (this.#partials.size >= PARTIAL_MAX && oldest !== undefined) this.#partials.delete(oldest);
    const pieces = Array.from<Uint8Array | undefined>({ length: count });
    const partial: Partial = { pieces, missing: count, bytes: 0 };
    this.#partials.set(key, partial);
    return partial;
  }
}

function headOf(line: Uint8Array): Head | undefined {
  if (line.length > HEAD_BYTES_MAX) return undefined;
  let head: Readonly<Record<keyof Head, unknown>>;
  try {
    head = JSON.parse(Buffer.from(line).toString()) as typeof head;
  } catch {
    return undefined;
  }
  const isHead =
    typeof head === "object" &&
    head !== null &&
    head.v === VERSION &&
    [head.id, head.from, head.to].every((field) => typeof field === "string") &&
    [head.piece, head.pieces, head.bytes, head.crc].every(isCount);
  if (!isHead) return undefined;
  const { piece, pieces, bytes } = head as Head;
  const isSane = piece < pieces && pieces <= PIECES_MAX && bytes <= PARCEL_BYTES_MAX;
  return isSane ? (head as Head) : undefined;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function parcelOf(head: Head, body: Uint8Array): Parcel | undefined {
  if (body.length !== head.bytes || checksum(head, body) !== head.crc) return undefined;
  const { id, from, to } = head;
  return { id, from, to, body: new Uint8Array(body) };
}

function checksum({ id, from, to }: Omit<Parcel, "body">, body: Uint8Array): number {
  return crc32(body, crc32(JSON.stringify([id, from, to])));
}
