/**
 * Classifies a response before its body is read: a page, a redirect, a request to wait, a refusal.
 *
 * Pure: status and headers in, verdict out. Whether a redirect may be followed (scope, robots,
 * loops, limits) is decided by the caller, because every hop is admitted again.
 */

import type { Reason } from "../page/outcome.ts";
import { withoutCredentials } from "../url/credentials.ts";
import {
  type CanonicalUrl,
  isRefused,
  type ResolvedUrl,
  resolveUrl,
  type UrlRules,
  writtenOf,
} from "../url/url.ts";
import { headerOf, type TransportAnswer } from "./transport.ts";

export type Verdict =
  | { readonly kind: "page" }
  | { readonly kind: "not_modified" }
  | { readonly kind: "redirect"; readonly to: ResolvedUrl }
  | { readonly kind: "busy"; readonly retryAfterMs: number | undefined }
  | { readonly kind: "failed"; readonly reason: Reason; readonly detail: string };

export interface Asked {
  readonly url: CanonicalUrl;
  /** As it was written, where that is another spelling. */
  readonly written?: string | undefined;
  /** Whether the request named a version it knows, so that 304 can be an answer to it. */
  readonly conditional: boolean;
  readonly urlRules: UrlRules;
  /** Media types that are wanted, such as `text/html` or `text/*`; empty for all. */
  readonly acceptTypes: readonly string[];
}

type Head = Pick<TransportAnswer, "status" | "headers">;

const RETRY_AFTER_MS_MAX = 3_600_000;
const HTTP_DATE = /^[A-Z][a-z]{2,8},? [\w :-]{16,30}$/;
const MEDIA_TYPE = /^\s*([\w!#$&^.+-]+\/[\w!#$&^.+-]+)\s*(?:;|$)/;
const VALIDATOR_LENGTH_MAX = 1024;

export function interpret(head: Head, asked: Asked, wallMs: number): Verdict {
  const { status } = head;
  if (status >= 200 && status <= 299) return onSuccess(head, asked);
  switch (status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return onRedirect(head, asked);
    case 304:
      return asked.conditional ? { kind: "not_modified" } : failed("http_304", "unasked");
    case 401:
    case 407:
      return failed("auth_required", `status ${status}`);
    case 429:
    case 503:
      return { kind: "busy", retryAfterMs: readRetryAfter(headerOf(head, "retry-after"), wallMs) };
    default:
      return status >= 600
        ? failed("bad_status", `status ${status}`)
        : failed(`http_${status}`, `status ${status}`);
  }
}

/** The first Content-Type that is one, in lower case and without parameters. */
function mediaTypeOf(head: Pick<Head, "headers">): string | undefined {
  return MEDIA_TYPE.exec(contentTypeOf(head))?.[1]?.toLowerCase();
}

/** The first Content-Type that is one, as it came; empty when there is none. */
export function contentTypeOf({ headers }: Pick<Head, "headers">): string {
  for (const [name, value] of headers)
    if (name === "content-type" && MEDIA_TYPE.test(value)) return value;
  return "";
}

/** An entity tag or date, short enough to be kept and sent back. */
export function validatorOf(head: Pick<Head, "headers">, name: string): string {
  return (headerOf(head, name) ?? "").slice(0, VALIDATOR_LENGTH_MAX);
}

export function isWanted(head: Head, acceptTypes: readonly string[]): boolean {
  if (acceptTypes.length === 0 || head.status < 200 || head.status > 299) return true;
  const type = mediaTypeOf(head);
  if (type === undefined) return true;
  return acceptTypes.some((accepted) =>
    accepted.endsWith("/*")
      ? type.startsWith(accepted.slice(0, -1).toLowerCase())
      : type === accepted.toLowerCase(),
  );
}

/** Seconds or a date, at most an hour ahead; anything else, and the past, is as if it were absent. */
export function readRetryAfter(text: string | undefined, wallMs: number): number | undefined {
  if (text === undefined) return undefined;
  const trimmed = text.trim();
  if (/^\d{1,15}$/.test(trimmed)) return Math.min(RETRY_AFTER_MS_MAX, Number(trimmed) * 1000);
  const atMs = HTTP_DATE.test(trimmed) ? Date.parse(trimmed) : Number.NaN;
  if (Number.isNaN(atMs) || atMs <= wallMs) return undefined;
  return Math.min(RETRY_AFTER_MS_MAX, atMs - wallMs);
}

function onSuccess(head: Head, asked: Asked): Verdict {
  if (head.status === 206)
    return failed("bad_partial", "a partial response that was not requested");
  if (!isWanted(head, asked.acceptTypes))
    return failed("type_unwanted", mediaTypeOf(head) ?? "no type");
  return { kind: "page" };
}

function onRedirect(head: Head, asked: Asked): Verdict {
  const location = headerOf(head, "location") ?? "";
  if (location.trim() === "") return failed("bad_redirect", "no Location");
  // Headers are read as Latin-1, but an address with bare letters in it is mostly UTF-8.
  const text = Buffer.from(location, "latin1").toString("utf8");
  const to = resolveUrl(text, writtenOf(asked), asked.urlRules);
  if (!isRefused(to))
    return to.url === asked.url
      ? failed("redirect_loop", "leads to itself")
      : { kind: "redirect", to };
  return to.refused === "scheme_refused" || to.refused === "port_refused"
    ? failed(to.refused, withoutCredentials(location))
    : failed("bad_redirect", to.refused);
}

function failed(reason: Reason, detail: string): Verdict {
  return { kind: "failed", reason, detail };
}
