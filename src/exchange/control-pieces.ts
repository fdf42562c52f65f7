/**
 * Control messages as texts that a bus can carry, and back.
 *
 * A message within `MESSAGE_BYTES_MAX` is a checksum and its JSON. A longer one is compressed and cut into pieces; each
 * names its message by a checksum, its place and the number of pieces. A message that lost a piece is lost.
 *
 * The reader trusts nothing: a text that is neither JSON of an object nor a piece, or that was altered, becomes a message
 * without fields, which its receiver drops and counts. Memory: at most `PARTIAL_MAX` incomplete messages; the oldest are
 * dropped first.
 */

import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import { type ControlMessage, MESSAGE_BYTES_MAX } from "./bus.ts";

/** First character of a piece; no checksum has it. */
const MARK = "~";
const PIECE = /^~([a-z0-9]{1,16}) (\d{1,3}) (\d{1,3}) ([A-Za-z0-9+/=]+)$/;
const PIECE_HEAD_BYTES = 32;
const PIECES_MAX = 16;
/** Of the JSON of one message. */
const WHOLE_BYTES_MAX = 16 * 2 ** 20;
const PARTIAL_MAX = 32;

/** Sender and addressee, which are part of the checksum. */
export interface Route {
  readonly from: string;
  readonly to: string;
}

/** Empty for a message that is too long even when compressed: it is lost. */
export function textsOf(route: Route, control: ControlMessage): string[] {
  const json = JSON.stringify(control);
  const text = `${checksumOf(route, json)} ${json}`;
  if (Buffer.byteLength(text) <= MESSAGE_BYTES_MAX) return [text];
  const packed = deflateRawSync(json).toString("base64");
  const room = MESSAGE_BYTES_MAX - PIECE_HEAD_BYTES;
  const count = Math.ceil(packed.length / room);
  if (count > PIECES_MAX) return [];
  const id = checksumOf(route, packed);
  return Array.from({ length: count }, (_, index) => {
    const piece = packed.slice(index * room, (index + 1) * room);
    return `${MARK}${id} ${index} ${count} ${piece}`;
  });
}

export class MessageJoiner {
  readonly #partials = new Map<string, (string | undefined)[]>();

  /** The message that this text is or completes; undefined while pieces are missing. */
  add(route: Route, text: string): ControlMessage | undefined {
    if (!text.startsWith(MARK)) {
      const at = text.indexOf(" ");
      const json = text.slice(at + 1);
      return text.slice(0, at) === checksumOf(route, json) ? messageIn(json) : {};
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
    return id === checksumOf(route, packed) ? messageIn(unpacked(packed)) : {};
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

function messageIn(text: string): ControlMessage {
  try {
    const value: unknown = JSON.parse(text);
    const isNote = typeof value === "object" && value !== null && !Array.isArray(value);
    return isNote ? (value as ControlMessage) : {};
  } catch {
    return {};
  }
}
