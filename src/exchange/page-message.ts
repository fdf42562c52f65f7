/**
 * A page for the process that owns its content, as bytes: the server's response, and how the page was found, so that the
 * owner can treat it as if it had fetched it.
 *
 * Two bytes of magic, one of version, one that tells whether the rest is compressed, the length of the facts, the facts as
 * JSON, then the body as received. A body in a content coding is not compressed again. The reader trusts nothing: sizes,
 * types and ranges are checked, and any fault makes the message invalid.
 */

import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { assert } from "../base/assert.ts";
import { URL_BYTES_MAX } from "../url/url.ts";

export interface SentPage {
  readonly url: string;
  /** As it was written, if that is another spelling. */
  readonly written?: string | undefined;
  readonly depth: number;
  readonly redirects: number;
  readonly topic: string;
  readonly confidence: number;
  /** When it was requested, by the wall clock, how long it took, and the bytes received. */
  readonly atMs: number;
  readonly durationMs: number;
  readonly wireBytes: number;
  readonly address: string;
  readonly requestHead: string;
  readonly status: number;
  readonly statusText: string;
  readonly httpVersion: "1.0" | "1.1" | "2";
  readonly headers: readonly (readonly [name: string, value: string, written?: string])[];
  readonly contentType: string;
  readonly etag: string;
  readonly lastModified: string;
  readonly remarks: readonly string[];
  /** In its content coding. */
  readonly body: Uint8Array;
}

export interface PageMessage {
  readonly kind: "page";
  readonly epoch: number;
  /** The bucket of its content. */
  readonly bucket: number;
  readonly page: SentPage;
}

const NAME = [0x57, 0x50] as const;
const VERSION = 1;
const HEAD_BYTES = 8;
const FACTS_BYTES_MAX = 512 * 1024;
/** Larger than the largest stored body. */
const PAGE_BYTES_MAX = 256 * 1024 * 1024;

export function isPageMessage(body: Uint8Array): boolean {
  return body[0] === NAME[0] && body[1] === NAME[1];
}

export function encodePage({ epoch, bucket, page }: PageMessage): Uint8Array {
  const { body, ...rest } = page;
  const facts = Buffer.from(JSON.stringify({ epoch, bucket, ...rest }), "utf8");
  assert(facts.length <= FACTS_BYTES_MAX, "what is said of a page is bounded");
  const isCoded = page.headers.some(([name]) => name.toLowerCase() === "content-encoding");
  const plain = Buffer.concat([facts, body]);
  const packed = isCoded ? plain : zstdCompressSync(plain);
  const head = Buffer.alloc(HEAD_BYTES);
  head.set([...NAME, VERSION, isCoded ? 0 : 1]);
  head.writeUInt32BE(facts.length, 4);
  return Buffer.concat([head, packed]);
}

export function decodePage(message: Uint8Array): PageMessage | undefined {
  if (!isPageMessage(message) || message[2] !== VERSION || message.length < HEAD_BYTES)
    return undefined;
  const buffer = Buffer.from(message.buffer, message.byteOffset, message.length);
  const factsBytes = buffer.readUInt32BE(4);
  if (factsBytes > FACTS_BYTES_MAX) return undefined;
  try {
    const rest = buffer.subarray(HEAD_BYTES);
    const plain =
      message[3] === 1 ? zstdDecompressSync(rest, { maxOutputLength: PAGE_BYTES_MAX }) : rest;
    if (plain.length < factsBytes) return undefined;
    const facts: unknown = JSON.parse(plain.toString("utf8", 0, factsBytes));
    if (typeof facts !== "object" || facts === null || !isGood(facts)) return undefined;
    const { epoch, bucket, ...page } = facts;
    return { kind: "page", epoch, bucket, page: { ...page, body: plain.subarray(factsBytes) } };
  } catch {
    // Truncated, damaged or foreign: all are invalid.
    return undefined;
  }
}

type Facts = Omit<SentPage, "body"> & Pick<PageMessage, "epoch" | "bucket">;

const TEXTS = [
  "topic",
  "address",
  "requestHead",
  "statusText",
  "contentType",
  "etag",
  "lastModified",
] as const;
const NUMBERS = [
  "epoch",
  "bucket",
  "depth",
  "redirects",
  "confidence",
  "atMs",
  "durationMs",
  "wireBytes",
  "status",
] as const;

function isGood(facts: object): facts is Facts {
  const row = facts as Readonly<Record<string, unknown>>;
  const { url, written, httpVersion, headers, remarks } = row;
  const isVersion = httpVersion === "1.0" || httpVersion === "1.1" || httpVersion === "2";
  return (
    typeof url === "string" &&
    url.length <= URL_BYTES_MAX &&
    (written === undefined || (typeof written === "string" && written.length <= URL_BYTES_MAX)) &&
    isVersion &&
    TEXTS.every((name) => typeof row[name] === "string") &&
    NUMBERS.every((name) => Number.isFinite(row[name]) && (row[name] as number) >= 0) &&
    Array.isArray(remarks) &&
    remarks.every((remark) => typeof remark === "string") &&
    Array.isArray(headers) &&
    headers.every(isField)
  );
}

function isField(field: unknown): boolean {
  return (
    Array.isArray(field) &&
    (field.length === 2 || field.length === 3) &&
    field.every((part) => typeof part === "string")
  );
}
