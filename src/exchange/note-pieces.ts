/**
 * A note as texts that a bus can carry, and such texts as a note again.
 *
 * A note within `NOTE_BYTES_MAX` is a checksum and its JSON. A longer one is compressed and cut into pieces; each
 * names its note by a checksum, its place and how many there are. A note of which a piece is lost is lost.
 *
 * The reader trusts nothing: a text that is neither JSON of an object nor a piece, or that was altered, is a note
 * without fields, which its reader drops and counts. Memory: at most `PARTIAL_MAX` unfinished notes, the oldest are forgotten first.
 */

import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import { type Note, NOTE_BYTES_MAX } from "./bus.ts";

/** No checksum begins so. */
const MARK = "~";
const PIECE = /^~([a-z0-9]{1,16}) (\d{1,3}) (\d{1,3}) ([A-Za-z0-9+/=]+)$/;
const PIECE_HEAD_BYTES = 32;
const PIECES_MAX = 16;
/** Of a note as JSON, when it is unpacked. */
const WHOLE_BYTES_MAX = 16 * 2 ** 20;
const PARTIAL_MAX = 32;

/** Whose a note is and for whom: part of its checksum. */
export interface Route {
  readonly from: string;
  readonly to: string;
}

/** Empty for a note that is too long in any form: it is lost. */
export function textsOf(route: Route, note: Note): string[] {
  const json = JSON.stringify(note);
  const text = `${checksumOf(route, json)} ${json}`;
  if (Buffer.byteLength(text) <= NOTE_BYTES_MAX) return [text];
  const packed = deflateRawSync(json).toString("base64");
  const room = NOTE_BYTES_MAX - PIECE_HEAD_BYTES;
  const count = Math.ceil(packed.length / room);
  if (count > PIECES_MAX) return [];
  const id = checksumOf(route, packed);
  return Array.from({ length: count }, (_, index) => {
    const piece = packed.slice(index * room, (index + 1) * room);
    return `${MARK}${id} ${index} ${count} ${piece}`;
  });
}

export class NoteJoiner {
  readonly #partials = new Map<string, (string | undefined)[]>();

  /** The note that this text is or completes; undefined while pieces are missing. */
  add(route: Route, text: string): Note | undefined {
    if (!text.startsWith(MARK)) {
      const at = text.indexOf(" ");
      const json = text.slice(at + 1);
      return text.slice(0, at) === checksumOf(route, json) ? noteIn(json) : {};
    }
    const [, id, index, count, piece] = PIECE.exec(text) ?? [];
    if (piece === undefined || Number(count) > PIECES_MAX || Number(index) >= Number(count))
      return {};
    const key = `${id} ${count} ${route.from}`;
    const pieces = this.#partials.get(key) ?? this.#begin(key, Number(count));
    pieces[Number(index)] = piece;
    if (pieces.includes(undefined)) return undefined;
    this.#partials.delete(key);
    const packed = pieces.join("");
    return id === checksumOf(route, packed) ? noteIn(unpacked(packed)) : {};
  }

  #begin(key: string, count: number): (string | undefined)[] {
    const [oldest] = this.#partials.keys();
    if (this.#partials.size >= PARTIAL_MAX && oldest !== undefined) this.#partials.delete(oldest);
    const pieces = Array.from<string | undefined>({ length: count });
    this.#partials.set(key, pieces);
    return pieces;
  }
}

function checksumOf({ from, to }: Route, text: string): string {
  return crc32(`${from}\n${to}\n${text}`).toString(36);
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
