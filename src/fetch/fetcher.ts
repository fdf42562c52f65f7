/**
 * Fetches one URL: one request to one site, one value that says all about how it ended.
 *
 * It puts the hands in order: resolver (which guards addresses), transport, decoder, cookie jar.
 * It follows nothing and retries nothing but the next address of a name that did not connect; a
 * redirect is an answer, and goes back through the gate like any other link.
 *
 * Promises: never throws for what a site does; exactly one reason for each failure; no connection
 * to an address that the guard has not allowed; credentials are in no result and no archive.
 *
 * Behind a proxy names are not looked up here, so only literal addresses and this machine's own
 * names are guarded; whatever a name leads to is for the proxy to guard.
 */

import { isIP } from "node:net";
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import type { Reason } from "../page/outcome.ts";
import type { Remark } from "../page/page.ts";
import {
  type CanonicalUrl,
  hostOf,
  pathOf,
  portOf,
  type ResolvedUrl,
  schemeOf,
  type UrlRules,
  writtenOf,
} from "../url/url.ts";
import type { CookieJar } from "./cookies.ts";
import { CODINGS_OFFERED, decodeBody } from "./decode.ts";
import { contentTypeOf, interpret, isWanted, validatorOf } from "./interpret.ts";
import type { Resolution, Resolver } from "./resolver.ts";
import {
  type HeaderField,
  headerOf,
  NO_TRAFFIC,
  type OnBytes,
  type Traffic,
  type Transport,
  type TransportAnswer,
  type TransportFailed,
  type TransportLimits,
  type TransportRequest,
} from "./transport.ts";

export interface FetcherOptions {
  readonly transport: Transport;
  readonly resolver: Resolver;
  readonly clock: Clock;
  readonly limits: TransportLimits;
  readonly decodedBytesMax: number;
  readonly userAgent: string;
  readonly urlRules: UrlRules;
  /** Set when the transport sends everything through a proxy. */
  readonly proxied: boolean;
  readonly cookies: CookieJar | undefined;
}

export interface FetchRequest {
  readonly url: CanonicalUrl;
  /** How to write it in the request, where that is another spelling. */
  readonly written?: string | undefined;
  /** From the resolver, when the caller had to know them first; otherwise they are asked for. */
  readonly addresses?: readonly string[];
  /** What was kept of the last visit; empty for nothing. */
  readonly etag?: string;
  readonly lastModified?: string;
  /** Media types whose bodies are read; empty or absent for all. */
  readonly acceptTypes?: readonly string[];
  /** Most bytes on the wire, when other than usual; a longer body is then cut and kept. */
  readonly keepBytesMax?: number;
  readonly onBytes?: OnBytes | undefined;
  /**
   * Called when the header has arrived, with the length of the whole response if the header states
   * it.
   */
  readonly onLength?: ((bytes: number | undefined) => void) | undefined;
  /** Called when the request is sent. */
  readonly onSent?: (() => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The exchange as an archive wants it: what was asked, and what came, coded as it came. */
export interface Reply {
  readonly requestHead: string;
  readonly status: number;
  readonly statusText: string;
  readonly httpVersion: "1.0" | "1.1" | "2";
  readonly headers: readonly HeaderField[];
  readonly body: Uint8Array;
  readonly truncated: "length" | "time" | "disconnect" | undefined;
}

interface Attempt {
  /** When it began, wall clock. */
  readonly atMs: number;
  readonly durationMs: number;
  /** Connected to, or tried last; empty when a proxy was asked or nothing was. */
  readonly address: string;
  /** Of all addresses tried, added up. */
  readonly traffic: Traffic;
}

export interface FetchedPage extends Attempt {
  readonly kind: "page";
  readonly reply: Reply;
  /** Free of all codings. */
  readonly body: Uint8Array;
  readonly contentType: string;
  readonly etag: string;
  readonly lastModified: string;
  readonly remarks: readonly Remark[];
}

export interface FetchNotModified extends Attempt {
  readonly kind: "not_modified";
  readonly reply: Reply;
}

export interface FetchRedirect extends Attempt {
  readonly kind: "redirect";
  readonly reply: Reply;
  readonly to: ResolvedUrl;
}

/** 429 or 503: the site asks for patience; the URL is still wanted. */
export interface FetchBusy extends Attempt {
  readonly kind: "busy";
  readonly reply: Reply;
  readonly reason: Reason;
  readonly retryAfterMs: number | undefined;
}

export interface FetchFailed extends Attempt {
  readonly kind: "failed";
  readonly reason: Reason;
  /** For people; foreign text, so it is shown only through `visible`. */
  readonly detail: string;
  /** Present when the site did answer. */
  readonly reply: Reply | undefined;
}

export type FetchResult = FetchedPage | FetchNotModified | FetchRedirect | FetchBusy | FetchFailed;

const ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const ADDRESSES_TRIED_MAX = 3;
const REACHED_MAX = 10_000;
/** Only when nothing was said to one address may another one be tried. */
const TRY_NEXT_ADDRESS: ReadonlySet<Reason> = new Set([
  "connect_refused",
  "connect_timeout",
  "connect_error",
]);

/** Without a route, IPv6 would fail too, and its look-up only take time. */
const TRY_IPV6: ReadonlySet<Reason> = new Set(["connect_refused", "connect_timeout"]);

type Head = Pick<TransportAnswer, "status" | "headers">;
type Header = readonly [name: string, value: string];

type Place = Pick<TransportRequest, "scheme" | "host" | "port" | "path">;

interface Tried {
  readonly address: string;
  readonly traffic: Traffic;
  readonly result: TransportAnswer | TransportFailed;
}

export class Fetcher {
  readonly #options: FetcherOptions;
  readonly #headers: readonly Header[];
  /** The usual headers, as they stand in a request. */
  readonly #headText: string;
  /** Names whose IPv4 addresses could not be connected to, with the address of IPv6 that could. */
  readonly #reachedByIPv6 = new Map<string, readonly string[]>();

  constructor(options: FetcherOptions) {
    this.#options = options;
    this.#headers = [
      ["user-agent", options.userAgent],
      ["accept", ACCEPT],
      ["accept-encoding", CODINGS_OFFERED],
    ];
    this.#headText = headText(this.#headers);
  }

  async fetch(request: FetchRequest): Promise<FetchResult> {
    const { clock } = this.#options;
    const atMs = clock.wallMs();
    const startedMs = clock.nowMs();
    const resolved = await this.#addressesOf(request);
    if (resolved.kind === "failed") {
      const { reason, detail } = resolved;
      const durationMs = clock.nowMs() - startedMs;
      const attempt = { atMs, durationMs, address: "", traffic: NO_TRAFFIC };
      return { ...attempt, kind: "failed", reason, detail, reply: undefined };
    }
    const headers = this.#headersFor(request);
    const where = placeOf(request);
    const { addresses } = resolved;
    const { address, traffic, result } = await this.#exchange(request, addresses, where, headers);
    const attempt = { atMs, durationMs: clock.nowMs() - startedMs, address, traffic };
    if (result.kind === "failed") {
      const { reason, detail } = result;
      return { ...attempt, kind: "failed", reason, detail, reply: undefined };
    }
    this.#takeCookies(request.url, result);
    const fields = headers === this.#headers ? this.#headText : headText(headers);
    return this.#settle(request, attempt, result, requestHead(where, fields));
  }

  #addressesOf({ url, addresses }: FetchRequest): Resolution | Promise<Resolution> {
    if (addresses !== undefined && addresses.length > 0) return { kind: "addresses", addresses };
    const host = hostOf(url);
    if (this.#options.proxied && !isOwnOrLiteral(host))
      return { kind: "addresses", addresses: [""] };
    return this.#options.resolver.resolve(host, portOf(url));
  }

  /** Tries the addresses in turn, and those of IPv6 when none of IPv4 can be connected to. */
  async #exchange(
    request: FetchRequest,
    addresses: readonly string[],
    where: Place,
    headers: readonly Header[],
  ): Promise<Tried> {
    const { proxied, resolver } = this.#options;
    if (proxied) return this.#tryAddresses(request, [""], where, headers);
    const name = `${where.host}:${where.port}`;
    const reached = this.#reachedByIPv6.get(name);
    if (reached !== undefined) {
      const tried = await this.#tryAddresses(request, reached, where, headers);
      if (!isDead(tried.result)) return tried;
      this.#reachedByIPv6.delete(name);
    }
    const tried = await this.#tryAddresses(request, addresses, where, headers);
    const { result } = tried;
    const isClosed = result.kind === "failed" && TRY_IPV6.has(result.reason);
    const isOnlyIPv4 = addresses.every((address) => isIP(address) === 4);
    if (!isClosed || !isOnlyIPv4 || request.signal?.aborted === true) return tried;
    const others = await resolver.resolveIPv6?.(where.host, where.port);
    const fresh =
      others?.kind === "addresses" ? others.addresses.filter((one) => isIP(one) === 6) : [];
    if (fresh.length === 0) return tried;
    const again = await this.#tryAddresses(request, fresh, where, headers);
    // A machine without IPv6 says nothing about the site.
    if (isDead(again.result)) return { ...tried, traffic: sum(again.traffic, tried.traffic) };
    this.#rememberIPv6(name, again.address);
    return { ...again, traffic: sum(tried.traffic, again.traffic) };
  }

  #rememberIPv6(name: string, address: string): void {
    const [oldest] = this.#reachedByIPv6.keys();
    if (this.#reachedByIPv6.size >= REACHED_MAX && oldest !== undefined)
      this.#reachedByIPv6.delete(oldest);
    this.#reachedByIPv6.set(name, [address]);
  }

  async #tryAddresses(
    request: FetchRequest,
    addresses: readonly string[],
    where: Place,
    headers: readonly Header[],
  ): Promise<Tried> {
    const { transport, limits } = this.#options;
    const { acceptTypes = [], onBytes, onSent, signal } = request;
    const candidates = addresses.slice(0, ADDRESSES_TRIED_MAX);
    const isChoosy = acceptTypes.length > 0 || request.onLength !== undefined;
    const wantsBody = isChoosy ? (head: Head) => this.#wantsBody(request, head) : undefined;
    // The addresses share the time to connect, so that one that hangs leaves some for the next.
    const connectMs = Math.ceil(limits.connectMs / Math.max(1, candidates.length));
    const bodyBytesMax = request.keepBytesMax ?? limits.bodyBytesMax;
    let traffic = NO_TRAFFIC;
    for (let index = 0; ; index++) {
      const address = candidates[index];
      assert(address !== undefined, "a resolver that succeeds gives an address");
      const totalMs = Math.max(1, limits.totalMs - (traffic.totalMs - traffic.pausedMs));
      // Nearly always the first address is the only one, and nothing about the limits has changed.
      const isUsual = totalMs === limits.totalMs && connectMs === limits.connectMs;
      const isAsAgreed = isUsual && bodyBytesMax === limits.bodyBytesMax;
      const agreed = isAsAgreed ? limits : { ...limits, connectMs, totalMs, bodyBytesMax };
      const result = await transport.exchange({
        ...where,
        address,
        headers,
        limits: agreed,
        wantsBody,
        onBytes,
        onSent,
        signal,
      });
      traffic = index === 0 ? result.traffic : sum(traffic, result.traffic);
      if (!isDead(result) || index + 1 === candidates.length || signal?.aborted === true)
        return { address, traffic, result };
    }
  }

  #wantsBody({ acceptTypes = [], onLength }: FetchRequest, head: Head): boolean {
    onLength?.(lengthOf(head));
    return acceptTypes.length === 0 || isWanted(head, acceptTypes);
  }

  #headersFor(request: FetchRequest): readonly Header[] {
    const { etag = "", lastModified = "", url } = request;
    const { cookies, clock } = this.#options;
    const cookie = cookies?.headerFor(cookiePlace(url), clock.wallMs());
    if (etag === "" && lastModified === "" && cookie === undefined) return this.#headers;
    const headers = [...this.#headers];
    if (isHeaderValue(etag)) headers.push(["if-none-match", etag]);
    if (isHeaderValue(lastModified)) headers.push(["if-modified-since", lastModified]);
    if (cookie !== undefined) headers.push(["cookie", cookie]);
    return headers;
  }

  #takeCookies(url: CanonicalUrl, answer: TransportAnswer): void {
    const { cookies, clock } = this.#options;
    if (cookies === undefined) return;
    for (const [name, value] of answer.headers)
      if (name === "set-cookie") cookies.take(value, cookiePlace(url), clock.wallMs());
  }

  #settle(
    request: FetchRequest,
    attempt: Attempt,
    answer: TransportAnswer,
    head: string,
  ): FetchResult | Promise<FetchResult> {
    const { url, written, etag = "", lastModified = "", acceptTypes = [] } = request;
    const conditional = etag !== "" || lastModified !== "";
    const asked = { url, written, conditional, urlRules: this.#options.urlRules, acceptTypes };
    const verdict = interpret(answer, asked, attempt.atMs);
    const reply = replyOf(answer, head);
    switch (verdict.kind) {
      case "page":
        return this.#page(request, attempt, { answer, reply });
      case "busy":
        return { ...attempt, ...verdict, reply, reason: `http_${answer.status}` };
      default:
        return { ...attempt, ...verdict, reply };
    }
  }

  async #page(
    request: FetchRequest,
    attempt: Attempt,
    { answer, reply }: { readonly answer: TransportAnswer; readonly reply: Reply },
  ): Promise<FetchResult> {
    const failed = (reason: Reason, detail: string): FetchFailed => ({
      ...attempt,
      kind: "failed",
      reason,
      detail,
      reply,
    });
    if (answer.truncated !== undefined && request.keepBytesMax === undefined)
      return failed("body_too_large", "more on the wire than the cap");
    const coding = joinedHeader(answer, "content-encoding");
    const decoded = await decodeBody(answer.body, coding, this.#options.decodedBytesMax);
    if (decoded.kind === "failed") return failed(decoded.reason, decoded.detail);
    return {
      ...attempt,
      kind: "page",
      reply,
      body: decoded.body,
      contentType: contentTypeOf(answer),
      etag: validatorOf(answer, "etag"),
      lastModified: validatorOf(answer, "last-modified"),
      remarks: remarksOn(answer, decoded.fellBack),
    };
  }
}

function isDead(result: Tried["result"]): boolean {
  return result.kind === "failed" && TRY_NEXT_ADDRESS.has(result.reason);
}

function remarksOn(answer: TransportAnswer, fellBack: boolean): Remark[] {
  const remarks: Remark[] = [];
  if (answer.truncated !== undefined) remarks.push("truncated");
  if (answer.eofDelimited) remarks.push("eof_delimited");
  if (!answer.verified) remarks.push("tls_unverified");
  if (answer.bareLineEnds === true) remarks.push("bare_line_ends");
  if (fellBack) remarks.push("encoding_fallback");
  return remarks;
}

function replyOf(answer: TransportAnswer, head: string): Reply {
  const { status, statusText, httpVersion, headers, body, truncated } = answer;
  return { requestHead: head, status, statusText, httpVersion, headers, body, truncated };
}

/** The request as it went out, but for what only we and that site may know. */
function requestHead({ scheme, host, port, path }: Place, fields: string): string {
  const authority = port === (scheme === "http" ? 80 : 443) ? host : `${host}:${port}`;
  return `GET ${path} HTTP/1.1\r\nhost: ${authority}\r\nconnection: keep-alive\r\n${fields}\r\n`;
}

function placeOf(request: FetchRequest): Place {
  const { url } = request;
  const path = pathOf(writtenOf(request));
  return { scheme: schemeOf(url), host: hostOf(url), port: portOf(url), path };
}

function headText(headers: readonly Header[]): string {
  let text = "";
  for (const [name, value] of headers) if (name !== "cookie") text += `${name}: ${value}\r\n`;
  return text;
}

function joinedHeader(answer: TransportAnswer, name: string): string | undefined {
  if (headerOf(answer, name) === undefined) return undefined;
  const values = answer.headers.filter(([header]) => header === name);
  return values.map(([, value]) => value).join(",");
}

function cookiePlace(url: CanonicalUrl): { secure: boolean; host: string; path: string } {
  return { secure: schemeOf(url) === "https", host: hostOf(url), path: pathOf(url) };
}

function isOwnOrLiteral(host: string): boolean {
  return host.startsWith("[") || isIP(host) !== 0 || /(^|\.)localhost$/.test(host);
}

function isHeaderValue(text: string): boolean {
  return text !== "" && /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}

function sum(a: Traffic, b: Traffic): Traffic {
  return {
    receivedBytes: a.receivedBytes + b.receivedBytes,
    sentBytes: a.sentBytes + b.sentBytes,
    connectMs: a.connectMs + b.connectMs,
    firstByteMs: b.firstByteMs,
    bodyMs: b.bodyMs,
    totalMs: a.totalMs + b.totalMs,
    pausedMs: a.pausedMs + b.pausedMs,
    rttMs: b.rttMs,
  };
}

function lengthOf(head: Head): number | undefined {
  const length = headerOf(head, "content-length");
  if (length === undefined || !/^\d{1,15}$/.test(length)) return undefined;
  const headBytes = head.headers.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  return headBytes + Number(length);
}
