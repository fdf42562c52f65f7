/**
 * Cuts XML that comes in pieces into tags and text, and no more of XML than sitemaps need.
 *
 * Well-formedness is not judged: half the sitemaps of the web would fail. Two things are refused, a
 * document type with declarations of its own and entities beyond the five of XML, because they are
 * how a small file becomes a large one or reads other files. A tag, comment or run of text longer
 * than 1 MiB is refused too. One pass, no pattern that can go back.
 */

const PART_LENGTH_MAX = 1 << 20;

interface XmlHandler {
  /** Attributes as they stand in the tag, still coded. */
  open(name: string, attributes: string): void;
  close(name: string): void;
  /** Coded text, or text as it is from a CDATA section; one run may come in several pieces. */
  text(piece: string, isCoded: boolean): void;
}

type Found =
  | { readonly kind: "markup"; readonly end: number }
  | { readonly kind: "unfinished" }
  | { readonly kind: "refused" };

export class XmlCutter {
  readonly #handler: XmlHandler;
  #pending = "";

  constructor(handler: XmlHandler) {
    this.#handler = handler;
  }

  /** Answers false when the document is refused; nothing more should be given then. */
  push(piece: string): boolean {
    const text = this.#pending + piece;
    let at = 0;
    for (;;) {
      const open = text.indexOf("<", at);
      if (open < 0) break;
      if (open > at) this.#handler.text(text.slice(at, open), true);
      at = open;
      const found = markupAt(text, open);
      if (found.kind === "refused") return false;
      if (found.kind === "unfinished") break;
      if (found.end - open > PART_LENGTH_MAX) return false;
      this.#take(text.slice(open, found.end));
      at = found.end;
    }
    this.#pending = text.slice(at);
    return this.#pending.length <= PART_LENGTH_MAX;
  }

  #take(markup: string): void {
    if (markup.startsWith("<![CDATA[")) this.#handler.text(markup.slice(9, -3), false);
    else if (markup.startsWith("<!") || markup.startsWith("<?")) return;
    else if (markup.startsWith("</")) this.#handler.close(nameIn(markup, 2));
    else this.#takeOpening(markup);
  }

  #takeOpening(markup: string): void {
    const name = nameIn(markup, 1);
    const isEmpty = markup.endsWith("/>");
    this.#handler.open(name, markup.slice(1 + name.length, isEmpty ? -2 : -1));
    if (isEmpty) this.#handler.close(name);
  }
}

/** Undoes the five entities and numbers; undefined when there is another entity. */
export function decodeEntities(coded: string): string | undefined {
  if (!coded.includes("&")) return coded;
  let isForeign = false;
  const text = coded.replaceAll(/&(#?\w{1,32});/g, (whole, name: string) => {
    const character = name.startsWith("#") ? characterOf(name.slice(1)) : ENTITIES.get(name);
    if (character === undefined) isForeign = true;
    return character ?? whole;
  });
  return isForeign ? undefined : text;
}

/** One attribute after the other, each beginning where the one before ended. */
const ATTRIBUTE = /\s*([^\s=]+)\s*(?:=\s*(?:"([^"]*)"|'([^']*)'|[^\s"']*))?/gy;

/** The value of one attribute, decoded; undefined when it is not there or cannot be read. */
export function attributeOf(attributes: string, name: string): string | undefined {
  for (const match of attributes.matchAll(ATTRIBUTE))
    if (match[1] === name) return decodeEntities(match[2] ?? match[3] ?? "");
  return undefined;
}

function markupAt(text: string, open: number): Found {
  if (text.startsWith("<!--", open)) return endingWith(text, "-->", open + 4);
  if (text.startsWith("<![CDATA[", open)) return endingWith(text, "]]>", open + 9);
  if (text.startsWith("<?", open)) return endingWith(text, "?>", open + 2);
  // What begins like these may only be cut off; the next piece will tell.
  if ("<![CDATA[".startsWith(text.slice(open)) || "<!--".startsWith(text.slice(open)))
    return { kind: "unfinished" };
  const end = tagEnd(text, open + 1);
  if (text.startsWith("<!", open)) {
    const declaration = text.slice(open, end < 0 ? undefined : end);
    if (declaration.includes("[") || /^<!ENTITY/i.test(declaration)) return { kind: "refused" };
  }
  return end < 0 ? { kind: "unfinished" } : { kind: "markup", end };
}

function endingWith(text: string, ending: string, from: number): Found {
  const at = text.indexOf(ending, from);
  return at < 0 ? { kind: "unfinished" } : { kind: "markup", end: at + ending.length };
}

/** Just beyond the `>` that is not inside quotes; -1 when it has not come yet. */
function tagEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x3e) return at + 1;
    if (code !== 0x22 && code !== 0x27) continue;
    at = text.indexOf(text.charAt(at), at + 1);
    if (at < 0) return -1;
  }
  return -1;
}

/** Up to the first character that cannot be in a name: white space, a slash or the end. */
function nameIn(markup: string, from: number): string {
  let end = from;
  while (end < markup.length - 1 && !isNameEnd(markup.charCodeAt(end))) end += 1;
  return markup.slice(from, end);
}

function isNameEnd(code: number): boolean {
  return code <= 0x20 || code === 0x2f || code === 0x3e;
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

function characterOf(number: string): string | undefined {
  const isHex = /^x[0-9a-f]+$/i.test(number);
  if (!isHex && !/^\d+$/.test(number)) return undefined;
  const code = isHex ? Number.parseInt(number.slice(1), 16) : Number(number);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : undefined;
}
