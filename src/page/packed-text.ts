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

const NOTHING = new Uint8Array(0);

/** A copy of its own, cut at so many bytes. */
export function packText(html: Uint8Array, runs: TextRuns, bytesMax: number): Uint8Array {
  let bytes = 0;
  for (let run = 0; run < runs.count && bytes < bytesMax; run++)
    bytes += runs.end(run) - runs.start(run) + 1;
  if (bytes === 0) return NOTHING;
  const packed = new Uint8Array(Math.min(bytes, bytesMax));
  let at = 0;
  for (let run = 0; run < runs.count && at < packed.length; run++) {
    const gap = runs.gap(run);
    if (gap !== GAP.none) packed[at++] = gap === GAP.block ? LINE_END : BLANK;
    const start = runs.start(run);
    const end = Math.min(runs.end(run), start + packed.length - at);
    if (end - start >= COPY_BYTES_MIN) {
      packed.set(html.subarray(start, end), at);
      at += end - start;
    } else for (let from = start; from < end; from++) packed[at++] = html[from] as number;
  }
  return packed.subarray(0, at);
}

/** The text itself, with its references decoded; white space is as it was in the page. */
export function unpackText(packed: Uint8Array): string {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const text = bytes.toString("utf8");
  return text.includes("&") ? decodeHTML(text) : text;
}
