/**
 * Reads a page once, byte by byte, and stops at the tags that matter for links.
 *
 * It is the tokenizer of the HTML standard (13.2.5) without everything that cannot change the position
 * of a tag: nothing is copied, no name is decoded, most tags are only skipped. Scripting
 * counts as off, so the content of `<noscript>` is read. It also records the runs of visible text, so
 * that code which hashes or prints the words need not search for them.
 *
 * The page must be UTF-8, or ASCII; see `charset.ts`. One scanner serves many pages, one at a time,
 * and its results for a tag or a page are valid until the next one. Linear in the bytes.
 */

import { decodeHTMLAttribute } from "entities/decode";
import {
  ATTRIBUTE,
  ATTRIBUTE_COUNT,
  ATTRIBUTE_TABLE,
  IS_SPACE,
  isInline,
  TAG,
  TAG_TABLE,
} from "./html-names.ts";
import { HtmlNest } from "./html-nest.ts";
import {
  afterCdata,
  afterComment,
  afterGreaterThan,
  afterSpaces,
  afterTag,
  rawTextEnd,
  scriptEnd,
  unquotedEnd,
} from "./html-skip.ts";
import { hashStep, isName, nameBytes } from "./name-table.ts";
import { GAP, TextRuns } from "./text-runs.ts";

/** Results of `next` besides the numbers of `TAG`. */
export const END_OF_PAGE = -1;
export const END_OF_ANCHOR = -2;
const NOTHING = 0;

const LESS_THAN = 0x3c;
const GREATER_THAN = 0x3e;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const AMPERSAND = 0x26;

const TEXT_HTML = Buffer.from("text/html");
const XHTML = Buffer.from("application/xhtml+xml");

const TAG_BYTES = nameBytes("\t\n\f\r />");
const ATTRIBUTE_BYTES = nameBytes("\t\n\f\r />=");

const IS_LETTER = new Uint8Array(256);
for (let byte = 0x61; byte <= 0x7a; byte++) IS_LETTER[byte] = IS_LETTER[byte - 0x20] = 1;
/** Bytes after a `<` that begins markup. */
const OPENS_MARKUP = Uint8Array.from(IS_LETTER);
for (const byte of Buffer.from("/!?")) OPENS_MARKUP[byte] = 1;

export class HtmlScanner {
  readonly runs = new TextRuns();
  /** Start and end of the text of the first title; both 0 without one. */
  titleStart = 0;
  titleEnd = 0;
  /** Index after the last tag that `next` returned. */
  tagEnd = 0;

  /** Tags that `next` returns, and tags whose attributes are read. */
  readonly #reported = new Uint8Array(256);
  readonly #read = new Uint8Array(256);
  /** End tags without effect, as long as no element is on the stack. */
  readonly #isPassedEnd = new Uint8Array(256).fill(1);
  readonly #nest = new HtmlNest();
  readonly #valueStart = new Int32Array(ATTRIBUTE_COUNT);
  readonly #valueEnd = new Int32Array(ATTRIBUTE_COUNT);
  #html: Uint8Array = new Uint8Array(0);
  /** The same bytes as a string, to search in. */
  #text = "";
  /** The attributes of the tag, one bit each. */
  #has = 0;
  #isSelfClosing = false;
  #gap: number = GAP.block;

  constructor(options: { readonly tellImages: boolean; readonly tellAnchorEnds?: boolean }) {
    for (let tag: number = TAG.a; tag <= TAG.html; tag++) this.#reported[tag] = 1;
    if (!options.tellImages) this.#reported.fill(0, TAG.img, TAG.source + 1);
    this.#read.set(this.#reported);
    this.#read[TAG.svg] = 1;
    this.#read[TAG.math] = 1;
    if (options.tellAnchorEnds === true) this.#isPassedEnd[TAG.a] = 0;
  }

  start(html: Uint8Array): void {
    this.#html = html;
    this.#text = Buffer.from(html.buffer, html.byteOffset, html.length).toString("latin1");
    this.#nest.reset();
    this.runs.reset();
    this.titleStart = 0;
    this.titleEnd = 0;
    this.tagEnd = 0;
    this.#gap = GAP.block;
  }

  /**
   * The next start tag of those in `TAG` that can contain a link, `END_OF_PAGE`, or, with `tellAnchorEnds`,
   * `END_OF_ANCHOR`.
   */
  next(): number {
    const html = this.#html;
    const end = html.length;
    let at = this.tagEnd;
    while (at < end) {
      if (!opensMarkup(html, at)) {
        at = this.#passText(html, at);
        if (at >= end) break;
      }
      const open = at;
      const isEndTag = html[open + 1] === SLASH;
      const nameStart = isEndTag ? open + 2 : open + 1;
      if (nameStart >= end || IS_LETTER[html[nameStart] as number] === 0) {
        at = this.#afterOddity(html, open);
        continue;
      }
      at = nameStart;
      let hash = 0;
      while (at < end) {
        const lower = TAG_BYTES[html[at] as number] as number;
        if (lower === 0) break;
        hash = hashStep(hash, lower);
        at += 1;
      }
      const tag = TAG_TABLE.find(html, nameStart, at - nameStart, hash);
      if (!isInline(tag)) this.#gap = GAP.block;
      // Most tags have no effect and are skipped here.
      const isPassed = isEndTag ? this.#isPassedEnd[tag] === 1 : isPlain(tag);
      if (isPassed && this.#nest.isEmpty) {
        at = at < end && html[at] === GREATER_THAN ? at + 1 : afterTag(html, this.#text, at);
        continue;
      }
      const found = isEndTag ? this.#endTag(html, tag, at) : this.#startTag(html, tag, at);
      if (found !== NOTHING) return found;
      at = this.tagEnd;
    }
    this.tagEnd = end;
    return END_OF_PAGE;
  }

  has(attribute: number): boolean {
    return ((this.#has >>> attribute) & 1) === 1;
  }

  valueStart(attribute: number): number {
    return this.#valueStart[attribute] as number;
  }

  valueEnd(attribute: number): number {
    return this.#valueEnd[attribute] as number;
  }

  /** The decoded value of an attribute of the last tag; empty if it is missing. */
  value(attribute: number): string {
    if (!this.has(attribute)) return "";
    return attributeText(this.#html, this.valueStart(attribute), this.valueEnd(attribute));
  }

  /** True if an attribute has this value, given in lower case, in any case. */
  valueIs(attribute: number, value: Buffer): boolean {
    if (!this.has(attribute)) return false;
    const start = this.valueStart(attribute);
    const end = this.valueEnd(attribute);
    if (isName(this.#html, start, end, value)) return true;
    let at = start;
    while (at < end && this.#html[at] !== AMPERSAND) at += 1;
    return at < end && this.value(attribute).toLowerCase() === value.toString();
  }

  /** Index of the next `<` that begins markup; the text before it becomes a run. */
  #passText(html: Uint8Array, from: number): number {
    const end = html.length;
    const start = afterSpaces(html, from);
    if (start > from && this.#gap === GAP.none) this.#gap = GAP.space;
    if (start >= end) return end;
    let at = start;
    if (!opensMarkup(html, at)) {
      at = this.#text.indexOf("<", start);
      while (at !== -1 && at + 1 < end && OPENS_MARKUP[html[at + 1] as number] === 0)
        at = this.#text.indexOf("<", at + 1);
      // A `<` at the end of the page is text as well.
      if (at === -1 || at + 1 >= end) at = end;
    }
    if (at > start && !this.#nest.hidesText) {
      this.runs.add(start, at, this.#gap);
      this.#gap = GAP.none;
    }
    return at;
  }

  /** Index after a comment, a declaration, or other markup that is not a tag. */
  #afterOddity(html: Uint8Array, open: number): number {
    const text = this.#text;
    if (text.startsWith("<!--", open)) return afterComment(html, text, open);
    if (text.startsWith("<![CDATA[", open) && this.#nest.isForeign)
      return afterCdata(html, text, open + 9);
    return afterGreaterThan(html, text, open + 2);
  }

  #startTag(html: Uint8Array, tag: number, nameEnd: number): number {
    if (!this.#nest.isEmpty && this.#nest.isForeign) return this.#foreignTag(html, tag, nameEnd);
    return this.#htmlTag(html, tag, nameEnd);
  }

  #htmlTag(html: Uint8Array, tag: number, nameEnd: number): number {
    const isRead = this.#read[tag] === 1;
    const close = isRead
      ? this.#readAttributes(html, nameEnd)
      : afterTag(html, this.#text, nameEnd);
    this.tagEnd = close;
    if (close > html.length) return NOTHING;
    if (tag >= TAG.script && tag <= TAG.math) this.#openSpecial(html, tag, close);
    if (tag === TAG.iframe) this.tagEnd = this.#rawTextEnd(html, close, tag);
    return this.#reported[tag] === 1 && !this.#nest.inTemplate ? tag : NOTHING;
  }

  /** Opens an element that changes the rules for the bytes after it. */
  #openSpecial(html: Uint8Array, tag: number, close: number): void {
    if (tag >= TAG.template) {
      if (tag === TAG.template || !this.#isSelfClosing) this.#nest.open(tag, false);
    } else if (tag === TAG.script) this.tagEnd = scriptEnd(html, this.#text, close);
    else if (tag === TAG.plaintext) this.tagEnd = html.length;
    else this.tagEnd = this.#rawTextEnd(html, close, tag);
    if (tag === TAG.title && this.titleStart === 0 && !this.#nest.inTemplate) {
      this.titleStart = close;
      this.titleEnd = Math.min(this.tagEnd, html.length);
    }
  }

  #rawTextEnd(html: Uint8Array, from: number, tag: number): number {
    return rawTextEnd(html, this.#text, from, TAG_TABLE.nameOf(tag));
  }

  #foreignTag(html: Uint8Array, tag: number, nameEnd: number): number {
    const close = this.#readAttributes(html, nameEnd);
    this.tagEnd = close;
    if (close > html.length) return NOTHING;
    const isStyled =
      this.has(ATTRIBUTE.color) || this.has(ATTRIBUTE.face) || this.has(ATTRIBUTE.size);
    this.#nest.breakOut(tag, isStyled);
    if (!this.#nest.isForeign) return this.#htmlTag(html, tag, nameEnd);
    if (!this.#isSelfClosing) this.#nest.open(tag, this.#declaresHtml());
    return tag === TAG.a && !this.#nest.inTemplate ? tag : NOTHING;
  }

  #endTag(html: Uint8Array, tag: number, nameEnd: number): number {
    this.tagEnd = afterTag(html, this.#text, nameEnd);
    if (!this.#nest.isEmpty) this.#nest.close(tag);
    return this.#isPassedEnd[tag] === 0 ? END_OF_ANCHOR : NOTHING;
  }

  /** Records the positions of the values of the attributes in `ATTRIBUTE`; returns the index after the `>`. */
  #readAttributes(html: Uint8Array, from: number): number {
    const end = html.length;
    let at = from;
    this.#has = 0;
    for (;;) {
      const between = at;
      while (at < end && (IS_SPACE[html[at] as number] === 1 || html[at] === SLASH)) at += 1;
      if (at >= end) return end + 1;
      if (html[at] === GREATER_THAN) {
        this.#isSelfClosing = at > between && html[at - 1] === SLASH;
        return at + 1;
      }
      // The first byte always belongs to the name, even an equals sign.
      const nameStart = at;
      let hash = TAG_BYTES[html[at] as number] as number;
      at += 1;
      while (at < end) {
        const lower = ATTRIBUTE_BYTES[html[at] as number] as number;
        if (lower === 0) break;
        hash = hashStep(hash, lower);
        at += 1;
      }
      const attribute = ATTRIBUTE_TABLE.find(html, nameStart, at - nameStart, hash);
      at = afterSpaces(html, at);
      if (at < end && html[at] === EQUALS)
        at = this.#readValue(html, afterSpaces(html, at + 1), attribute);
      else this.#record(attribute, at, at);
    }
  }

  #readValue(html: Uint8Array, start: number, attribute: number): number {
    const quote = start < html.length ? html[start] : GREATER_THAN;
    if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) {
      const end = unquotedEnd(html, start);
      this.#record(attribute, start, end);
      return end;
    }
    const close = this.#text.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", start + 1);
    if (close === -1) return html.length;
    this.#record(attribute, start + 1, close);
    return close + 1;
  }

  /** Of several attributes with the same name the first counts. */
  #record(attribute: number, start: number, end: number): void {
    if (attribute === -1 || this.has(attribute)) return;
    this.#has |= 1 << attribute;
    this.#valueStart[attribute] = start;
    this.#valueEnd[attribute] = end;
  }

  #declaresHtml(): boolean {
    return this.valueIs(ATTRIBUTE.encoding, TEXT_HTML) || this.valueIs(ATTRIBUTE.encoding, XHTML);
  }
}

/** True if the byte is a `<` that begins markup. */
function opensMarkup(html: Uint8Array, at: number): boolean {
  if (html[at] !== LESS_THAN || at + 1 >= html.length) return false;
  return OPENS_MARKUP[html[at + 1] as number] === 1;
}

/** True for start tags without effect, as long as no element is on the stack. */
function isPlain(tag: number): boolean {
  return tag === TAG.other || tag > TAG.math;
}

/** The text of an attribute value: character references decoded, NUL replaced. */
export function attributeText(html: Uint8Array, start: number, end: number): string {
  const text = Buffer.from(html.buffer, html.byteOffset + start, end - start).toString("utf8");
  return decodeHTMLAttribute(text.replaceAll("\0", "\ufffd"));
}
