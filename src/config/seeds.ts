/**
 * The seeds of a crawl: URLs on the command line, in `sites:` of a file and in a seeds file.
 *
 * A bad URL on the command line or in `sites:` is a mistake. A list of thousands usually has bad
 * lines, so these are reported with their numbers and the others are used. The list is read in
 * pieces; only the good URLs stay in memory.
 */

import { closeSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import { isAllowed, readAllowance } from "../fetch/address-guard.ts";
import { credentialsOf, withoutCredentials } from "../url/credentials.ts";
import { Scope } from "../url/scope.ts";
import {
  type CanonicalUrl,
  canonicalUrl,
  hostOf,
  isRefused,
  portOf,
  type RefusalReason,
  type ResolvedUrl,
  resolveUrl,
  URL_BYTES_MAX,
} from "../url/url.ts";
import type { Settings } from "./schema.ts";

/** By canonical URL. */
export type Spellings = Readonly<Record<string, string>>;

export interface Seeds {
  readonly urls: readonly CanonicalUrl[];
  /** The spelling of seeds as first written, where it differs. */
  readonly spellings: Spellings;
  /** Invalid URLs of the command line and of `sites:`. */
  readonly mistakes: readonly string[];
  /** The first bad lines of the seeds file with their numbers, and the number of all. */
  readonly badLines: readonly string[];
  readonly badLineCount: number;
  /** URLs that contained a user name or a password. */
  readonly credentialCount: number;
}

const BAD_LINES_LISTED = 20;
const REFUSED_LISTED = 10;
const LINE_CHARACTERS_MAX = 16 * URL_BYTES_MAX;
const PIECE_BYTES = 65_536;

const WHY: Readonly<Record<RefusalReason, string>> = {
  bad_url: "is not a URL",
  url_too_long: `is longer than ${URL_BYTES_MAX} bytes`,
  scheme_refused: "is neither http nor https",
  port_refused: "names a port that is kept for other protocols",
};

export function readSeeds(settings: Settings): Seeds {
  const urls = new Set<CanonicalUrl>();
  const spellings: Record<string, string> = {};
  const mistakes: string[] = [];
  const badLines: string[] = [];
  let badLineCount = 0;
  let credentialCount = 0;
  const take = (text: string, refuse: (why: string) => void): void => {
    const seed = readSeed(text, settings);
    if ("why" in seed) return refuse(seed.why);
    const { url, written } = seed;
    if (written !== undefined && !urls.has(url)) spellings[url] = written;
    urls.add(url);
    if (credentialsOf(text) !== undefined) credentialCount++;
  };
  for (const text of [...settings.urls, ...settings.sites.map((site) => site.url)])
    take(text, (why) => mistakes.push(why));
  if (settings.seedsFile !== undefined) {
    for (const { number, text } of linesOf(settings.seedsFile)) {
      const address = text.replace(/(^|\s)#.*$/, "").trim();
      if (address === "") continue;
      take(address, (why) => {
        if (++badLineCount <= BAD_LINES_LISTED) badLines.push(`line ${number}: ${why}`);
      });
    }
  }
  return { urls: [...urls], spellings, mistakes, badLines, badLineCount, credentialCount };
}

/** Seeds that the patterns refuse. */
export interface RefusedSeeds {
  readonly count: number;
  /** The first of them, each with its pattern. */
  readonly lines: readonly string[];
}

export function seedsRefused(settings: Settings, urls: readonly CanonicalUrl[]): RefusedSeeds {
  const { scope: kind, include, exclude } = settings;
  const scope = new Scope({ kind, seeds: [], include, exclude });
  const lines: string[] = [];
  let count = 0;
  for (const url of urls) {
    const { accepted, rule } = scope.decideSeed(url);
    if (accepted || ++count > REFUSED_LISTED) continue;
    const why = rule.startsWith("exclude ") ? `matches --${rule}` : "matches no --include pattern";
    lines.push(`${visible(url, 200)} ${visible(why, 200)}`);
  }
  return { count, lines };
}

function readSeed(text: string, settings: Settings): ResolvedUrl | { readonly why: string } {
  const shown = JSON.stringify(visible(withoutCredentials(text), 200));
  const seed = resolveUrl(text, undefined, settings);
  if (isRefused(seed)) return { why: `${shown} ${WHY[seed.refused]}${completed(text)}` };
  const { url } = seed;
  if (isOpen(url, settings)) return seed;
  return {
    why: `${shown} is a private or loopback address; --allow-private ${rangeFor(url)} permits it`,
  };
}

/** Judges only literal addresses; host names are checked when they are resolved. */
function isOpen(url: CanonicalUrl, settings: Settings): boolean {
  const host = hostOf(url).replace(/^\[|\]$/g, "");
  const policy = {
    allowed: settings.allowPrivate
      .map(readAllowance)
      .filter((allowance) => allowance !== undefined),
    ownPorts: new Set<number>(),
  };
  const addresses = isLocalName(host) ? ["127.0.0.1", "::1"] : isAddress(host) ? [host] : [];
  return (
    addresses.length === 0 || addresses.some((address) => isAllowed(address, portOf(url), policy))
  );
}

function rangeFor(url: CanonicalUrl): string {
  const host = hostOf(url).replace(/^\[|\]$/g, "");
  return isLocalName(host) || host.startsWith("127.") ? "127.0.0.0/8" : host;
}

function isLocalName(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

export function isAddress(host: string): boolean {
  return host.includes(":") || /^\d+\.\d+\.\d+\.\d+$/.test(host);
}

/** For `example.org`, which users type: suggests the complete URL. */
function completed(text: string): string {
  const guess = canonicalUrl(`https://${text}`);
  const looksRight = /^[^\s/:@]+\.[^\s/:@]+(:\d+)?(\/\S*)?$/.test(text);
  return looksRight && !isRefused(guess) ? `; did you mean ${visible(guess, 200)}?` : "";
}

function* linesOf(file: string): Generator<{ readonly number: number; readonly text: string }> {
  let number = 0;
  let rest = "";
  for (const piece of piecesOf(file)) {
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    // Of a line without end only enough is kept to report it as too long.
    rest = (lines.pop() ?? "").slice(0, LINE_CHARACTERS_MAX + 1);
    for (const text of lines) yield { number: ++number, text };
  }
  if (rest !== "") yield { number: ++number, text: rest };
}

function* piecesOf(file: string): Generator<string> {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, "r");
    const decoder = new StringDecoder("utf8");
    const buffer = Buffer.alloc(PIECE_BYTES);
    for (let isFirst = true; ; isFirst = false) {
      const length = readSync(descriptor, buffer);
      if (length === 0) break;
      const piece = decoder.write(buffer.subarray(0, length));
      yield isFirst ? piece.replace(/^\ufeff/, "") : piece;
    }
    yield decoder.end();
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new CrawlError("FILE_UNREADABLE", `Cannot read ${visible(file, 120)}: ${reason}.`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
