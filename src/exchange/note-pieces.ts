/**
 * A note as texts that a bus can carry, and such texts as a note again.
 *
 * A note within `NOTE_BYTES_MAX` is its JSON. A longer one is compressed and cut into pieces; each names its note,
 * its place and how many there are. A note of which a piece is lost is lost.
 *
 * The reader trusts nothing: a text that is neither JSON of an object nor a piece is a note without fields, which
 * its reader drops and counts. Memory: at most `PARTIAL_MAX` unfinished notes, the oldest are forgotten first.
 */

import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import { type Note, NOTE_BYTES_MAX } from "./bus.ts";

/** No JSON begins so. */
const MARK = "~";
const PIECE = /^~([a-z0-9]{1,16}) (\d{1,3}) (\d{1,3}) ([A-Za-z0-9+/=]+)$/;
const PIECE_HEAD_BYTES = 32;
const PIECES_MAX = 16;
/** Of a note as JSON, when it is unpacked. */
const WHOLE_BYTES_MAX = 16 * 2 ** 20;
const PARTIAL_MAX = 32;

/** Empty for a note that is too long in any form: it is lost. */
export function textsOf(note: Note): string[] {
  const text = JSON.stringify(note);
  if (Buffer.byteLength(text) <= NOTE_BYTES_MAX) return [text];
  const packed = deflateRawSync(text).toString("base64");
  const room = NOTE_BYTES_MAX - PIECE_HEAD_BYTES;
  const count = Math.ceil(packed.length / room);
  if (count > PIECES_MAX) return [];
  const id = crc32(packed).toString(36);
  return Array.from({ length: count }, (_, index) => {
    const piece = packed.slice(index * room, (index + 1) * room);
    return `${MARK}${id} ${index} ${count} ${piece}`;
  });
}

export class NoteJoiner {
  readonly #partials = new Map<string, (string | undefined)[]>();

  /** The note that this text is or completes; undefined while pieces are missing. */
  add(from: string, text: string): Note | undefined {
    if (!text.startsWith(MARK)) return noteIn(text);
    const [, id, index, count, piece] = PIECE.exec(text) ?? [];
    if (piece === undefined || Number(count) > PIECES_MAX || Number(index) >= Number(count))
      return {};
    const key = `${id} ${count} ${from}`;
    const pieces = this.#partials.get(key) ?? this.#begin(key, Number(count));
    pieces[Number(index)] = piece;
    if (pieces.includes(undefined)) return undefined;
    this.#partials.delete(key);
    return noteIn(unpacked(pieces.join("")));
  }

  #begin(key: string, count: number): (string | undefined)[] {
    const [oldest] = this.#partials.keys();
    if (this.#partials.size >= PARTIAL_MAX && oldest !== undefined) this.#partials.delete(oldest);
    const pieces = Array.from<string | undefined>({ length: count });
    this.#partials.set(key, pieces);
    return pieces;
  }
}

function unpacked(text: string): string {
  try {
    const bytes = inflateRawSync(Buffer.from(text, "base64"), { maxOutputLength: WHOLE_BYTES_MAX });
    return bytes.toString("utf8");
  } catch {
    return "";
  }
}

function noteIn(text: string): Note {
  try {
    const value: unknown = JSON.parse(text);
    const isNote = typeof value === "object" && value !== null && !Array.isArray(value);
    return isNote ? (value as Note) : {};
  } catch {
    return {};
  }
}
