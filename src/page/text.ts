/**
 * The title and the visible text of a page, as a browser would show them.
 *
 * Character references are decoded, white space becomes one space, a block begins a new line, and characters
 * that could harm a terminal or a database (controls, lone surrogates) are removed. Scripts, styles, form
 * fields and templates have no text. Bounded in length and linear in the page.
 */

import { decodeHTML } from "entities/decode";
import { END_OF_PAGE, HtmlScanner } from "./html-scanner.ts";
import { GAP, type TextRuns } from "./text-runs.ts";

const TITLE_CHARACTERS_MAX = 512;
/** Bytes read for a title: more than any 512 characters need, including references and spaces. */
const TITLE_BYTES_MAX = 16_384;

// C0, DEL, C1 and marks that change the reading direction; white space among them is replaced before.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
/** Words of ASCII separated by single spaces: most titles, which need no cleaning. */
const CLEAN = /^[!-~]+(?: [!-~]+)*$/;
const BLANKS = /[\t\n\v\f\r \u00a0\u2028\u2029]+/g;

/** The text between two places of a page, on one line. */
export function titleText(html: Uint8Array, start: number, end: number): string {
  if (end <= start) return "";
  const text = decoded(html, start, Math.min(end, start + TITLE_BYTES_MAX));
  return cut(CLEAN.test(text) ? text : clean(text).trim(), TITLE_CHARACTERS_MAX);
}

/** The visible text of a page in UTF-8; blocks are lines. */
export function visibleText(html: Uint8Array, charactersMax: number): string {
  const scanner = new HtmlScanner({ tellImages: false });
  scanner.start(html);
  while (scanner.next() !== END_OF_PAGE);
  return textOfRuns(html, scanner.runs, { first: 0, behind: scanner.runs.count, charactersMax });
}

interface RunRange {
  readonly first: number;
  /** Index after the last run. */
  readonly behind: number;
  readonly charactersMax: number;
}

/** The text of some of the runs of a page. */
export function textOfRuns(html: Uint8Array, runs: TextRuns, range: RunRange): string {
  const pieces: string[] = [];
  let length = 0;
  let endsBlank = true;
  for (let run = range.first; run < range.behind && length < range.charactersMax; run++) {
    let piece = clean(decoded(html, runs.start(run), runs.end(run)));
    const gap = run === range.first ? GAP.none : runs.gap(run);
    if (gap === GAP.block) piece = `\n${piece.trimStart()}`;
    else if (endsBlank) piece = piece.trimStart();
    else if (gap === GAP.space) piece = ` ${piece.trimStart()}`;
    if (piece === "") continue;
    endsBlank = piece.endsWith(" ") || piece.endsWith("\n");
    length += piece.length;
    pieces.push(piece);
  }
  const text = pieces.join("").replaceAll(" \n", "\n").replace(/\n+/g, "\n");
  return cut(text.trim(), range.charactersMax);
}

function decoded(html: Uint8Array, start: number, end: number): string {
  const text = Buffer.from(html.buffer, html.byteOffset + start, end - start).toString("utf8");
  return text.includes("&") ? decodeHTML(text) : text;
}

function clean(text: string): string {
  return text.replace(BLANKS, " ").replace(CONTROLS, "").toWellFormed();
}

/** Cuts a text without splitting a surrogate pair. */
function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const last = text.charCodeAt(charactersMax - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? charactersMax - 1 : charactersMax);
}
