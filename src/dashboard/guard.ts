/**
 * Decides who may use the dashboard, from the head of a request alone, before anything is done.
 *
 * Every request needs the token of this start, or the session for which it was exchanged. Another
 * web page cannot reach the server by a name that resolves to it (the Host must be an address of
 * ours or `localhost`), cannot make a browser act for it (Origin and fetch metadata), and cannot
 * guess (constant-time comparison; after ten wrong tokens, none is examined for a minute). The
 * session's cookie is limited to a secret path: cookies do not distinguish ports, so without it
 * every other server on this machine would receive ours.
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

const TOKEN_BYTES = 24;
const WRONG_MAX = 10;
const PAUSE_MS = 60_000;

export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "cache-control": "no-store",
};

/** The examined parts of a request. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The local address of the connection. */
  readonly localAddress: string;
  /** A token in the URL. */
  readonly tokenInQuery: string | undefined;
}

export type Verdict =
  | { readonly kind: "allowed" }
  /** The token was right: send the session. */
  | { readonly kind: "welcome" }
  | { readonly kind: "refused"; readonly status: 401 | 403 | 429; readonly why: string };

interface GuardWish {
  /**
   * A host name by which the operator reaches the server from other machines; undefined on
   * loopback.
   */
  readonly hostName: string | undefined;
  /** Replaces the random one, for programs that must know it in advance. */
  readonly token: string | undefined;
}

export class Guard {
  readonly token: string;
  /** The path prefix of everything except the entrance and the metrics; ends in a slash. */
  readonly base: string;
  readonly #session: string;
  readonly #hostName: string | undefined;
  #wrong = 0;
  #pausedUntilMs = -Infinity;

  constructor({ hostName, token }: GuardWish) {
    this.token = token ?? secret();
    this.base = `/${randomBytes(9).toString("base64url")}/`;
    this.#session = secret();
    this.#hostName = hostName?.toLowerCase();
  }

  /** Sent once, in exchange for the token. */
  get cookie(): string {
    return `weir=${this.#session}; Path=${this.base}; HttpOnly; SameSite=Strict`;
  }

  judge(asked: Asked, nowMs: number): Verdict {
    const { headers, path, tokenInQuery } = asked;
    if (!this.#isOurName(headers.host ?? "", asked.localAddress))
      return refused(403, "The dashboard does not serve this host name.");
    const isEntering = path === "/" && tokenInQuery !== undefined;
    if (!isFromUs(headers, isEntering))
      return refused(403, "Requests from other pages are refused.");
    const verdict = this.#identify(asked, nowMs, isEntering);
    if (verdict.kind !== "allowed" || asked.method === "GET" || asked.method === "HEAD")
      return verdict;
    return isOwnWish(headers)
      ? verdict
      : refused(403, "Only the page of the dashboard may do this.");
  }

  #identify({ headers, path, tokenInQuery }: Asked, nowMs: number, isEntering: boolean): Verdict {
    if (path.startsWith(this.base) && this.#hasSession(headers.cookie ?? ""))
      return { kind: "allowed" };
    const bearer = /^Bearer (\S+)$/.exec(headers.authorization ?? "")?.[1];
    const token = bearer ?? tokenInQuery;
    if (token === undefined)
      return refused(401, "Open the URL that Weir printed; it contains the token.");
    if (nowMs < this.#pausedUntilMs)
      return refused(429, "Too many wrong tokens; wait for a minute.");
    if (!isSame(token, this.token)) {
      this.#wrong += 1;
      if (this.#wrong >= WRONG_MAX) {
        this.#wrong = 0;
        this.#pausedUntilMs = nowMs + PAUSE_MS;
      }
      return refused(401, "This token is wrong or no longer valid.");
    }
    this.#wrong = 0;
    return { kind: isEntering ? "welcome" : "allowed" };
  }

  #hasSession(cookies: string): boolean {
    return cookies.split(";").some((pair) => {
      const [name = "", value = ""] = pair.trim().split("=", 2);
      return name === "weir" && isSame(value, this.#session);
    });
  }

  /** The port is ignored: a tunnel has its own, and rebinding needs a name. */
  #isOurName(host: string, localAddress: string): boolean {
    const name = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/.exec(host.toLowerCase())?.[1];
    if (name === undefined) return false;
    if (name === "localhost" || name === this.#hostName) return true;
    const address = localAddress.replace(/^::ffff:/, "").toLowerCase();
    return name === address || name === `[${address}]`;
  }
}

/** Browsers send the origin of a request; programs send none, and have the token. */
function isFromUs(headers: IncomingHttpHeaders, isEntering: boolean): boolean {
  const site = headers["sec-fetch-site"];
  if (site === undefined || site === "same-origin" || site === "none") return true;
  // Links in mails or other programs may lead to the entrance, and only there.
  return isEntering && headers["sec-fetch-mode"] === "navigate";
}

function isOwnWish(headers: IncomingHttpHeaders): boolean {
  return (
    headers.origin === `http://${headers.host}` &&
    headers["x-weir"] === "1" &&
    /^application\/json(?:;|$)/.test(headers["content-type"] ?? "")
  );
}

/** Takes the same time for right and wrong guesses. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function secret(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

function refused(status: 401 | 403 | 429, why: string): Verdict {
  return { kind: "refused", status, why };
}
