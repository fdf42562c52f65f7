/**
 * The visible text of a page as bytes, packed cheaply for sending it to another thread.
 *
 * The runs that the scanner found are copied one after the other, with a space or a newline
 * for each gap; character references are decoded when the text is unpacked. About 10 µs per page.
 */

import { decodeHTML } from "entities/decode";
import { GAP, type TextRuns } from "./text-runs.ts";

const BLANK = 0x20;
const LINE_END = 0x0a;
/** Shorter runs are copied faster by a loop than by a call. */
const COPY_BYTES_MIN = 96;

/** Buffer in which a text is assembled before it is copied. */
let room = new Uint8Array(65_536);

/** The text in an array of its own, cut at `bytesMax` bytes. */
export function packText(html: Uint8Array, runs: TextRuns, bytesMax: number): Uint8Array {
  // Each run is a part of the page, preceded by at most one byte.
  const needed = html.length + runs.count;
  if (room.length < needed) room = new Uint8Array(2 * needed);
  const to = room;
  let at = 0;
  for (let run = 0; run < runs.count && at < bytesMax; run++) {
    const gap = runs.gap(run);
    if (gap !== GAP.none) to[at++] = gap === GAP.block ? LINE_END : BLANK;
    const start = runs.start(run);
    const end = Math.min(runs.end(run), start + bytesMax - at);
    if (end - start >= COPY_BYTES_MIN) {
      to.set(html.subarray(start, end), at);
      at += end - start;
    } else for (let from = start; from < end; from++) to[at++] = html[from] as number;
  }
  return to.slice(0, at);
}

/** The text with its references decoded; white space is as in the page. */
export function unpackText(packed: Uint8Array): string {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const text = bytes.toString("utf8");
  return text.includes("&") ? decodeHTML(text) : text;
}

const AMPERSAND = 0x26;
const SEMICOLON = 0x3b;
const REFERENCE_BYTES_MAX = 32;
const REFERENCES_KEPT_MAX = 4_096;
/** Whether a reference, such as `&eacute;`, stands for letters or digits. */
const standsForWord = new Map<string, boolean>();

/**
 * The words of a text in UTF-8, for searching: other characters may have become spaces. Most references
 * stand for spaces, quotes and dashes, and are overwritten in the given text; only if one stands for
 * letters the whole text is decoded.
 */
export function wordBytes(packed: Uint8Array): Uint8Array {
  for (let at = packed.indexOf(AMPERSAND); at >= 0; at = packed.indexOf(AMPERSAND, at + 1)) {
    let end = at + 1;
    const endMax = Math.min(packed.length, at + REFERENCE_BYTES_MAX);
    while (end < endMax && packed[end] !== SEMICOLON) end += 1;
    if (end === endMax) continue;
    const reference = Buffer.from(packed.buffer, packed.byteOffset + at, end + 1 - at);
    if (isWord(reference.toString("latin1"))) return Buffer.from(unpackText(packed));
    packed.fill(BLANK, at, end + 1);
  }
  return packed;
}

function isWord(reference: string): boolean {
  const cached = standsForWord.get(reference);
  if (cached !== undefined) return cached;
  const hasWord = /[\p{L}\p{N}]/u.test(decodeHTML(reference));
  if (standsForWord.size >= REFERENCES_KEPT_MAX) standsForWord.clear();
  standsForWord.set(reference, hasWord);
  return hasWord;
}
