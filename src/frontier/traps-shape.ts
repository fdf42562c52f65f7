/**
 * Reduces a path and query to the shape they share with their siblings.
 *
 * Pages of one program differ in numbers, ids and parameter values: `/news/2019/17?page=3` and
 * `/news/2020/4?page=9` have the same shape. Case, double slashes and trailing slashes are ignored too, so
 * that spellings of one page have one shape. Words count, and so do percent escapes: they are words in most
 * of the world's languages. Shapes are 32-bit hashes, computed in one pass without building a string.
 */

export interface Shape {
  readonly segments: number;
  /** A sequence of segments occurs three times in a row: `/a/b/a/b/a/b`. */
  readonly repeats: boolean;
  /** Numbers, ids or values were left out, so that other URLs can have this shape. */
  readonly isCommon: boolean;
  /** Hash of the path alone, and of the path with its parameter names. */
  readonly path: number;
  readonly whole: number;
  /** Hash of the parameter names, on any path; 0 without a query. */
  readonly names: number;
  /** Hash of the parameters that look like session ids, on any path; 0 if there are none. */
  readonly session: number;
}

const HASH_START = 0x811c9dc5 | 0;
const HASH_FACTOR = 0x01000193;
const SLASH = 0x2f;
const PERCENT = 0x25;
const DIGITS_MARK = 0x30;
const ID_MARK = 0x23;
const NAMES_MARK = 0x3f;
const AMPERSAND = 0x26;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;

const OTHER = 0;
const DIGIT = 1;
const LETTER = 2;

/** The kind of each ASCII character, and the character in lower case; all others are letters. */
const KIND = new Uint8Array(128);
const LOWER = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code);
  KIND[code] = /\d/.test(character) ? DIGIT : /[a-z]/i.test(character) ? LETTER : OTHER;
  LOWER[code] = character.toLowerCase().charCodeAt(0);
}

/** Segments searched for repetition; longer paths are refused for their length. */
const SEGMENTS_SCANNED_MAX = 64;

// `shapeOf` is not re-entrant, so the hashes of one path's segments can be stored here.
const segmentHashes = new Int32Array(SEGMENTS_SCANNED_MAX);

export function shapeOf(path: string, query: string): Shape {
  let shape = HASH_START;
  let segments = 0;
  let isCommon = query !== "";
  let at = 0;
  while (at < path.length) {
    const start = at;
    let segment = HASH_START;
    let digits = 0;
    let changes = 0;
    let before = OTHER;
    for (; at < path.length; at++) {
      const code = path.charCodeAt(at);
      if (code === SLASH) break;
      const kind = code < 128 ? (KIND[code] as number) : LETTER;
      if (kind === DIGIT) {
        digits += 1;
        if (before !== DIGIT) segment = Math.imul(segment ^ DIGITS_MARK, HASH_FACTOR);
      } else {
        const lower = code < 128 ? (LOWER[code] as number) : code;
        segment = Math.imul(segment ^ lower, HASH_FACTOR);
        if (code === PERCENT && isCoded(path, at)) {
          segment = Math.imul(segment ^ percentCode(path, at), HASH_FACTOR);
          at += 2;
        }
      }
      if (kind + before === DIGIT + LETTER) changes += 1;
      before = kind;
    }
    if (at > start) {
      // Digits alternating with letters, or very many digits, are an id with any letters.
      const isId = (digits >= 4 && changes >= 3) || (digits >= 8 && at - start >= 16);
      if (isId) segment = ID_MARK;
      if (digits > 0) isCommon = true;
      if (segments < SEGMENTS_SCANNED_MAX) segmentHashes[segments] = segment;
      segments += 1;
      shape = Math.imul(shape ^ segment ^ (segment >>> 15), HASH_FACTOR);
    }
    at += 1;
  }
  const parameters = query === "" ? NO_PARAMETERS : parametersOf(query);
  return {
    segments,
    repeats: segments >= 3 && repeatsThrice(path, Math.min(segments, SEGMENTS_SCANNED_MAX)),
    isCommon,
    path: shape,
    whole: query === "" ? shape : Math.imul(shape ^ parameters.names, HASH_FACTOR) ^ NAMES_MARK,
    names: parameters.names,
    session: parameters.session,
  };
}

function isCoded(path: string, at: number): boolean {
  const first = KIND[path.charCodeAt(at + 1)] ?? OTHER;
  const second = KIND[path.charCodeAt(at + 2)] ?? OTHER;
  return first !== OTHER && second !== OTHER;
}

/** The two characters after a percent sign, as one letter. */
function percentCode(path: string, at: number): number {
  return (path.charCodeAt(at + 1) << 8) | path.charCodeAt(at + 2);
}

interface Parameters {
  readonly names: number;
  readonly session: number;
}

const NO_PARAMETERS: Parameters = { names: 0, session: 0 };

/** The set of parameter names, in any order; numbers in them are ignored. */
function parametersOf(query: string): Parameters {
  let names = 0;
  let session = 0;
  let name = HASH_START;
  let valueAt = -1;
  let valueDigits = 0;
  let before = OTHER;
  for (let at = 0; at <= query.length; at++) {
    const code = at < query.length ? query.charCodeAt(at) : AMPERSAND;
    const kind = code < 128 ? (KIND[code] as number) : LETTER;
    if (code === AMPERSAND || code === SEMICOLON) {
      const mixed = Math.imul(name ^ (name >>> 15), 0x2c1b3c6d);
      names = (names + mixed) | 0;
      const isSessionLike = valueAt >= 0 && at - valueAt >= 16 && valueDigits >= 4;
      if (isSessionLike) session = (session + mixed) | 0;
      name = HASH_START;
      valueAt = -1;
      valueDigits = 0;
    } else if (valueAt >= 0) {
      if (kind === DIGIT) valueDigits += 1;
    } else if (code === EQUALS) {
      valueAt = at + 1;
    } else if (kind !== DIGIT) {
      name = Math.imul(name ^ code, HASH_FACTOR);
    } else if (before !== DIGIT) {
      name = Math.imul(name ^ DIGITS_MARK, HASH_FACTOR);
    }
    before = kind;
  }
  return { names: names ^ (names >>> 13), session };
}

/** Finds candidates by their hashes, which leave out numbers, and then compares the path itself. */
function repeatsThrice(path: string, segments: number): boolean {
  for (let period = 1; period * 3 <= segments; period++) {
    let equal = 0;
    for (let at = 0; at + period < segments; at++) {
      equal = segmentHashes[at] === segmentHashes[at + period] ? equal + 1 : 0;
      if (equal >= 2 * period && repeatsExactly(path, at + 1 - 2 * period, period)) return true;
    }
  }
  return false;
}

/** Equal adjacent numbers are chance, so the repeated part must contain a letter. */
function repeatsExactly(path: string, first: number, period: number): boolean {
  const all = path.split("/").filter((segment) => segment !== "");
  const part = all.slice(first, first + period).join("/");
  const thrice = all.slice(first, first + 3 * period).join("/");
  return thrice === `${part}/${part}/${part}` && /[^\d/]/.test(part);
}
