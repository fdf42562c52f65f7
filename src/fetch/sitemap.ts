/**
 * Reads sitemaps: XML lists and indexes, plain lists of URLs, and RSS and Atom feeds.
 *
 * Bytes are pushed in as they come, already free of gzip. What has been read stays read: a file that
 * breaks off, or turns into something else, gives the URLs before that place. Only absolute http(s)
 * URLs are given, at most 50,000 from at most 50 MiB, the limits of the protocol (sitemaps.org).
 * Dates that cannot be true are left out, priorities are between 0 and 1. Which URLs may be fetched
 * is for others to say; those of other hosts above all.
 *
 * O(n) in the bytes; memory for the URLs and one piece of markup.
 */

import { attributeOf, decodeEntities, XmlCutter } from "./sitemap-xml.ts";

interface SitemapEntry {
  readonly url: string;
  readonly modifiedAtMs: number | undefined;
  /** As the site ranks its own pages, 0 to 1. */
  readonly priority: number;
}

export interface Sitemap {
  /** An index names other sitemaps; the others name pages. */
  readonly kind: "index" | "pages" | "unknown";
  readonly entries: readonly SitemapEntry[];
  readonly problem: "bad_xml" | "sitemap_capped" | undefined;
}

const SITEMAP_ENTRIES_MAX = 50_000;
export const SITEMAP_BYTES_MAX = 50 * 1024 * 1024;

const URL_LENGTH_MAX = 2_048;
const FIELD_LENGTH_MAX = 4_096;
const DECLARATION_BYTES_MAX = 256;
const PRIORITY_UNSAID = 0.5;
const DATE_MIN_MS = Date.UTC(1990);
const CLOCK_SKEW_MS = 86_400_000;

export class SitemapReader {
  readonly #found: Found;
  #decoder: TextDecoder | undefined;
  #format: { push(piece: string): boolean; finish(): Sitemap } | undefined;
  /** Bytes too few to tell the encoding from. */
  #head = new Uint8Array(0);
  #bytes = 0;
  #refused = false;

  constructor(wallMs: number) {
    this.#found = new Found(wallMs);
  }

  /** Answers false when nothing more will be taken from this file. */
  push(piece: Uint8Array): boolean {
    if (this.#refused || this.#found.isFull) return false;
    const room = SITEMAP_BYTES_MAX - this.#bytes;
    this.#bytes += Math.min(room, piece.length);
    if (piece.length > room) this.#found.cap();
    const taken = piece.subarray(0, room);
    if (this.#decoder !== undefined) return this.#take(this.#decoder, taken);
    this.#head = Buffer.concat([this.#head, taken]);
    return this.#head.length < DECLARATION_BYTES_MAX || this.#begin();
  }

  finish(): Sitemap {
    if (this.#decoder === undefined) this.#begin();
    return this.#format?.finish() ?? this.#found.sitemap("unknown", undefined);
  }

  #begin(): boolean {
    this.#decoder = new TextDecoder(encodingOf(this.#head));
    return this.#take(this.#decoder, this.#head);
  }

  #take(decoder: TextDecoder, bytes: Uint8Array): boolean {
    const text = decoder.decode(bytes, { stream: true });
    if (this.#format === undefined && text.trimStart() === "") return true;
    this.#format ??= text.trimStart().startsWith("<")
      ? new XmlSitemap(this.#found)
      : new ListSitemap(this.#found);
    this.#refused = !this.#format.push(text);
    return !this.#refused && !this.#found.isFull;
  }
}

/** What was found, under the protocol's limits. */
class Found {
  readonly #entries: SitemapEntry[] = [];
  readonly #newestMs: number;
  #isCapped = false;

  constructor(wallMs: number) {
    this.#newestMs = wallMs + CLOCK_SKEW_MS;
  }

  get isFull(): boolean {
    return this.#isCapped;
  }

  cap(): void {
    this.#isCapped = true;
  }

  add(url: string, modified: string, priority: string): void {
    const isUsable = /^https?:\/\//i.test(url) && url.length <= URL_LENGTH_MAX;
    if (!isUsable || this.#isCapped) return;
    if (this.#entries.length >= SITEMAP_ENTRIES_MAX) return this.cap();
    const modifiedAtMs = this.#readDate(modified);
    this.#entries.push({ url, modifiedAtMs, priority: readPriority(priority) });
  }

  sitemap(kind: Sitemap["kind"], problem: "bad_xml" | undefined): Sitemap {
    return { kind, entries: this.#entries, problem: this.#isCapped ? "sitemap_capped" : problem };
  }

  /** The dates of W3C and, for feeds, of RFC 822. */
  #readDate(text: string): number | undefined {
    const isDate = /^\d{4}(?:-\d\d){0,2}(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/.test(text);
    if (!isDate && !/^(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} [\d:]+ \S+$/.test(text))
      return undefined;
    // A time without its zone would be read in ours.
    const dateMs = Date.parse(/T[\d:.]+$/.test(text) ? `${text}Z` : text);
    return dateMs >= DATE_MIN_MS && dateMs <= this.#newestMs ? dateMs : undefined;
  }
}

function readPriority(text: string): number {
  const priority = text === "" ? Number.NaN : Number(text);
  return Number.isNaN(priority) ? PRIORITY_UNSAID : Math.min(1, Math.max(0, priority));
}

/** One URL a line. */
class ListSitemap {
  readonly #found: Found;
  #pending = "";
  #isList = false;

  constructor(found: Found) {
    this.#found = found;
  }

  push(piece: string): boolean {
    const lines = (this.#pending + piece).split(/[\r\n]+/);
    const unfinished = lines.pop() ?? "";
    // A line too long for a URL stays so when only its beginning is kept.
    this.#pending = unfinished.slice(0, FIELD_LENGTH_MAX);
    for (const line of lines) this.#take(line);
    return true;
  }

  finish(): Sitemap {
    this.#take(this.#pending);
    return this.#found.sitemap(this.#isList ? "pages" : "unknown", undefined);
  }

  #take(line: string): void {
    const url = line.trim();
    if (/^https?:\/\//i.test(url)) this.#isList = true;
    this.#found.add(url, "", "");
  }
}

interface Vocabulary {
  readonly kind: "index" | "pages";
  readonly entry: string;
  readonly url: string;
  readonly modified: string;
}

const VOCABULARIES: ReadonlyMap<string, Vocabulary> = new Map([
  ["urlset", { kind: "pages", entry: "url", url: "loc", modified: "lastmod" }],
  ["sitemapindex", { kind: "index", entry: "sitemap", url: "loc", modified: "lastmod" }],
  ["rss", { kind: "pages", entry: "item", url: "link", modified: "pubDate" }],
  ["feed", { kind: "pages", entry: "entry", url: "link", modified: "updated" }],
]);

class XmlSitemap {
  readonly #found: Found;
  readonly #cutter = new XmlCutter(this);
  #vocabulary: Vocabulary | undefined;
  #root = "";
  /** Names of the sitemap's own have this before them; others' (`image:loc`) are not ours. */
  #prefix = "";
  #isInEntry = false;
  #field = "";
  #fields = new Map<string, string>();
  #isBad = false;
  #isClosed = false;

  constructor(found: Found) {
    this.#found = found;
  }

  push(piece: string): boolean {
    // What follows the end of the document is not judged, however the bytes were cut.
    if (!this.#cutter.push(piece) && !this.#isOver) this.#isBad = true;
    return !this.#isBad && !this.#isOver;
  }

  get #isOver(): boolean {
    const isForeign = this.#root !== "" && this.#vocabulary === undefined;
    return this.#isClosed || isForeign;
  }

  finish(): Sitemap {
    if (this.#isInEntry && !this.#isBad) this.#endEntry();
    const isWhole = this.#isClosed && !this.#isBad;
    if (this.#vocabulary === undefined)
      return this.#found.sitemap("unknown", this.#isBad ? "bad_xml" : undefined);
    return this.#found.sitemap(this.#vocabulary.kind, isWhole ? undefined : "bad_xml");
  }

  open(name: string, attributes: string): void {
    if (this.#isBad || this.#isClosed) return;
    if (this.#root === "") return this.#openRoot(name);
    const words = this.#vocabulary;
    const own = this.#ownName(name);
    if (own === words?.entry) {
      if (this.#isInEntry) this.#endEntry();
      this.#isInEntry = true;
    }
    const isWanted = own === words?.url || own === words?.modified || own === "priority";
    const isNew = this.#isInEntry && !this.#fields.has(own);
    this.#field = isNew && (isWanted || own === words?.entry) ? own : "";
    if (isNew && own === "link") this.#takeAtomLink(attributes);
  }

  close(name: string): void {
    this.#field = "";
    if (this.#isInEntry && this.#ownName(name) === this.#vocabulary?.entry) this.#endEntry();
    if (name === this.#root) this.#isClosed = true;
  }

  text(piece: string, isCoded: boolean): void {
    if (!this.#isInEntry || this.#isBad || this.#field === "") return;
    const text = isCoded ? decodeEntities(piece) : piece;
    if (text === undefined) {
      this.#isBad = true;
      this.#isInEntry = false;
      return;
    }
    const before = this.#fields.get(this.#field) ?? "";
    if (before.length <= FIELD_LENGTH_MAX) this.#fields.set(this.#field, before + text);
  }

  #openRoot(name: string): void {
    this.#root = name;
    const colon = name.indexOf(":");
    this.#vocabulary = VOCABULARIES.get(name.slice(colon + 1));
    this.#prefix = name.slice(0, colon + 1);
  }

  /** The name without the sitemap's own prefix; empty when it has another. */
  #ownName(name: string): string {
    if (!name.startsWith(this.#prefix)) return "";
    const own = name.slice(this.#prefix.length);
    return own.includes(":") ? "" : own;
  }

  #takeAtomLink(attributes: string): void {
    const href = attributeOf(attributes, "href");
    const isPage = (attributeOf(attributes, "rel") ?? "alternate") === "alternate";
    if (href !== undefined && isPage) this.#fields.set("link", href);
  }

  #endEntry(): void {
    this.#isInEntry = false;
    const words = this.#vocabulary;
    if (words === undefined) return;
    const field = (name: string): string => (this.#fields.get(name) ?? "").trim();
    // Some indexes leave the `loc` out and write the URL straight into the entry.
    const url = field(words.url) || field(words.entry);
    this.#found.add(url, field(words.modified), field("priority"));
    this.#fields = new Map();
  }
}

/** By byte order mark, or else by the XML declaration; UTF-8 when there is neither. */
function encodingOf(head: Uint8Array): string {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  const start = Buffer.from(head.subarray(0, DECLARATION_BYTES_MAX)).toString("latin1");
  const label = /^\s{0,16}<\?xml[^>]{0,128}encoding=["']([\w.:-]{1,40})["']/i.exec(start)?.[1];
  try {
    return label === undefined ? "utf-8" : new TextDecoder(label).encoding;
  } catch {
    return "utf-8";
  }
}
