/**
 * Finds the end of the parts of HTML without links: tags, comments, scripts, raw text.
 *
 * Each function takes the index where a part begins and returns the index where it ends, exactly as in the
 * tokenizer of the HTML standard (13.2.5). A part cut off by the end of the page
 * ends at `html.length + 1`, so that it is not taken for complete.
 *
 * The page is given twice, as bytes and as a string of the same bytes (Latin-1): bytes are fast to
 * read one by one, a string to search. A search never goes beyond the part it belongs to, except to the end of the
 * page, so the total is linear. No byte after the end is read: one such read would make the engine
 * compile all reads of that kind as slow ones.
 */

import { ENDS_NAME, IS_SPACE } from "./html-names.ts";
import { isName } from "./name-table.ts";

const LESS_THAN = 0x3c;
const GREATER_THAN = 0x3e;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const DASH = 0x2d;
const BANG = 0x21;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const SCRIPT = Buffer.from("script");

/** Bytes with a meaning between the attributes of a tag; all others are parts of names. */
const SHAPES_TAG = new Uint8Array(256);
for (const byte of Buffer.from("\t\n\f\r />=")) SHAPES_TAG[byte] = 1;

/**
 * Index after the `>` of a tag whose name ends at `from`.
 *
 * Only `=` and `>` are examined: an equals sign directly after a byte of a name begins its value. All other equals
 * signs are rare and left to the slow path.
 */
export function afterTag(html: Uint8Array, text: string, from: number): number {
  const end = html.length;
  let at = from;
  let valueEnd = from;
  while (at < end) {
    const byte = html[at] as number;
    if (byte === GREATER_THAN) return at + 1;
    if (byte === EQUALS) {
      if (at === valueEnd || SHAPES_TAG[html[at - 1] as number] === 1)
        return afterOddTag(html, text, from);
      at = afterValue(html, text, at + 1);
      valueEnd = at;
    } else at += 1;
  }
  return end + 1;
}

function afterOddTag(html: Uint8Array, text: string, from: number): number {
  const end = html.length;
  let at = from;
  let named = false;
  while (at < end) {
    const byte = html[at] as number;
    at += 1;
    if (SHAPES_TAG[byte] === 0) named = true;
    else if (byte === GREATER_THAN) return at;
    else if (byte === SLASH) named = false;
    else if (byte === EQUALS) {
      // An equals sign without a name before it begins a name itself.
      if (named) at = afterValue(html, text, at);
      named = !named;
    }
  }
  return end + 1;
}

/** Index after a quoted value; of the `>` or space after an unquoted or missing one. */
function afterValue(html: Uint8Array, text: string, from: number): number {
  const start = afterSpaces(html, from);
  if (start >= html.length) return start;
  const quote = html[start];
  if (quote === DOUBLE_QUOTE) return behind(html, text.indexOf('"', start + 1));
  if (quote === SINGLE_QUOTE) return behind(html, text.indexOf("'", start + 1));
  return unquotedEnd(html, start);
}

export function afterSpaces(html: Uint8Array, from: number): number {
  const end = html.length;
  let at = from;
  while (at < end && IS_SPACE[html[at] as number] === 1) at += 1;
  return at;
}

export function unquotedEnd(html: Uint8Array, from: number): number {
  const end = html.length;
  let at = from;
  while (at < end && html[at] !== GREATER_THAN && IS_SPACE[html[at] as number] === 0) at += 1;
  return at;
}

/** Index after a comment whose `<!--` is at `open`; its opening dashes may also close it. */
export function afterComment(html: Uint8Array, text: string, open: number): number {
  let at = text.indexOf(">", open + 4);
  while (at !== -1) {
    if (html[at - 1] === DASH && html[at - 2] === DASH) return at + 1;
    const isBanged = html[at - 1] === BANG && html[at - 2] === DASH && html[at - 3] === DASH;
    if (isBanged && at - 3 >= open + 4) return at + 1;
    at = text.indexOf(">", at + 1);
  }
  return html.length + 1;
}

/** Index after the next `>`: doctypes, and bogus comments in the words of the standard. */
export function afterGreaterThan(html: Uint8Array, text: string, from: number): number {
  return behind(html, text.indexOf(">", from));
}

/** Index after `]]>`. */
export function afterCdata(html: Uint8Array, text: string, from: number): number {
  const found = text.indexOf("]]>", from);
  return found === -1 ? html.length + 1 : found + 3;
}

/** Index of the `</` of the end tag that closes raw text, or after the page. */
export function rawTextEnd(html: Uint8Array, text: string, from: number, name: Uint8Array): number {
  let at = text.indexOf("</", from);
  while (at !== -1 && !isWholeName(html, at + 2, name)) at = text.indexOf("</", at + 2);
  return at === -1 ? html.length + 1 : at;
}

/** Index of the `</script` that closes a script. */
export function scriptEnd(html: Uint8Array, text: string, from: number): number {
  const first = rawTextEnd(html, text, from, SCRIPT);
  return text.slice(from, first).includes("<!--") ? escapedScriptEnd(html, from) : first;
}

/**
 * Within `<!-- -->` a further `<script` opens an inner script, whose end tag does not close the
 * outer one: the escaped and doubly escaped states of the standard.
 */
function escapedScriptEnd(html: Uint8Array, from: number): number {
  const end = html.length;
  let escapes = 0;
  let escapedFrom = 0;
  for (let at = from; at < end; at++) {
    const byte = html[at];
    if (byte === LESS_THAN) {
      const next = html[at + 1];
      if (next === SLASH) {
        if (!isWholeName(html, at + 2, SCRIPT)) continue;
        if (escapes < 2) return at;
        escapes = 1;
      } else if (next === BANG && escapes === 0) {
        if (html[at + 2] !== DASH || html[at + 3] !== DASH) continue;
        escapes = 1;
        escapedFrom = at + 2;
        at += 3;
      } else if (escapes === 1 && isWholeName(html, at + 1, SCRIPT)) escapes = 2;
    } else if (byte === GREATER_THAN && escapes > 0) {
      const isDashed = html[at - 1] === DASH && html[at - 2] === DASH;
      if (isDashed && at - 2 >= escapedFrom) escapes = 0;
    }
  }
  return end + 1;
}

function isWholeName(html: Uint8Array, start: number, name: Uint8Array): boolean {
  const end = start + name.length;
  if (end >= html.length || ENDS_NAME[html[end] as number] === 0) return false;
  return isName(html, start, end, name);
}

function behind(html: Uint8Array, found: number): number {
  return found === -1 ? html.length + 1 : found + 1;
}
