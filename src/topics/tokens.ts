/**
 * The terms of a page, each as one number: the 32-bit hash of its letters (FNV-1a, Fowler, Noll, Vo).
 *
 * Classifiers never look at the letters of a word, only at whether it is the same word; so words are
 * hashed while their bytes go by, and nothing is allocated for any of them. Of 100,000 different words
 * about one pair has the same number, which no accuracy can feel.
 *
 * The page may come as text, or as HTML with the runs of visible text that a scanner noted; a crawl
 * has those already, so that pages are not read twice. Both ways give the same terms. The first
 * 1,024 terms decide: that bounds the time a page can take, and Naive Bayes is better for it.
 */

import { decodeHTML } from "entities/decode";
import { END_OF_PAGE, HtmlScanner } from "../page/html-scanner.ts";
import { GAP, type TextRuns } from "../page/text-runs.ts";
import {
  AMPERSAND,
  BREAK,
  CHARACTER,
  characterBytes,
  CLOSER,
  FOLDED,
  judge,
  lowered,
} from "./term-bytes.ts";

/** Of a long page the beginning decides; see the figures in docs/decisions/014-topics.md. */
export const TERMS_MAX = 1024;

const FNV_START = 0x811c9dc5 | 0;
const FNV_PRIME = 0x01000193;
/** The longest name in HTML has 31 letters. */
const REFERENCE_BYTES_MAX = 34;
const SEMICOLON = 0x3b;
const REFERENCES_KEPT_MAX = 4096;

const encoder = new TextEncoder();

export class Tokens {
  /** The hashes of the terms, in the order of the page; `count` of them hold. */
  readonly terms = new Int32Array(TERMS_MAX);
  count = 0;
  /** The hash of the word begun, FNV_START between words. */
  #word = FNV_START;
  /** What character references stand for, as bytes; pages use few of them, again and again. */
  readonly #references = new Map<string, Uint8Array>();

  #scanner: HtmlScanner | undefined;

  takeText(utf8: Uint8Array): void {
    this.#start();
    this.#scan(utf8, 0, utf8.length, false);
    this.#endWord();
  }

  /** Of a whole page in UTF-8 that nobody has scanned yet. */
  takeHtml(html: Uint8Array): void {
    this.#scanner ??= new HtmlScanner({ tellImages: false });
    this.#scanner.start(html);
    while (this.#scanner.next() !== END_OF_PAGE);
    this.takeRuns(html, this.#scanner.runs);
  }

  takeRuns(html: Uint8Array, runs: TextRuns): void {
    this.#start();
    for (let run = 0; run < runs.count && this.count < TERMS_MAX; run++) {
      if (runs.gap(run) !== GAP.none) this.#endWord();
      this.#scan(html, runs.start(run), runs.end(run), true);
    }
    this.#endWord();
  }

  #start(): void {
    this.count = 0;
    this.#word = FNV_START;
  }

  #scan(bytes: Uint8Array, start: number, end: number, isHtml: boolean): void {
    const { terms } = this;
    let word = this.#word;
    let count = this.count;
    let at = start;
    while (at < end && count < TERMS_MAX) {
      const folded = FOLDED[bytes[at] as number] as number;
      if (folded > CLOSER) {
        word = Math.imul(word ^ folded, FNV_PRIME);
        at += 1;
      } else if (folded === BREAK) {
        if (word !== FNV_START) {
          terms[count] = word;
          count += 1;
          word = FNV_START;
        }
        at += 1;
      } else {
        this.#word = word;
        this.count = count;
        at = this.#takeCloser(bytes, at, end, isHtml);
        word = this.#word;
        count = this.count;
      }
    }
    this.#word = word;
    this.count = count;
  }

  /** Takes one character that is not ASCII, or one reference; answers behind it. */
  #takeCloser(bytes: Uint8Array, at: number, end: number, isHtml: boolean): number {
    const lead = bytes[at] as number;
    if (lead === AMPERSAND) {
      if (isHtml) return this.#takeReference(bytes, at, end);
      this.#endWord();
      return at + 1;
    }
    const behind = Math.min(end, at + characterBytes(lead));
    const second = at + 1 < end ? (bytes[at + 1] as number) : 0;
    const meaning = judge(lead, second);
    if (meaning !== CHARACTER.joins) this.#endWord();
    if (meaning === CHARACTER.breaks) return behind;
    const pair = lowered(lead, second);
    this.#join(pair >>> 8);
    this.#join(pair & 0xff);
    for (let next = at + 2; next < behind; next++) this.#join(bytes[next] as number);
    if (meaning === CHARACTER.alone) this.#endWord();
    return behind;
  }

  #takeReference(bytes: Uint8Array, at: number, end: number): number {
    let close = at + 1;
    const limit = Math.min(end, at + REFERENCE_BYTES_MAX);
    while (close < limit && isReferenceByte(bytes[close] as number)) close += 1;
    const behind = close < limit && bytes[close] === SEMICOLON ? close + 1 : close;
    const name = String.fromCharCode(...bytes.subarray(at, behind));
    const meant = this.#meaningOf(name);
    // A lone ampersand decodes to itself, and is then an end of a word like any other mark.
    if (meant[0] === AMPERSAND && meant.length === behind - at) {
      this.#endWord();
      return at + 1;
    }
    this.#scan(meant, 0, meant.length, false);
    return behind;
  }

  #meaningOf(name: string): Uint8Array {
    const known = this.#references.get(name);
    if (known !== undefined) return known;
    const meant = encoder.encode(decodeHTML(name));
    if (this.#references.size < REFERENCES_KEPT_MAX) this.#references.set(name, meant);
    return meant;
  }

  #join(byte: number): void {
    this.#word = Math.imul(this.#word ^ byte, FNV_PRIME);
  }

  #endWord(): void {
    if (this.#word !== FNV_START && this.count < TERMS_MAX) {
      this.terms[this.count] = this.#word;
      this.count += 1;
    }
    this.#word = FNV_START;
  }
}

function isReferenceByte(byte: number): boolean {
  const lower = byte | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (byte >= 0x30 && byte <= 0x39) || byte === 0x23;
}

/** The number that `Tokens` gives a word in lower case, for lists of words known beforehand. */
export function termOf(word: string): number {
  let hash = FNV_START;
  for (const byte of encoder.encode(word)) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return hash;
}
