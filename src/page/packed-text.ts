/**
 * The visible text of a page as bytes, as cheaply as it can leave the thread that read the page.
 *
 * The stretches that the scanner found are copied one behind the other, with a blank or a line end
 * where a gap was; character references are left for whoever unpacks it. Some 10 µs for a page.
 */

import { decodeHTML } from "entities/decode";
import { GAP, type TextRuns } from "./text-runs.ts";

const BLANK = 0x20;
const LINE_END = 0x0a;
/** Below this a loop is faster than asking for a copy. */
const COPY_BYTES_MIN = 96;

/** Where texts are put together before they are copied. */
let room = new Uint8Array(65_536);

/** A copy of its own, cut at so many bytes. */
export function packText(html: Uint8Array, runs: TextRuns, bytesMax: number): Uint8Array {
  // Each run is a part of the page, and has one byte more before it at most.
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

/** The text itself, with its references decoded; white space is as it was in the page. */
export function unpackText(packed: Uint8Array): string {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const text = bytes.toString("utf8");
  return text.includes("&") ? decodeHTML(text) : text;
}

const AMPERSAND = 0x26;
const SEMICOLON = 0x3b;
const REFERENCE_BYTES_MAX = 32;
const REFERENCES_KEPT_MAX = 4_096;
/** Whether a reference, such as `&nbsp;`, stands for letters or digits. */
const saysSomething = new Map<string, boolean>();

/**
 * The words of a text in UTF-8, for finding them: what stands for no letter may have become a blank.
 * Most references stand for blanks, quotes and dashes, and are wiped out where they are, in the text
 * given; only where one is a letter the whole text is decoded.
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
  const kept = saysSomething.get(reference);
  if (kept !== undefined) return kept;
  const isSaid = /[\p{L}\p{N}]/u.test(decodeHTML(reference));
  if (saysSomething.size >= REFERENCES_KEPT_MAX) saysSomething.clear();
  saysSomething.set(reference, isSaid);
  return isSaid;
}
