/**
 * Finds the encoding declared in the first bytes of a page, as in the HTML standard (13.2.3.2, "prescan a
 * byte stream to determine its encoding"): in meta tags, skipping comments and other tags by the prescan's own
 * simple rules, else in an XML declaration.
 */

export const PRESCAN_BYTES = 1024;

/** The encoding of a label, if there is one. */
type EncodingNamed = (label: string) => string | undefined;

interface Attribute {
  readonly name: string;
  readonly value: string;
  readonly end: number;
}

const META = /<meta[\t\n\f\r /]/iy;
const TAG = /<\/?[a-z]/iy;
const OTHER_MARKUP = /<[!/?]/y;
const BLANKS = /[\t\n\f\r ]*/y;
const BLANKS_AND_SLASHES = /[\t\n\f\r /]*/y;
const TAG_NAME = /[^\t\n\f\r >]*/y;
const ATTRIBUTE_NAME = /[^\t\n\f\r />=]*/y;

export function prescan(head: Uint8Array, encodingNamed: EncodingNamed): string | undefined {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString("latin1");
  let at = 0;
  while (at < text.length) {
    at = text.indexOf("<", at);
    if (at === -1) break;
    if (text.startsWith("<!--", at)) at = endOr(text, text.indexOf("-->", at + 2), 3);
    else if (isAt(META, text, at)) {
      const meta = readMeta(text, at + 5, encodingNamed);
      if (meta.encoding !== undefined) return meta.encoding;
      at = meta.end;
    } else if (isAt(TAG, text, at)) at = tagEnd(text, at);
    else if (isAt(OTHER_MARKUP, text, at)) at = endOr(text, text.indexOf(">", at), 1);
    else at += 1;
  }
  return xmlEncoding(text, encodingNamed);
}

function isAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

/** Index after the match at `at`, which may be empty. */
function behind(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.test(text);
  return pattern.lastIndex;
}

function endOr(text: string, found: number, length: number): number {
  return found === -1 ? text.length : found + length;
}

function tagEnd(text: string, start: number): number {
  let at = behind(TAG_NAME, text, start);
  for (;;) {
    const attribute = readAttribute(text, at);
    if (attribute === undefined) break;
    at = attribute.end;
  }
  return Math.max(at, start + 1);
}

/** A meta tag counts with a charset, or with one in its content and `http-equiv=content-type`. */
function readMeta(
  text: string,
  start: number,
  encodingNamed: EncodingNamed,
): { encoding: string | undefined; end: number } {
  const seen = new Set<string>();
  let at = start;
  let gotPragma = false;
  let needsPragma: boolean | undefined;
  let encoding: string | undefined;
  for (;;) {
    const attribute = readAttribute(text, at);
    if (attribute === undefined) break;
    at = attribute.end;
    if (seen.has(attribute.name)) continue;
    seen.add(attribute.name);
    if (attribute.name === "http-equiv") gotPragma = attribute.value === "content-type";
    else if (attribute.name === "content" && encoding === undefined) {
      encoding = encodingNamed(charsetInContent(attribute.value));
      if (encoding !== undefined) needsPragma = true;
    } else if (attribute.name === "charset") {
      encoding = encodingNamed(attribute.value.trim());
      needsPragma = false;
    }
  }
  at = behind(BLANKS_AND_SLASHES, text, at);
  // A tag cut off at the end of the first bytes declares nothing.
  const isWhole = text[at] === ">";
  const counts = isWhole && needsPragma !== undefined && (!needsPragma || gotPragma);
  return { encoding: counts ? asDeclared(encoding) : undefined, end: isWhole ? at : text.length };
}

/** The encoding of a declaration that is readable as ASCII, which excludes UTF-16. */
function asDeclared(encoding: string | undefined): string | undefined {
  if (encoding?.startsWith("utf-16") === true) return "utf-8";
  return encoding === "x-user-defined" ? "windows-1252" : encoding;
}

/** "Get an attribute" of the standard: names and values in lower case. */
function readAttribute(text: string, start: number): Attribute | undefined {
  const nameStart = behind(BLANKS_AND_SLASHES, text, start);
  if (nameStart >= text.length || text[nameStart] === ">") return undefined;
  let at = behind(ATTRIBUTE_NAME, text, nameStart + 1);
  const name = text.slice(nameStart, at).toLowerCase();
  at = behind(BLANKS, text, at);
  if (text[at] !== "=") return { name, value: "", end: at };
  at = behind(BLANKS, text, at + 1);
  const quote = text[at];
  if (quote === '"' || quote === "'") {
    const close = text.indexOf(quote, at + 1);
    if (close === -1) return undefined;
    return { name, value: text.slice(at + 1, close).toLowerCase(), end: close + 1 };
  }
  const end = behind(TAG_NAME, text, at);
  return { name, value: text.slice(at, end).toLowerCase(), end };
}

/** "Extract a character encoding from a meta element": the value after `charset=` in a content. */
function charsetInContent(content: string): string {
  const match =
    /charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^"'\t\n\f\r ;][^\t\n\f\r ;]*))/.exec(
      content,
    );
  return match?.[1] ?? match?.[2] ?? match?.[3] ?? "";
}

const XML_ENCODING = /^<\?xml[^>]*?encoding[\0- ]*=[\0- ]*(?:"([^">\0- ]*)"|'([^'>\0- ]*)')/;

function xmlEncoding(text: string, encodingNamed: EncodingNamed): string | undefined {
  const match = XML_ENCODING.exec(text);
  return asDeclared(encodingNamed(match?.[1] ?? match?.[2] ?? ""));
}
