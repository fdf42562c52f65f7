/**
 * Maps a network error to one reason, by its code and the phase in which it occurred.
 *
 * The same broken connection is a refusal while connecting, a reset while waiting and a short body
 * later; so the phase is half of the answer. Pure and complete: an unknown error becomes the reason
 * nearest to its phase.
 */

import { errors } from "undici";
import type { TransportFailure } from "../page/outcome.ts";

/** Where an exchange stands: `sent` waits for the first byte, `head` for the end of the headers. */
export type Phase = "connect" | "tls" | "sent" | "head" | "body";

/** A connection that did not come about; it already knows its reason. */
export class DialError extends Error {
  override readonly name = "DialError";
  readonly reason: TransportFailure;

  constructor(reason: TransportFailure, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

const CERTIFICATE: ReadonlyMap<string, TransportFailure> = new Map([
  ["CERT_HAS_EXPIRED", "tls_expired"],
  ["CERT_NOT_YET_VALID", "tls_expired"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "tls_name"],
  ["HOSTNAME_MISMATCH", "tls_name"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "tls_untrusted"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "tls_untrusted"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tls_untrusted"],
  ["UNABLE_TO_GET_ISSUER_CERT", "tls_untrusted"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "tls_untrusted"],
  ["CERT_UNTRUSTED", "tls_untrusted"],
  ["CERT_REVOKED", "tls_untrusted"],
  ["INVALID_CA", "tls_untrusted"],
]);

/** This machine ran out of something; the site is not to blame. */
const LOCAL: ReadonlySet<string> = new Set([
  "EMFILE",
  "ENFILE",
  "EADDRNOTAVAIL",
  "EADDRINUSE",
  "ENOBUFS",
  "ENOMEM",
  "EAGAIN",
]);

const RESET: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED"]);

/** OpenSSL's words for two sides that share no protocol, or a peer that does not speak TLS. */
const PROTOCOL =
  /VERSION|PROTOCOL|HANDSHAKE_FAILURE|CIPHER|PACKET_LENGTH|HTTP_REQUEST|UNEXPECTED_RECORD|EPROTO/;

/** An error from opening a connection, TCP or TLS. */
export function dialFailure(error: unknown, phase: "connect" | "tls"): DialError {
  const code = codeOf(error);
  const detail = textOf(error);
  if (LOCAL.has(code)) return new DialError("local_resource", detail);
  if (phase === "connect") return new DialError(connectReason(code), detail);
  const certificate = CERTIFICATE.get(code);
  if (certificate !== undefined) return new DialError(certificate, detail);
  if (RESET.has(code)) return new DialError("conn_reset", detail);
  return new DialError(PROTOCOL.test(code) ? "tls_protocol" : "tls_error", detail);
}

/** An error from an open connection. */
export function exchangeFailure(error: unknown, phase: Phase): TransportFailure {
  if (error instanceof DialError) return error.reason;
  // undici's parser reports a forged length as a mismatch, even before there is a body.
  if (error instanceof errors.ResponseContentLengthMismatchError)
    return phase === "body" ? "body_short" : "bad_framing";
  if (error instanceof errors.HeadersOverflowError)
    return phase === "body" ? "bad_framing" : "header_too_large";
  if (error instanceof errors.HTTPParserError) return parserReason(error.message);
  const code = codeOf(error);
  if (LOCAL.has(code)) return "local_resource";
  if (RESET.has(code)) return "conn_reset";
  // undici's own errors have no code of HTTP/2, and say what it is in words only.
  if (error instanceof Error && error.message.startsWith("HTTP/2:"))
    return http2Reason(error, phase);
  if (error instanceof errors.SocketError)
    return isEndOfConnection(error) ? endReason(phase) : "bad_framing";
  if (code.startsWith("ERR_HTTP2")) return http2Reason(error, phase);
  // The parser asserts what llhttp let through, such as a status of 000.
  if (code === "ERR_ASSERTION") return "bad_framing";
  if (code.startsWith("ERR_SSL")) return "tls_error";
  if (code === "ETIMEDOUT" || code === "EHOSTUNREACH") return "conn_reset";
  return phase === "connect" ? "connect_error" : "internal_error";
}

/** True when the other side ended the connection, with or without manners. */
export function isEndOfConnection(error: unknown): boolean {
  if (RESET.has(codeOf(error))) return true;
  return error instanceof errors.SocketError && /closed/.test(error.message);
}

function connectReason(code: string): TransportFailure {
  if (code === "ECONNREFUSED") return "connect_refused";
  if (code === "ETIMEDOUT") return "connect_timeout";
  return RESET.has(code) ? "conn_reset" : "connect_error";
}

/** llhttp explains itself in words only; these are the ones that are not about framing. */
function parserReason(message: string): TransportFailure {
  if (message.includes("Invalid EOF state")) return "body_short";
  return /status|Expected HTTP|HTTP version/i.test(message) ? "bad_status" : "bad_framing";
}

function endReason(phase: Phase): TransportFailure {
  return phase === "body" ? "body_short" : "conn_reset";
}

function http2Reason(error: unknown, phase: Phase): TransportFailure {
  const text = textOf(error);
  if (/ENHANCE_YOUR_CALM|headers? list/i.test(text)) return "header_too_many";
  if (
    /REFUSED_STREAM|CANCEL|INTERNAL_ERROR|GOAWAY|half-closed|stream closed|unresponsive/.test(text)
  )
    return endReason(phase);
  return "bad_framing";
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
