/**
 * Turns the links of one page into fingerprints, mostly without making a string or calling a
 * parser.
 *
 * Nearly all links are clean: plain characters, relative to the page's folder or to a plain host.
 * For these the bytes are checked and hashed in one go, starting from the hash of the page's own
 * folder, which is known. Whatever is unusual (other escapes than canonical ones, character
 * references but `&amp;`, dots in odd places, ports, capitals in the host) goes through
 * `resolveUrl`, and so does every link of a page whose own URL was not written in canonical form.
 *
 * Promise, held by tests over random links and real pages: both ways give the same answer.
 */

import {
  finishHigh,
  finishLow,
  fingerprintOf,
  LANE_A_START,
  LANE_B_START,
  stepA,
  stepB,
} from "../url/fingerprint.ts";
import {
  type CanonicalUrl,
  isRefused,
  pathStart,
  type RefusalReason,
  type ResolvedUrl,
  resolveUrl,
  URL_BYTES_MAX,
  type UrlRules,
  writtenOf,
} from "../url/url.ts";
import { attributeText } from "./html-scanner.ts";
import {
  ampersandLength,
  beginsDotSegment,
  beginsWith,
  BYTE,
  cleanHostEnd,
  isBlank,
  isCanonicalEscape,
  isFirstSegment,
  KIND,
  LINK_KINDS,
} from "./link-bytes.ts";

const HTTP = Buffer.from("http://");
const HTTPS = Buffer.from("https://");

export class LinkResolver {
  /** The fingerprint of the link last resolved; signed, as the engine handles such numbers best. */
  high = 0;
  low = 0;

  readonly #rules: UrlRules;
  #base = "" as CanonicalUrl;
  #writtenBase = "";
  #originLength = 0;
  #pathLength = 0;
  /** The lengths of the base's folders, outermost first, each with its slash. */
  readonly #folderLength = new Int32Array(URL_BYTES_MAX);
  #folders = 0;
  /** The bytes of the base, and the lanes before each of them and at the end. */
  readonly #baseBytes = new Uint8Array(URL_BYTES_MAX);
  readonly #baseA = new Int32Array(URL_BYTES_MAX + 1);
  readonly #baseB = new Int32Array(URL_BYTES_MAX + 1);

  /** How to write the link last resolved: so much of the base, then these bytes of the page. */
  #parsed: ResolvedUrl | undefined;
  #html: Uint8Array = new Uint8Array(0);
  #baseLength = 0;
  #textStart = 0;
  #textEnd = 0;
  #ampersands = 0;
  /** Where hashing stands: what the lanes hold, where the path began, how far it got. */
  #laneA = 0;
  #laneB = 0;
  #pathFrom = 0;
  #mayHaveScheme = false;
  #isQuery = false;

  constructor(rules: UrlRules) {
    this.#rules = rules;
  }

  /** Links resolve against this from now on; it must be canonical by the same rules. */
  setBase(base: ResolvedUrl): void {
    const { url } = base;
    const query = url.indexOf("?");
    this.#base = url;
    this.#writtenBase = writtenOf(base);
    this.#originLength = pathStart(url);
    this.#pathLength = query === -1 ? url.length : query;
    this.#folders = 0;
    let laneA = LANE_A_START;
    let laneB = LANE_B_START;
    for (let at = 0; at < url.length; at++) {
      const byte = url.charCodeAt(at);
      this.#baseBytes[at] = byte;
      this.#baseA[at] = laneA;
      this.#baseB[at] = laneB;
      laneA = stepA(laneA, byte);
      laneB = stepB(laneB, byte);
      if (byte !== BYTE.slash || at < this.#originLength || at >= this.#pathLength) continue;
      this.#folderLength[this.#folders] = at + 1;
      this.#folders += 1;
    }
    this.#baseA[url.length] = laneA;
    this.#baseB[url.length] = laneB;
  }

  /** Resolves an attribute value; answers why it was refused, if it was. */
  resolve(html: Uint8Array, valueStart: number, valueEnd: number): RefusalReason | undefined {
    let start = valueStart;
    let end = valueEnd;
    while (start < end && isBlank(html[start] as number)) start += 1;
    while (end > start && isBlank(html[end - 1] as number)) end -= 1;
    this.#parsed = undefined;
    const mayBeClean = end - start <= URL_BYTES_MAX && this.#writtenBase === this.#base;
    if (mayBeClean && this.#resolveClean(html, start, end)) return undefined;
    return this.resolveText(attributeText(html, start, end));
  }

  /** The same for a link that is text already. */
  resolveText(text: string): RefusalReason | undefined {
    const resolved = resolveUrl(text, this.#writtenBase, this.#rules);
    if (isRefused(resolved)) return resolved.refused;
    this.#parsed = resolved;
    const { high, low } = fingerprintOf(resolved.url);
    this.high = high | 0;
    this.low = low | 0;
    return undefined;
  }

  /** How the link last resolved was written, where that is not its canonical form. */
  get written(): string | undefined {
    return this.#parsed?.written;
  }

  /** The link last resolved, as a string. */
  url(): CanonicalUrl {
    if (this.#parsed !== undefined) return this.#parsed.url;
    const { buffer, byteOffset } = this.#html;
    const length = this.#textEnd - this.#textStart;
    const bytes = Buffer.from(buffer, byteOffset + this.#textStart, length);
    const text = bytes.toString("latin1");
    const plain = this.#ampersands === 0 ? text : text.replaceAll("&amp;", "&");
    return (this.#base.slice(0, this.#baseLength) + plain) as CanonicalUrl;
  }

  /** Answers false when the link is not of a kind that is surely clean. */
  #resolveClean(html: Uint8Array, start: number, end: number): boolean {
    this.#html = html;
    this.#mayHaveScheme = false;
    const first = start < end ? html[start] : BYTE.hash;
    if (first === BYTE.hash) return this.#goOn(this.#base.length, end, end);
    if (first === BYTE.question) return this.#goOn(this.#pathLength, start, end);
    if (first === BYTE.slash) {
      const isHost = html[start + 1] === BYTE.slash && start + 1 < end;
      if (isHost) return this.#resolveHost(this.#base.indexOf(":") + 1, start, end);
      return this.#goOn(this.#originLength + 1, start + 1, end);
    }
    if (first === BYTE.h) {
      const isAbsolute = beginsWith(html, start, end, HTTPS) || beginsWith(html, start, end, HTTP);
      if (isAbsolute) return this.#resolveHost(0, start, end);
    }
    return this.#resolveRelative(html, start, end);
  }

  /** A link with a host of its own, behind the first `//`; `baseLength` is what it takes before. */
  #resolveHost(baseLength: number, start: number, end: number): boolean {
    const html = this.#html;
    const originEnd = start + this.#originLength - baseLength;
    if (originEnd < end && html[originEnd] === BYTE.slash && this.#isOwnOrigin(baseLength, start))
      return this.#goOn(this.#originLength + 1, originEnd + 1, end);

    let hostStart = start;
    while (html[hostStart] !== BYTE.slash) hostStart += 1;
    const hostEnd = cleanHostEnd(html, hostStart + 2, end);
    // Without a slash behind the host one must be added, which the page's bytes do not have.
    if (hostEnd === -1 || hostEnd === end || html[hostEnd] !== BYTE.slash) return false;
    let laneA = this.#baseA[baseLength] as number;
    let laneB = this.#baseB[baseLength] as number;
    for (let at = start; at <= hostEnd; at++) {
      laneA = stepA(laneA, html[at] as number);
      laneB = stepB(laneB, html[at] as number);
    }
    this.#baseLength = baseLength;
    this.#textStart = start;
    return this.#hash(hostEnd + 1, end, laneA, laneB);
  }

  #isOwnOrigin(baseLength: number, start: number): boolean {
    for (let at = baseLength; at < this.#originLength; at++)
      if (this.#html[start + at - baseLength] !== this.#baseBytes[at]) return false;
    return true;
  }

  #resolveRelative(html: Uint8Array, start: number, end: number): boolean {
    let at = start;
    let folder = this.#folders - 1;
    while (at < end && html[at] === BYTE.dot) {
      if (at + 1 < end && html[at + 1] === BYTE.slash) at += 2;
      else if (at + 2 < end && html[at + 1] === BYTE.dot && html[at + 2] === BYTE.slash) {
        folder = Math.max(0, folder - 1);
        at += 3;
      } else break;
    }
    this.#mayHaveScheme = at === start;
    return this.#goOn(this.#folderLength[folder] as number, at, end);
  }

  /** The link is so much of the base and then these bytes. */
  #goOn(baseLength: number, textStart: number, end: number): boolean {
    this.#baseLength = baseLength;
    this.#textStart = textStart;
    const laneA = this.#baseA[baseLength] as number;
    return this.#hash(textStart, end, laneA, this.#baseB[baseLength] as number);
  }

  /** Checks and hashes path and query from a point where a segment begins, or the query. */
  #hash(from: number, end: number, startA: number, startB: number): boolean {
    const html = this.#html;
    this.#laneA = startA;
    this.#laneB = startB;
    this.#pathFrom = from;
    this.#ampersands = 0;
    this.#isQuery = false;
    let at = this.#hashPlain(html, from, end);
    while (at < end && !this.#isOver(html[at] as number)) {
      const taken = this.#secondLook(html, at, end);
      if (taken === 0) return false;
      this.#laneA = stepA(this.#laneA, html[at] as number);
      this.#laneB = stepB(this.#laneB, html[at] as number);
      at = this.#hashPlain(html, at + taken, end);
    }
    this.#textEnd = at;
    if (this.#baseLength + at - this.#textStart - 4 * this.#ampersands > URL_BYTES_MAX)
      return false;
    const low = finishLow(this.#laneA, this.#laneB) | 0;
    this.low = low;
    this.high = finishHigh(this.#laneA, this.#laneB, low) | 0;
    return true;
  }

  /** The innermost loop calls nothing that is not inlined, which makes it twice as fast. */
  #hashPlain(html: Uint8Array, from: number, end: number): number {
    let laneA = this.#laneA;
    let laneB = this.#laneB;
    let at = from;
    while (at < end) {
      const byte = html[at] as number;
      if (LINK_KINDS[byte] !== KIND.plain) break;
      laneA = stepA(laneA, byte);
      laneB = stepB(laneB, byte);
      at += 1;
    }
    this.#laneA = laneA;
    this.#laneB = laneB;
    return at;
  }

  /** Whether the canonical form ends before this byte: a fragment, or a query that is not kept. */
  #isOver(byte: number): boolean {
    return (
      byte === BYTE.hash || (byte === BYTE.question && !this.#isQuery && this.#rules.dropQuery)
    );
  }

  /** How many bytes of HTML make this one of the URL; 0 when the parser must say. */
  #secondLook(html: Uint8Array, at: number, end: number): number {
    switch (LINK_KINDS[html[at] as number]) {
      case KIND.dot: {
        const isFirst = at === this.#pathFrom || html[at - 1] === BYTE.slash;
        return !this.#isQuery && isFirst && beginsDotSegment(html, at, end) ? 0 : 1;
      }
      case KIND.colon: {
        const mayHaveScheme = this.#mayHaveScheme;
        this.#mayHaveScheme = false;
        return mayHaveScheme && isFirstSegment(html, this.#pathFrom, at) ? 0 : 1;
      }
      case KIND.query:
        if (this.#rules.stripSessionIds || at + 1 === end || html[at + 1] === BYTE.hash) return 0;
        this.#isQuery = true;
        return 1;
      case KIND.apostrophe:
        return this.#isQuery ? 0 : 1;
      case KIND.session:
        return this.#rules.stripSessionIds ? 0 : 1;
      case KIND.escape:
        return isCanonicalEscape(html, at, end) ? 1 : 0;
      case KIND.reference: {
        const length = ampersandLength(html, at, end);
        if (length > 1) this.#ampersands += 1;
        return length;
      }
      default:
        return 0;
    }
  }
}
