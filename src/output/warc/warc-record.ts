/**
 * The heads of WARC 1.1 records (ISO 28500:2017): text in, text out.
 *
 * All foreign text in them may be hostile: a header value
 * cannot end its line, a name cannot hold a colon, and what is secret in our own requests stays out.
 *
 * The body of an archived answer is free of transfer coding, since the chunks are gone when it gets
 * here. A Transfer-Encoding that stayed would make readers look for them, so it is renamed to
 * X-Archive-Orig-Transfer-Encoding, and a Content-Length that is no longer true likewise. HTTP/2 has
 * no text form; its answers get an HTTP/1.1 head and `WARC-Protocol: h2`.
 */

import { isIP } from "node:net";
import type { Capture } from "../output.ts";

export type RecordType = "warcinfo" | "request" | "response" | "revisit";

const REVISIT = "http://netpreserve.org/warc/1.1/revisit/";
const CONTENT_TYPES: Readonly<Record<RecordType, string>> = {
  warcinfo: "application/warc-fields",
  request: "application/http;msgtype=request",
  response: "application/http;msgtype=response",
  revisit: "application/http;msgtype=response",
};
const SECRETS: ReadonlySet<string> = new Set(["authorization", "proxy-authorization", "cookie"]);
/** Codings and media types whose bytes do not get smaller by being compressed again. */
const PACKED_CODING = /^(?:x-)?(?:gzip|br|zstd|deflate|compress)$/i;
const PACKED_TYPE =
  /^(?:image\/(?!svg|bmp|tiff|x-)|video\/|audio\/(?!x?-?wav)|font\/woff|application\/(?:zip|gzip|x-gzip|x-7z|x-rar|x-bzip|x-xz|zstd|epub|vnd\.openxml))/i;

/** What a capture becomes: its answer whole, or only the news that it repeats another. */
export type Kind = "response" | "identical" | "not_modified";

/**
 * Only bytes as sent can be called identical. Bodies in a content coding are compared decoded, and
 * two servers' gzip of one page differ, so those are kept whole; so is what is merely alike.
 */
export function kindOf(capture: Capture): Kind {
  if (capture.repeats === undefined) return "response";
  const { kind } = capture.repeats.likeness;
  if (kind === "not_modified") return "not_modified";
  return kind === "exact" && headerOf(capture, "content-encoding") === undefined
    ? "identical"
    : "response";
}

/** Whether the body is compressed already. */
export function isPacked(capture: Capture): boolean {
  const coding = headerOf(capture, "content-encoding");
  if (coding !== undefined) return PACKED_CODING.test(coding.trim());
  return PACKED_TYPE.test(headerOf(capture, "content-type") ?? "");
}

interface RecordFacts {
  readonly type: RecordType;
  readonly id: string;
  readonly blockBytes: number;
  /** `sha256:` and hexadecimal digits; undefined where there is none to tell. */
  readonly blockDigest: string | undefined;
  readonly payloadDigest: string | undefined;
  readonly concurrentTo: string | undefined;
}

/** The head of a record that tells of a capture, up to and with its empty line. */
export function recordHead(capture: Capture, facts: RecordFacts): string {
  const lines = [
    "WARC/1.1",
    `WARC-Type: ${facts.type}`,
    `WARC-Record-ID: <urn:uuid:${facts.id}>`,
    `WARC-Date: ${new Date(capture.atMs).toISOString()}`,
    `WARC-Target-URI: ${cleanUrl(capture.url)}`,
  ];
  const address = capture.address.replace(/^\[|\]$/g, "");
  if (isIP(address) !== 0) lines.push(`WARC-IP-Address: ${address}`);
  if (facts.concurrentTo !== undefined)
    lines.push(`WARC-Concurrent-To: <urn:uuid:${facts.concurrentTo}>`);
  if (capture.httpVersion === "2") lines.push("WARC-Protocol: h2");
  if (facts.type === "revisit") lines.push(...revisitLines(capture));
  if (facts.type !== "request" && capture.truncated !== undefined)
    lines.push(`WARC-Truncated: ${capture.truncated}`);
  if (facts.payloadDigest !== undefined) lines.push(`WARC-Payload-Digest: ${facts.payloadDigest}`);
  if (facts.blockDigest !== undefined) lines.push(`WARC-Block-Digest: ${facts.blockDigest}`);
  lines.push(`Content-Type: ${CONTENT_TYPES[facts.type]}`, `Content-Length: ${facts.blockBytes}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** The record that opens a file, whole. */
export function warcinfoRecord(
  file: string,
  id: string,
  atMs: number,
  fields: Readonly<Record<string, string>>,
): string {
  const block = Object.entries(fields)
    .map(([name, value]) => `${cleanName(name)}: ${cleanValue(value)}\r\n`)
    .join("");
  return [
    "WARC/1.1",
    "WARC-Type: warcinfo",
    `WARC-Record-ID: <urn:uuid:${id}>`,
    `WARC-Date: ${new Date(atMs).toISOString()}`,
    `WARC-Filename: ${file}`,
    `Content-Type: ${CONTENT_TYPES.warcinfo}`,
    `Content-Length: ${Buffer.byteLength(block)}`,
    "",
    `${block}\r\n\r\n`,
  ].join("\r\n");
}

/** Our request without secrets. */
export function requestBlock(capture: Capture): string {
  const [requestLine = "", ...fields] = capture.requestHead.split(/\r?\n/);
  const kept = fields.filter((field) => {
    const name = field.slice(0, field.indexOf(":")).trim().toLowerCase();
    return field !== "" && !SECRETS.has(name);
  });
  return `${[requestLine, ...kept].map(cleanValue).join("\r\n")}\r\n\r\n`;
}

/** The answer's status line and headers, up to and with the empty line. */
export function responseHead(capture: Capture, kind: Kind): string {
  const version = capture.httpVersion === "1.0" ? "1.0" : "1.1";
  let head = `HTTP/${version} ${capture.status} ${cleanValue(capture.statusText)}\r\n`;
  for (const [name, value, written = name] of capture.headers) {
    const line = `${cleanName(written)}: ${cleanValue(value)}\r\n`;
    if (name === "transfer-encoding") head += `X-Archive-Orig-${line}`;
    else if (name === "content-length" && kind === "response")
      head += trueLength(value, capture.body.length, { line, name: written });
    else head += line;
  }
  // Readers look for the end of a head behind its first header, so there is always one.
  if (capture.headers.length === 0) head += `content-length: ${capture.body.length}\r\n`;
  return `${head}\r\n`;
}

function trueLength(
  told: string,
  bytes: number,
  { line, name }: { readonly line: string; readonly name: string },
): string {
  return told.trim() === String(bytes) ? line : `X-Archive-Orig-${line}${name}: ${bytes}\r\n`;
}

function revisitLines(capture: Capture): string[] {
  const { repeats } = capture;
  if (repeats === undefined) return [];
  const isUnchanged = repeats.likeness.kind === "not_modified";
  return [
    `WARC-Profile: ${REVISIT}${isUnchanged ? "server-not-modified" : "identical-payload-digest"}`,
    `WARC-Refers-To-Target-URI: ${cleanUrl(repeats.url)}`,
    `WARC-Refers-To-Date: ${new Date(repeats.atMs).toISOString()}`,
  ];
}

function headerOf(capture: Capture, wanted: string): string | undefined {
  for (const [name, value] of capture.headers) if (name === wanted) return value;
  return undefined;
}

/** A header name is a token; what is not one must not begin a value, a line or a block. */
function cleanName(name: string): string {
  return name.replace(/[^!-9;-~]/g, "_") || "_";
}

function cleanValue(value: string): string {
  return /[\r\n\0]/.test(value) ? value.replace(/[\r\n\0]+/g, " ") : value;
}

function cleanUrl(url: string): string {
  return /^[!-~]*$/.test(url) ? url : url.replace(/[^!-~]+/g, encodeLoosely);
}

function encodeLoosely(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
