/**
 * Classifies the bytes of links, for links that are resolved without a parser.
 *
 * The tables list the characters that the URL standard and canonicalisation leave unchanged; a byte in
 * doubt is unusual, and the link takes the slow path.
 */

export const BYTE = {
  hash: 0x23,
  dot: 0x2e,
  slash: 0x2f,
  equals: 0x3d,
  question: 0x3f,
  a: 0x61,
  h: 0x68,
  z: 0x7a,
} as const;

/** Kinds of bytes in a link. */
export const KIND = {
  unusual: 0,
  plain: 1,
  /** May begin a dot segment. */
  dot: 2,
  /** Escaped by the parser in a query, and only there. */
  apostrophe: 3,
  /** May belong to a session id. */
  session: 4,
  query: 5,
  fragment: 6,
  reference: 7,
  escape: 8,
  /** May end a scheme. */
  colon: 9,
} as const;

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const ALPHANUMERIC = `${LETTERS}${LETTERS.toUpperCase()}0123456789`;

/** Plain: characters that parser and canonicalisation leave unchanged in path and query. */
export const LINK_KINDS = kinds({
  [`${ALPHANUMERIC}-_~!$*+,=@/)`]: KIND.plain,
  ".": KIND.dot,
  "'": KIND.apostrophe,
  ";(": KIND.session,
  "?": KIND.query,
  "#": KIND.fragment,
  "&": KIND.reference,
  "%": KIND.escape,
  ":": KIND.colon,
});
const HOST_KINDS = kinds({ [`${LETTERS}0123456789-_`]: KIND.plain });
const IS_ALPHANUMERIC = kinds({ [ALPHANUMERIC]: KIND.plain });

const ACE = Buffer.from("xn--");
const AMP = Buffer.from("&amp;");

/** Bytes that the URL parser removes at both ends; NUL is not one, because HTML decoding replaces it first. */
export function isBlank(byte: number): boolean {
  return byte <= 0x20 && byte !== 0;
}

export function beginsWith(
  html: Uint8Array,
  start: number,
  end: number,
  text: Uint8Array,
): boolean {
  if (end - start < text.length) return false;
  for (let index = 0; index < text.length; index++)
    if (html[start + index] !== text[index]) return false;
  return true;
}

/** True if no byte before `at` ends the first segment, so that a colon there may end a scheme. */
export function isFirstSegment(html: Uint8Array, start: number, at: number): boolean {
  for (let before = start; before < at; before++)
    if (html[before] === BYTE.slash || html[before] === BYTE.question) return false;
  return true;
}

/** True if a segment may be `.` or `..`: it begins with a dot that no plain character follows. */
export function beginsDotSegment(html: Uint8Array, start: number, end: number): boolean {
  if (start >= end || html[start] !== BYTE.dot) return false;
  return start + 1 === end || IS_ALPHANUMERIC[html[start + 1] as number] === KIND.unusual;
}

/** True if `%` begins an escape in upper case of a character that must stay escaped. */
export function isCanonicalEscape(html: Uint8Array, percent: number, end: number): boolean {
  if (percent + 2 >= end) return false;
  const high = upperHex(html[percent + 1] as number);
  const low = upperHex(html[percent + 2] as number);
  if (high === -1 || low === -1) return false;
  const byte = high * 16 + low;
  const isUnreserved =
    IS_ALPHANUMERIC[byte] === KIND.plain ||
    byte === 0x2d ||
    byte === BYTE.dot ||
    byte === 0x5f ||
    byte === 0x7e;
  return !isUnreserved;
}

/**
 * Number of bytes of HTML for one ampersand: 5 as `&amp;`, 1 as itself, 0 if only a parser can tell.
 * In an attribute, letters and digits before `=` are never a reference (HTML, 13.2.5.73).
 */
export function ampersandLength(html: Uint8Array, start: number, end: number): number {
  if (beginsWith(html, start, end, AMP)) return AMP.length;
  let at = start + 1;
  while (at < end && IS_ALPHANUMERIC[html[at] as number] === KIND.plain) at += 1;
  if (at < end && html[at] === BYTE.equals) return 1;
  return at === start + 1 && html[at] !== BYTE.hash ? 1 : 0;
}

/** Index after a host name that is certainly canonical; -1 for all others. */
export function cleanHostEnd(html: Uint8Array, start: number, end: number): number {
  let at = start;
  let labelStart = start;
  for (; at < end; at++) {
    const byte = html[at] as number;
    if (HOST_KINDS[byte] === KIND.plain) continue;
    if (byte !== BYTE.dot) break;
    if (!isCleanLabel(html, labelStart, at)) return -1;
    labelStart = at + 1;
  }
  if (at - start > 253 || !isCleanLabel(html, labelStart, at)) return -1;
  // If the last label begins with a digit, the host may be an IPv4 address.
  const first = html[labelStart] as number;
  return first >= BYTE.a && first <= BYTE.z ? at : -1;
}

function isCleanLabel(html: Uint8Array, start: number, end: number): boolean {
  return end > start && end - start <= 63 && !beginsWith(html, start, end, ACE);
}

function upperHex(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  return byte >= 0x41 && byte <= 0x46 ? byte - 0x37 : -1;
}

function kinds(kindOf: Readonly<Record<string, number>>): Uint8Array {
  const table = new Uint8Array(256);
  for (const [characters, kind] of Object.entries(kindOf))
    for (const byte of Buffer.from(characters)) table[byte] = kind;
  return table;
}
