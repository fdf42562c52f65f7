/**
 * The terms of a page, each as one number: the 32-bit hash of its letters (FNV-1a, Fowler, Noll, Vo).
 *
 * Classifiers only compare words for equality, so words are hashed byte by byte and nothing is allocated
 * for any of them. Among 100,000 different words about one pair collides, which has no measurable effect.
 *
 * Input is text, or HTML with the runs of visible text that a scanner recorded; a crawl has those
 * already, so pages are not read twice. Both give the same terms. Only the first 1,024 terms count: that
 * bounds the time for a page, and makes Naive Bayes more accurate.
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

/** Terms read of a page; figures in docs/decisions/014-topics.md. */
export const TERMS_MAX = 1024;

const FNV_START = 0x811c9dc5 | 0;
const FNV_PRIME = 0x01000193;
/** The longest name in HTML has 31 letters; with `&`, `#` and `;` this many bytes. */
const REFERENCE_BYTES_MAX = 34;
const SEMICOLON = 0x3b;
const REFERENCES_KEPT_MAX = 4096;

const encoder = new TextEncoder();

export class Tokens {
  /** The hashes of the terms, in the order of the page; the first `count` are valid. */
  readonly terms = new Int32Array(TERMS_MAX);
  count = 0;
  /** The hash of the current word; FNV_START between words. */
  #word = FNV_START;
  /** Decoded character references, as bytes; pages repeat few of them. */
  readonly #decoded = new Map<string, Uint8Array>();

  #scanner: HtmlScanner | undefined;

  takeText(utf8: Uint8Array): void {
    this.#start();
    this.#scan(utf8, 0, utf8.length, false);
    this.#endWord();
  }

  /** Takes a whole page in UTF-8 that has not been scanned yet. */
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

  /** Takes one non-ASCII character or one reference; returns the index after it. */
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
    const decoded = this.#decode(name);
    // A lone ampersand decodes to itself and ends a word, as all punctuation.
    if (decoded[0] === AMPERSAND && decoded.length === behind - at) {
      this.#endWord();
      return at + 1;
    }
    this.#scan(decoded, 0, decoded.length, false);
    return behind;
  }

  #decode(name: string): Uint8Array {
    const known = this.#decoded.get(name);
    if (known !== undefined) return known;
    const decoded = encoder.encode(decodeHTML(name));
    if (this.#decoded.size < REFERENCES_KEPT_MAX) this.#decoded.set(name, decoded);
    return decoded;
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

/** The number that `Tokens` gives a word in lower case, for lists of words known in advance. */
export function termOf(word: string): number {
  let hash = FNV_START;
  for (const byte of encoder.encode(word)) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return hash;
}
