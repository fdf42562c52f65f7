/**
 * Checks whether a body has the type of its Content-Type, by its first bytes only, after the MIME Sniffing
 * standard.
 *
 * Servers send archives as text/html and pages as images. A body declared as HTML that begins like a
 * binary format is not parsed; a body declared as another type that looks like a page is not parsed
 * either, by policy, but reported. Only a body without a usable type is classified by its bytes.
 */

export type BodyKind = "html" | "not_html" | "type_mismatch" | "other";

/** The standard's "resource header". */
const HEAD_BYTES = 1445;
/** Enough bytes to recognise most pages. */
const FIRST_LOOK_BYTES = 64;
const HTML_TYPES = new Set(["text/html", "application/xhtml+xml"]);
/** Types that servers send for unknown content. */
const UNKNOWN_TYPES = new Set(["", "unknown/unknown", "application/unknown", "*/*"]);

/** Tags that may begin HTML, followed by a space or `>`; a comment needs neither. */
const HTML_TAGS = "html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p";
const HTML_STARTS = new RegExp(
  `^(?:\\xef\\xbb\\xbf)?[\\t\\n\\f\\r ]*<(?:!--|(?:!doctype html|${HTML_TAGS})[ >])`,
  "i",
);

/**
 * First bytes of formats that are certainly not text, as Latin-1. Formats whose first bytes could
 * begin a sentence (`BM`, `ID3`) are recognised by the control bytes that follow.
 */
const BINARY_STARTS = [
  "%PDF-",
  "%!PS-Adobe-",
  "GIF87a",
  "GIF89a",
  "\x89PNG\r\n\x1a\n",
  "\xff\xd8\xff",
  "\0\0\x01\0",
  "\0\0\x02\0",
  "PK\x03\x04",
  "Rar!\x1a\x07",
  "\x1f\x8b\x08",
  "7z\xbc\xaf\x27\x1c",
  "\xfd7zXZ\0",
  "\x28\xb5\x2f\xfd",
  "OggS\0",
  "MThd\0\0\0\x06",
  "\x1aE\xdf\xa3",
  "\0\x01\0\0",
  "\x7fELF",
  "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
];

/** The essence of a media type: `type/subtype` in lower case, empty if there is none. */
export function essenceOf(contentType: string | undefined): string {
  const essence = (contentType ?? "").split(";", 1)[0] ?? "";
  return /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+$/.test(essence.trim())
    ? essence.trim().toLowerCase()
    : "";
}

export function judgeBody(contentType: string | undefined, body: Uint8Array): BodyKind {
  const essence = essenceOf(contentType);
  const head = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, HEAD_BYTES));
  const isPage = looksLikeHtml(head);
  if (HTML_TYPES.has(essence)) return !isPage && looksBinary(head) ? "not_html" : "html";
  if (!isPage) return "other";
  return UNKNOWN_TYPES.has(essence) ? "html" : "type_mismatch";
}

function looksLikeHtml(head: Buffer): boolean {
  return beginsLikeHtml(head.subarray(0, FIRST_LOOK_BYTES)) || beginsLikeHtml(head);
}

function beginsLikeHtml(head: Buffer): boolean {
  return HTML_STARTS.test(head.toString("latin1"));
}

/** True for a known signature or a byte that text never has, except after a byte order mark of UTF-16. */
function looksBinary(head: Buffer): boolean {
  const text = head.toString("latin1");
  if (text.startsWith("\xfe\xff") || text.startsWith("\xff\xfe")) return false;
  if (BINARY_STARTS.some((start) => text.startsWith(start))) return true;
  return BINARY_BYTES.test(text);
}

/** "Binary data bytes" of the standard except NUL, which broken pages contain and browsers accept. */
const BINARY_BYTES = /[\u0001-\u0008\u000b\u000e-\u001a\u001c-\u001f]/;
