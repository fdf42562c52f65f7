/**
 * The one canonical form of a URL, or the reason why there is none.
 *
 * The WHATWG parser runs first and resolves the link like a browser. Then only changes that, according to RFC 3986
 * (6.2.2), cannot alter the meaning: escapes in upper case, unreserved characters unescaped, no fragment.
 * Further parts that never identify another page are removed: credentials (never stored), the dot at the end of
 * a host name, and a question mark at the end.
 *
 * Promises: the form is ASCII, begins with http:// or https://, has at most 2,048 bytes, and is
 * its own canonical form. Such a string can be split at its slashes, without a parser.
 *
 * The canonical form is the key. A URL is requested and archived as it was written: as the parser
 * resolves it, so with the escapes of the link, at the canonical origin.
 */

import { domainToUnicode } from "node:url";
import { withoutSessionIds } from "./session-ids.ts";

declare const canonical: unique symbol;
export type CanonicalUrl = string & { readonly [canonical]: true };

export const URL_BYTES_MAX = 2048;
/** A longer text is refused without parsing it. */
const TEXT_LENGTH_MAX = 16 * URL_BYTES_MAX;

export type RefusalReason = "bad_url" | "url_too_long" | "scheme_refused" | "port_refused";

interface UrlRefusal {
  readonly refused: RefusalReason;
}

export interface ResolvedUrl {
  readonly url: CanonicalUrl;
  /** As written, if different from the canonical form; undefined also when longer than a URL may be. */
  readonly written: string | undefined;
}

export interface UrlRules {
  /** Removes every query, for sites whose queries only repeat their pages. */
  readonly dropQuery: boolean;
  /** Removes parameters that identify a visit instead of a page; the table is in `session-ids.ts`. */
  readonly stripSessionIds: boolean;
}

export const PLAIN_RULES: UrlRules = { dropQuery: false, stripSessionIds: false };

const COLON = 0x3a;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

const REFUSED = {
  bad_url: { refused: "bad_url" },
  url_too_long: { refused: "url_too_long" },
  scheme_refused: { refused: "scheme_refused" },
  port_refused: { refused: "port_refused" },
} as const satisfies Record<RefusalReason, UrlRefusal>;

/** Ports of other protocols than HTTP: "bad port" in the Fetch standard. */
const PORTS_REFUSED: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
]);

// The URL standard removes tabs and newlines anywhere, and spaces and controls before the scheme.
const SCHEME = /^[\u0000-\u0020]*([a-z](?:[\t\n\r]*[a-z0-9+.-])*)[\t\n\r]*:/i;
const SCHEME_SEARCH_MAX = 256;

export function canonicalUrl(
  text: string,
  base?: string,
  rules: UrlRules = PLAIN_RULES,
): CanonicalUrl | UrlRefusal {
  const resolved = resolveUrl(text, base, rules);
  return isRefused(resolved) ? resolved : resolved.url;
}

/** `base` is canonical or as written. */
export function resolveUrl(
  text: string,
  base?: string,
  rules: UrlRules = PLAIN_RULES,
): ResolvedUrl | UrlRefusal {
  const scheme = SCHEME.exec(text.slice(0, SCHEME_SEARCH_MAX))?.[1];
  if (scheme !== undefined && !/^https?$/i.test(scheme.replace(/[\t\n\r]/g, "")))
    return REFUSED.scheme_refused;
  if (text.length > TEXT_LENGTH_MAX) return REFUSED.url_too_long;
  const parsed = URL.parse(text, base);
  if (parsed === null) return REFUSED.bad_url;
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") return REFUSED.scheme_refused;
  if (parsed.port !== "" && PORTS_REFUSED.has(Number(parsed.port))) return REFUSED.port_refused;
  const host = checkedHost(parsed.hostname);
  if (host === undefined) return REFUSED.bad_url;

  const port = parsed.port === "" ? "" : `:${parsed.port}`;
  const origin = `${parsed.protocol}//${host}${port}`;
  const path = parsed.pathname;
  const query = rules.dropQuery ? "" : writtenQuery(parsed);
  const canonicalPath = normalEscapes(path);
  const canonicalQuery = query === "?" ? "" : normalEscapes(query);
  const url = origin + stripped(canonicalPath, canonicalQuery, rules);
  if (url.length > URL_BYTES_MAX) return REFUSED.url_too_long;
  if (path === canonicalPath && query === canonicalQuery)
    return { url: url as CanonicalUrl, written: undefined };
  const written = origin + stripped(path, query, rules);
  const isOther = written !== url && written.length <= URL_BYTES_MAX;
  return { url: url as CanonicalUrl, written: isOther ? written : undefined };
}

/** The URL as it is requested, archived and shown. */
export function writtenOf(row: {
  readonly url: string;
  readonly written?: string | undefined;
}): string {
  return row.written ?? row.url;
}

/** Whether foreign data names a spelling of that canonical URL which `resolveUrl` could have given. */
export function isSpellingOf(written: string, url: string): boolean {
  const resolved = resolveUrl(written);
  return !isRefused(resolved) && resolved.url === url && resolved.written === written;
}

/** The parser's `search` does not say whether there was a question mark with nothing behind it. */
function writtenQuery({ search, href }: URL): string {
  const hash = href.indexOf("#");
  const last = href.charAt((hash === -1 ? href.length : hash) - 1);
  return search === "" && last === "?" ? "?" : search;
}

function stripped(path: string, query: string, { stripSessionIds }: UrlRules): string {
  if (!stripSessionIds) return path + query;
  const left = withoutSessionIds(path, query);
  return left.path + left.query;
}

export function isRefused(result: CanonicalUrl | ResolvedUrl | UrlRefusal): result is UrlRefusal {
  return typeof result !== "string" && "refused" in result;
}

export function schemeOf(url: string): "http" | "https" {
  return url.charCodeAt(4) === 0x3a ? "http" : "https";
}

/** The host as in the URL: a name, an IPv4 address or an IPv6 address in brackets. */
export function hostOf(url: string): string {
  const start = hostStart(url);
  const end = pathStart(url);
  const bracket = url.charCodeAt(start) === 0x5b ? url.indexOf("]", start) : start;
  const colon = url.indexOf(":", bracket);
  return url.slice(start, colon === -1 || colon > end ? end : colon);
}

export function portOf(url: string): number {
  const end = pathStart(url);
  let port = 0;
  let unit = 1;
  // Backwards over the digits: only a port follows a colon; an IPv6 host ends with a bracket.
  for (let at = end - 1; at > 0; at--) {
    const code = url.charCodeAt(at);
    if (code === COLON && at < end - 1) return port;
    if (code < DIGIT_0 || code > DIGIT_9) break;
    port += (code - DIGIT_0) * unit;
    unit *= 10;
  }
  return schemeOf(url) === "http" ? 80 : 443;
}

/** Path and query, as on the request line. */
export function pathOf(url: string): string {
  return url.slice(pathStart(url));
}

/** Path and query separately; the query without its question mark, empty if there is none. */
export function splitPath(url: string): { readonly path: string; readonly query: string } {
  const target = pathOf(url);
  const mark = target.indexOf("?");
  if (mark < 0) return { path: target, query: "" };
  return { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

/** Index of the path, which every canonical URL has; before it is `scheme://host:port`. */
export function pathStart(url: string): number {
  return url.indexOf("/", hostStart(url));
}

function hostStart(url: string): number {
  return schemeOf(url) === "http" ? 7 : 8;
}

/**
 * The host without its trailing dot, or undefined if it cannot exist in DNS: an empty label, a label over 63
 * bytes, a name over 253, or an `xn--` label that does not decode to allowed characters.
 */
function checkedHost(hostname: string): string | undefined {
  if (hostname.startsWith("[")) return hostname;
  const host = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  if (host.length > 253) return undefined;
  let labelStart = 0;
  while (labelStart <= host.length) {
    const dot = host.indexOf(".", labelStart);
    const labelEnd = dot === -1 ? host.length : dot;
    if (labelEnd === labelStart || labelEnd - labelStart > 63) return undefined;
    labelStart = labelEnd + 1;
  }
  if (host.includes("xn--") && /(?:^|\.)xn--/.test(domainToUnicode(host))) return undefined;
  return host;
}

/**
 * Decodes escapes of unreserved characters and writes other escapes in upper case.
 *
 * A percent sign outside an escape stays. An escape within two bytes after one stays too: `%4%31` must not
 * become `%41`, which would be decoded to `A` the next time.
 */
function normalEscapes(text: string): string {
  let percent = text.indexOf("%");
  if (percent === -1) return text;
  let normal = "";
  let copied = 0;
  let barePercent = -3;
  while (percent !== -1) {
    const byte = escapedByte(text, percent);
    if (byte === undefined) {
      barePercent = percent;
      percent = text.indexOf("%", percent + 1);
      continue;
    }
    const decodes = isUnreserved(byte) && percent - barePercent > 2;
    normal += text.slice(copied, percent);
    normal += decodes ? String.fromCharCode(byte) : text.slice(percent, percent + 3).toUpperCase();
    copied = percent + 3;
    percent = text.indexOf("%", copied);
  }
  return normal + text.slice(copied);
}

function escapedByte(text: string, percent: number): number | undefined {
  const high = hexDigit(text.charCodeAt(percent + 1));
  const low = hexDigit(text.charCodeAt(percent + 2));
  return high === -1 || low === -1 ? undefined : high * 16 + low;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** ALPHA, DIGIT, "-", ".", "_", "~" (RFC 3986, 2.3). */
function isUnreserved(byte: number): boolean {
  const letter = byte | 0x20;
  if (letter >= 0x61 && letter <= 0x7a) return true;
  if (byte >= 0x30 && byte <= 0x39) return true;
  return byte === 0x2d || byte === 0x2e || byte === 0x5f || byte === 0x7e;
}
