/**
 * Turns the links of one page into fingerprints, in most cases without creating a string or calling a
 * parser.
 *
 * Nearly all links are clean: plain characters, relative to the page's folder or to a plain host.
 * Their bytes are checked and hashed in one pass, starting from the known hash of the page's own
 * folder. All unusual links (escapes other than canonical ones, character references other than
 * `&amp;`, dots in unusual positions, ports, upper case in the host) go through `resolveUrl`, and so does
 * every link of a page whose own URL was not written in canonical form.
 *
 * Promise, held by tests over random links and real pages: both ways give the same result.
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
  /** The fingerprint of the link last resolved; signed, since the engine handles signed integers best. */
  high = 0;
  low = 0;

  readonly #rules: UrlRules;
  #base = "" as CanonicalUrl;
  #writtenBase = "";
  #originLength = 0;
  #pathLength = 0;
  /** The length of the base up to each of its folders, outermost first, with the slash. */
  readonly #folderLength = new Int32Array(URL_BYTES_MAX);
  #folders = 0;
  /** The bytes of the base, and the state of the lanes before each of them and at the end. */
  readonly #baseBytes = new Uint8Array(URL_BYTES_MAX);
  readonly #baseA = new Int32Array(URL_BYTES_MAX + 1);
  readonly #baseB = new Int32Array(URL_BYTES_MAX + 1);

  /** The parts of the link last resolved: a prefix of the base, then bytes of the page. */
  #parsed: ResolvedUrl | undefined;
  #html: Uint8Array = new Uint8Array(0);
  #baseLength = 0;
  #textStart = 0;
  #textEnd = 0;
  #ampersands = 0;
  /** State of hashing: the lanes, and the index where the path began. */
  #laneA = 0;
  #laneB = 0;
  #pathFrom = 0;
  #mayHaveScheme = false;
  #isQuery = false;

  constructor(rules: UrlRules) {
    this.#rules = rules;
  }

  /** Sets the base of the following links; it must be canonical by the same rules. */
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

  /** Resolves an attribute value; returns the reason if it is refused. */
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

  /** Resolves a link that is decoded already. */
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

  /** Returns false unless the link is certainly clean. */
  #resolveClean(html: Uint8Array, start: number, end: number): boolean {
    this.#html = html;
    this.#mayHaveScheme = false;
    const first = start < end ? html[start] : BYTE.hash;
    if (first === BYTE.hash) return this.#resolveFrom(this.#base.length, end, end);
    if (first === BYTE.question) return this.#resolveFrom(this.#pathLength, start, end);
    if (first === BYTE.slash) {
      const isHost = html[start + 1] === BYTE.slash && start + 1 < end;
      if (isHost) return this.#resolveHost(this.#base.indexOf(":") + 1, start, end);
      return this.#resolveFrom(this.#originLength + 1, start + 1, end);
    }
    if (first === BYTE.h) {
      const isAbsolute = beginsWith(html, start, end, HTTPS) || beginsWith(html, start, end, HTTP);
      if (isAbsolute) return this.#resolveHost(0, start, end);
    }
    return this.#resolveRelative(html, start, end);
  }

  /** A link with its own host, after the first `//`; `baseLength` is the length of its prefix from the base. */
  #resolveHost(baseLength: number, start: number, end: number): boolean {
    const html = this.#html;
    const originEnd = start + this.#originLength - baseLength;
    if (originEnd < end && html[originEnd] === BYTE.slash && this.#isOwnOrigin(baseLength, start))
      return this.#resolveFrom(this.#originLength + 1, originEnd + 1, end);

    let hostStart = start;
    while (html[hostStart] !== BYTE.slash) hostStart += 1;
    const hostEnd = cleanHostEnd(html, hostStart + 2, end);
    // A missing slash after the host must be added, but the page's bytes do not contain it.
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
    return this.#resolveFrom(this.#folderLength[folder] as number, at, end);
  }

  /** A link of the first `baseLength` bytes of the base and then these bytes. */
  #resolveFrom(baseLength: number, textStart: number, end: number): boolean {
    this.#baseLength = baseLength;
    this.#textStart = textStart;
    const laneA = this.#baseA[baseLength] as number;
    return this.#hash(textStart, end, laneA, this.#baseB[baseLength] as number);
  }

  /** Checks and hashes path and query, from the start of a segment or of the query. */
  #hash(from: number, end: number, startA: number, startB: number): boolean {
    const html = this.#html;
    this.#laneA = startA;
    this.#laneB = startB;
    this.#pathFrom = from;
    this.#ampersands = 0;
    this.#isQuery = false;
    let at = this.#hashPlain(html, from, end);
    while (at < end && !this.#isOver(html[at] as number)) {
      const taken = this.#bytesTaken(html, at, end);
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

  /** The innermost loop calls only functions that are inlined, which makes it twice as fast. */
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

  /** True if the canonical form ends before this byte: a fragment, or a query that is dropped. */
  #isOver(byte: number): boolean {
    return (
      byte === BYTE.hash || (byte === BYTE.question && !this.#isQuery && this.#rules.dropQuery)
    );
  }

  /** Number of bytes of HTML for this byte of the URL; 0 if only the parser can tell. */
  #bytesTaken(html: Uint8Array, at: number, end: number): number {
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
