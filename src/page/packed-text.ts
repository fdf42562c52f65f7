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
