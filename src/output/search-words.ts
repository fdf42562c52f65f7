/**
 * Cuts text into the words by which it can be found, straight from its bytes in UTF-8.
 *
 * A word is a row of letters and digits, without case and without accents; each is known by a 64-bit
 * name, worked out while it is read. Chinese and Japanese write no blanks: each of their characters is
 * a word, and several are a phrase. Two different words have one name by accident once in 10^13
 * pairs, and whoever makes such a pair on purpose finds a page too much. About 3 ns a byte.
 *
 * Text beyond ASCII is first folded: what separates becomes a blank, an accented letter the bare one,
 * any other letter its code in pieces of seven bits, each marked by the eighth.
 */

import { isAscii } from "node:buffer";
import { LANE_A_START, LANE_B_START } from "../url/fingerprint.ts";

/** What a character may be besides a letter with this code. */
const SEPARATOR = 0;
const IGNORED = 1;
const BLANK = 0x20;
/** Set in four bytes of which one is beyond ASCII. */
const WIDE_FOUR = 0x80808080 | 0;
const BLOCK = 256;
const WORDS_AT_FIRST = 4_096;
/** The prime of FNV (Fowler, Noll, Vo), and one of xxHash (Collet). */
const PRIME_A = 0x01000193;
const PRIME_B = 0x85ebca77 | 0;

/** Bytes of words, letters in lower case; 0 for what stands between them. */
const FOLDED = new Uint8Array(256);
for (let byte = 0x80; byte < 256; byte++) FOLDED[byte] = byte;
for (let digit = 0x30; digit <= 0x39; digit++) FOLDED[digit] = digit;
for (let letter = 0x61; letter <= 0x7a; letter++) FOLDED[letter] = FOLDED[letter - 0x20] = letter;

/** The folding of characters beyond ASCII, 256 at a time, made when first met. */
const blocks: (Uint16Array | undefined)[] = [];

export class WordScanner {
  count = 0;
  /** The name of each word. */
  high = new Int32Array(WORDS_AT_FIRST);
  low = new Int32Array(WORDS_AT_FIRST);
  /** Where each ends in the folded text. */
  #end = new Int32Array(WORDS_AT_FIRST);
  #text: Uint8Array = new Uint8Array(0);
  #room: Uint8Array = new Uint8Array(0);

  /** Finds the words of a text, at most so many. */
  scan(text: Uint8Array, wordsMax = Infinity): void {
    this.#text = this.#folded(text);
    this.#makeRoom(this.#text.length);
    this.count = Math.min(wordsMax, this.#name(this.#text));
    const { high, low } = this;
    // What came last has not reached the low bits of either lane yet, nor the first the high ones.
    for (let word = 0; word < this.count; word++) {
      const [a, b] = [high[word] as number, low[word] as number];
      high[word] = Math.imul(a ^ (b >>> 15), PRIME_B);
      low[word] = Math.imul(b ^ (a >>> 13), PRIME_A);
    }
  }

  /** Writes the letters of a word as the index keeps them, at most so many; answers how many. */
  letters(word: number, to: Uint8Array, lettersMax: number): number {
    const end = this.#end[word] as number;
    let start = end;
    while (start > 0 && FOLDED[this.#text[start - 1] as number] !== SEPARATOR) start -= 1;
    const length = Math.min(end - start, lettersMax);
    for (let at = 0; at < length; at++) to[at] = FOLDED[this.#text[start + at] as number] as number;
    return length;
  }

  /**
   * Names every word; answers how many there are. Where a word ends nobody can foretell, so nothing
   * here branches on it: the name so far is written down at every byte, and the place moves on behind
   * the last byte of a word only.
   */
  #name(text: Uint8Array): number {
    const [high, low, ends, folds] = [this.high, this.low, this.#end, FOLDED];
    const [startA, startB] = [LANE_A_START | 0, LANE_B_START | 0];
    const length = text.length;
    let a = startA;
    let b = startB;
    /** All bits set within a word, none between words. */
    let within = 0;
    let count = 0;
    for (let at = 0; at < length; at++) {
      const folded = folds[text[at] as number] as number;
      const isPart = -folded >> 31;
      high[count] = a;
      low[count] = b;
      ends[count] = at;
      count = (count - (within & ~isPart)) | 0;
      // Within a word the next step of each lane, between words its start.
      a = startA ^ ((startA ^ Math.imul(a ^ folded, PRIME_A)) & isPart);
      b = startB ^ ((startB ^ Math.imul(b ^ folded, PRIME_B)) & isPart);
      within = isPart;
    }
    high[count] = a;
    low[count] = b;
    ends[count] = length;
    return count - within;
  }

  /** A copy, in memory of one kind whatever came: what reads it is then as fast as it can be. */
  #folded(text: Uint8Array): Uint8Array {
    // Of three bytes at most five come: a character with blanks around it.
    if (this.#room.length < 2 * text.length + 8) this.#room = new Uint8Array(4 * (text.length + 2));
    const room = this.#room;
    room.set(text);
    if (!isAscii(text)) {
      const { length } = text;
      const fours = new Int32Array(room.buffer);
      for (let at = 0; at < length; at++) {
        while ((at & 3) === 0 && at < length && ((fours[at >> 2] as number) & WIDE_FOUR) === 0)
          at += 4;
        if (at >= length) break;
        if ((room[at] as number) < 0x80) continue;
        const { code, bytes } = characterAt(text, at);
        // Quotes, dashes and blanks are most of what an English page has beyond ASCII.
        if (foldedCode(code) !== SEPARATOR) return this.#foldedFrom(text, at);
        room.fill(BLANK, at, at + bytes);
        at += bytes - 1;
      }
    }
    return room.subarray(0, text.length);
  }

  /** The rest of a text in which letters beyond ASCII have been met. */
  #foldedFrom(text: Uint8Array, from: number): Uint8Array {
    const room = this.#room;
    let end = from;
    for (let at = from; at < text.length;) {
      const byte = text[at] as number;
      if (byte < 0x80) {
        room[end++] = byte;
        at += 1;
      } else {
        const { code, bytes } = characterAt(text, at);
        end = writeFolded(code, room, end);
        at += bytes;
      }
    }
    return room.subarray(0, end);
  }

  #makeRoom(bytes: number): void {
    // Words have something between them; and one place more is written to.
    const words = (bytes >> 1) + 2;
    if (words <= this.high.length) return;
    this.high = new Int32Array(2 * words);
    this.low = new Int32Array(2 * words);
    this.#end = new Int32Array(2 * words);
  }
}

/** Whether two texts are the same to the index, once both are folded. */
export function foldedText(text: string): string {
  let folded = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const letter = code < 0x80 ? (FOLDED[code] as number) : foldedCode(code);
    if (letter > IGNORED) folded += String.fromCodePoint(letter);
  }
  return folded;
}

/** What is no UTF-8 is a separator of one byte. */
function characterAt(text: Uint8Array, at: number): { code: number; bytes: number } {
  const first = text[at] as number;
  const more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  const broken = { code: 0, bytes: 1 };
  if (first < 0xc2 || at + more >= text.length) return broken;
  let code = first & (0x3f >> more);
  for (let next = 1; next <= more; next++) {
    const byte = text[at + next] as number;
    if ((byte & 0xc0) !== 0x80) return broken;
    code = (code << 6) | (byte & 0x3f);
  }
  return code > 0x10ffff ? broken : { code, bytes: more + 1 };
}

/** Answers where the next character goes. */
function writeFolded(code: number, room: Uint8Array, start: number): number {
  const letter = foldedCode(code);
  let end = start;
  if (letter === IGNORED) return end;
  const isAlone = isUnspaced(code);
  if (letter === SEPARATOR || isAlone) room[end++] = BLANK;
  if (letter === SEPARATOR) return end;
  if (letter < 0x80) room[end++] = letter;
  else for (let rest = letter; rest > 0; rest >>>= 7) room[end++] = 0x80 | (rest & 0x7f);
  if (isAlone) room[end++] = BLANK;
  return end;
}

function isUnspaced(code: number): boolean {
  return (
    (code >= 0x3040 && code <= 0x30ff) ||
    (code >= 0x3400 && code <= 0x9fff) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    code >= 0x20000
  );
}

/** A letter without case and accents, or what else the character is. */
function foldedCode(code: number): number {
  if (code > 0xffff) return code >= 0x20000 && code <= 0x323af ? code : foldedAlone(code);
  const block = (blocks[code >>> 8] ??= foldedBlock(code >>> 8));
  return block[code & 255] as number;
}

function foldedBlock(number: number): Uint16Array {
  return Uint16Array.from({ length: BLOCK }, (_, index) => foldedAlone(number * BLOCK + index));
}

function foldedAlone(code: number): number {
  if (code >= 0xd800 && code <= 0xdfff) return SEPARATOR;
  const character = String.fromCodePoint(code);
  if (/\p{M}/u.test(character)) return IGNORED;
  if (!/[\p{L}\p{N}]/u.test(character)) return SEPARATOR;
  const lower = character.toLowerCase();
  const bare = lower.normalize("NFD").replace(/\p{M}/gu, "");
  for (const form of [bare, lower])
    if ([...form].length === 1) {
      const folded = form.codePointAt(0) ?? code;
      // What folds to a plain letter or digit is spelled with one byte.
      return folded > IGNORED && folded <= 0xffff ? folded : code;
    }
  return code;
}
