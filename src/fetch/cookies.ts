/**
 * A cookie jar for crawls that ask for one: RFC 6265 as far as a crawler needs it, and bounded.
 *
 * Cookies are kept by the host or domain they were set for, and a request sees only those of its
 * own host and the domains above it. So a cookie cannot cross to another site, whatever redirects
 * where. Public suffixes (`co.uk`, `github.io`) cannot set cookies for all below them.
 *
 * Limits: 4 KiB a cookie, 50 a host or domain, 10,000 in all; the oldest is dropped for a new one.
 * Both operations cost one look-up per label of the host name.
 */

import { getDomain } from "tldts";

export interface CookiePlace {
  readonly secure: boolean;
  /** As in a canonical URL: lower case, a name or an address. */
  readonly host: string;
  readonly path: string;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly secureOnly: boolean;
  /** Only for the host that set it, not for those below. */
  readonly hostOnly: boolean;
  readonly expiresAtMs: number;
}

const COOKIE_BYTES_MAX = 4096;
const PER_HOST_MAX = 50;
const IN_ALL_MAX = 10_000;
const SENT_BYTES_MAX = 8192;

export class CookieJar {
  /** Domain, then name and path; both maps keep the order of setting, so the oldest is first. */
  readonly #domains = new Map<string, Map<string, Cookie>>();
  #count = 0;

  get size(): number {
    return this.#count;
  }

  /** Takes one `Set-Cookie` header that came from `place`; what breaks a rule is ignored. */
  take(header: string, place: CookiePlace, wallMs: number): void {
    if (header.length > COOKIE_BYTES_MAX) return;
    const [pair = "", ...attributes] = header.split(";");
    const split = pair.indexOf("=");
    const name = pair.slice(0, Math.max(0, split)).trim();
    const value = pair.slice(split + 1).trim();
    if (name === "" || !isVisibleAscii(name) || !isVisibleAscii(value)) return;
    const told = readAttributes(attributes, wallMs);
    const domain = settableDomain(told.domain, place.host);
    if (domain === undefined || (told.secureOnly && !place.secure)) return;
    const path = told.path ?? defaultPath(place.path);
    const cookie: Cookie = {
      name,
      value,
      path,
      secureOnly: told.secureOnly,
      hostOnly: told.domain === "",
      expiresAtMs: told.expiresAtMs,
    };
    this.#put(domain, `${name}\n${path}`, cookie, wallMs);
  }

  /** The `Cookie` header for a request, longest paths first; undefined when there is none. */
  headerFor(place: CookiePlace, wallMs: number): string | undefined {
    const chosen: Cookie[] = [];
    for (const domain of domainsAbove(place.host)) {
      for (const cookie of this.#domains.get(domain)?.values() ?? []) {
        if (cookie.expiresAtMs <= wallMs || (cookie.secureOnly && !place.secure)) continue;
        if (cookie.hostOnly && domain !== place.host) continue;
        if (isUnder(place.path, cookie.path)) chosen.push(cookie);
      }
    }
    chosen.sort((a, b) => b.path.length - a.path.length);
    let header = "";
    for (const { name, value } of chosen) {
      const next = header === "" ? `${name}=${value}` : `${header}; ${name}=${value}`;
      if (next.length > SENT_BYTES_MAX) break;
      header = next;
    }
    return header === "" ? undefined : header;
  }

  #put(domain: string, key: string, cookie: Cookie, wallMs: number): void {
    const cookies = this.#domains.get(domain) ?? new Map<string, Cookie>();
    if (cookies.delete(key)) this.#count--;
    if (cookie.expiresAtMs > wallMs) {
      if (cookies.size >= PER_HOST_MAX) this.#dropOldest(cookies);
      cookies.set(key, cookie);
      this.#count++;
    }
    // A new cookie moves the domain to the young end.
    this.#domains.delete(domain);
    if (cookies.size > 0) this.#domains.set(domain, cookies);
    if (this.#count > IN_ALL_MAX) this.#dropFromOldestDomain();
  }

  #dropFromOldestDomain(): void {
    const [oldest] = this.#domains;
    if (oldest === undefined) return;
    const [domain, cookies] = oldest;
    this.#dropOldest(cookies);
    if (cookies.size === 0) this.#domains.delete(domain);
  }

  #dropOldest(cookies: Map<string, Cookie>): void {
    const [key] = cookies.keys();
    if (key !== undefined && cookies.delete(key)) this.#count--;
  }
}

interface Attributes {
  /** Empty when the cookie names none. */
  readonly domain: string;
  readonly path: string | undefined;
  readonly secureOnly: boolean;
  readonly expiresAtMs: number;
}

function readAttributes(attributes: readonly string[], wallMs: number): Attributes {
  let domain = "";
  let path: string | undefined;
  let secureOnly = false;
  let expiresAtMs = Number.POSITIVE_INFINITY;
  let maxAgeSeen = false;
  for (const attribute of attributes) {
    const split = attribute.indexOf("=");
    const name = (split < 0 ? attribute : attribute.slice(0, split)).trim().toLowerCase();
    const value = split < 0 ? "" : attribute.slice(split + 1).trim();
    if (name === "domain") domain = value.replace(/^\./, "").toLowerCase();
    else if (name === "path" && value.startsWith("/")) path = value;
    else if (name === "secure") secureOnly = true;
    else if (name === "max-age" && /^-?\d{1,15}$/.test(value)) {
      maxAgeSeen = true;
      expiresAtMs = wallMs + Number(value) * 1000;
    } else if (name === "expires" && !maxAgeSeen) {
      const atMs = Date.parse(value);
      // An unreadable date makes it a cookie for this crawl only.
      if (!Number.isNaN(atMs)) expiresAtMs = atMs;
    }
  }
  return { domain, path, secureOnly, expiresAtMs };
}

/** The domain a cookie is kept under, or undefined when that host may not set it. */
function settableDomain(named: string, host: string): string | undefined {
  if (named === "" || named === host) return host;
  if (!host.endsWith(`.${named}`)) return undefined;
  // An address has no registrable domain, nor has a public suffix: neither has anything below it.
  return getDomain(host, { allowPrivateDomains: true }) === null ||
    getDomain(named, { allowPrivateDomains: true }) === null
    ? undefined
    : named;
}

/** RFC 6265, 5.1.4: the folder of the page that set it. */
function defaultPath(path: string): string {
  const bare = path.split("?", 1)[0] ?? "/";
  const end = bare.lastIndexOf("/");
  return end <= 0 ? "/" : bare.slice(0, end);
}

function isUnder(requestPath: string, cookiePath: string): boolean {
  if (!requestPath.startsWith(cookiePath)) return false;
  if (cookiePath.endsWith("/") || requestPath.length === cookiePath.length) return true;
  return requestPath[cookiePath.length] === "/" || requestPath[cookiePath.length] === "?";
}

function* domainsAbove(host: string): Generator<string> {
  yield host;
  for (let dot = host.indexOf("."); dot >= 0; dot = host.indexOf(".", dot + 1))
    yield host.slice(dot + 1);
}

/** What may stand in a request header; anything else could forge a second one. */
function isVisibleAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text) && !text.includes(";");
}
