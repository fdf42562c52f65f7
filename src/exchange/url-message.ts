/**
 * URLs from one crawling process to another, as bytes inside parcels.
 *
 * Two bytes of magic, one of version, then JSON in columns, compressed with zstd: columns, because similar values stand
 * together; JSON, because its parser is fast and safe. 500 links of real pages take 21 bytes each, and 1.3 µs of CPU to
 * write and read (`node bench/exchange.ts`).
 *
 * The writer keeps within the limits below, and cuts longer lists (`cutForMessages`). The reader trusts nothing: sizes
 * before and after decompression, counts, types and ranges are checked, and any fault makes the message invalid. The URLs
 * themselves pass the same filters as any link.
 */

import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { assert } from "../base/assert.ts";
import { URL_BYTES_MAX } from "../url/url.ts";
import { PARCEL_BYTES_MAX } from "./bus.ts";

/** A URL for its owner. */
export interface SentUrl {
  readonly url: string;
  /** As it was written, if that is another spelling. */
  readonly written?: string | undefined;
  readonly depth: number;
  /** Number of successive redirects that led to it. */
  readonly redirects: number;
  /** Links to it found since it was last sent. */
  readonly links: number;
  readonly score: number;
}

/** A URL of the frontier that moves to a new owner with its bucket. */
export interface MovedUrl extends SentUrl {
  readonly attempts: number;
  readonly state: "waiting" | "ended";
}

export type UrlMessage =
  | { readonly kind: "urls"; readonly epoch: number; readonly urls: readonly SentUrl[] }
  | { readonly kind: "frontier"; readonly epoch: number; readonly urls: readonly MovedUrl[] };

/** URLs in one message, and their total length, so that any message fits a parcel. */
export const URL_MESSAGE_URLS_MAX = 5_000;
export const URL_MESSAGE_CHARACTERS_MAX = 512 * 1024;

/** Of the JSON, with every character escaped and all numbers at their longest. */
const TEXT_BYTES_MAX = 2 * 1024 * 1024;
/** Leaves room for the parcel's head. */
const URL_MESSAGE_BYTES_MAX = PARCEL_BYTES_MAX - 4096;
const NAME = [0x57, 0x4c] as const;
const VERSION = 1;
const HEAD_BYTES = NAME.length + 1;
/** The store's sums are exact up to this. */
const REDIRECTS_MAX = 127;
const COUNT_MAX = 2 ** 31 - 1;
const SENT = ["url", "depth", "redirects", "links", "score"] as const;
/** By kind of message. */
const COLUMNS = {
  urls: SENT,
  frontier: [...SENT, "attempts", "state"],
} as const satisfies Record<UrlMessage["kind"], readonly string[]>;
/** A column that is present only if some URL has another spelling; null for the other URLs. */
const WRITTEN = "written";
const URL_SHAPE = /^https?:\/\/[!-~]+$/;

// The checksum at the end distinguishes a damaged message from a foreign one.
const PACKING = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
const UNPACKING = { maxOutputLength: TEXT_BYTES_MAX };

/** Cuts URLs into lists that fit one message each, in order. */
export function cutForMessages<T extends SentUrl>(urls: readonly T[]): T[][] {
  const lists: T[][] = [];
  let characters = Infinity;
  for (const url of urls) {
    const last = lists.at(-1);
    const length = charactersOf(url);
    characters += length;
    if (
      last !== undefined &&
      last.length < URL_MESSAGE_URLS_MAX &&
      characters <= URL_MESSAGE_CHARACTERS_MAX
    ) {
      last.push(url);
      continue;
    }
    lists.push([url]);
    characters = length;
  }
  return lists;
}

export function encodeUrlMessage(message: UrlMessage): Uint8Array {
  const { kind, epoch, urls } = message;
  assert(isCount(epoch), "an epoch is a whole number");
  assert(urls.length <= URL_MESSAGE_URLS_MAX, "a message holds so many URLs");
  const characters = urls.reduce((sum, url) => sum + charactersOf(url), 0);
  assert(characters <= URL_MESSAGE_CHARACTERS_MAX, "the URLs of a message are so long together");
  const isGood = message.kind === "urls" ? message.urls.every(isSent) : message.urls.every(isMoved);
  assert(isGood, "a message holds canonical URLs, and numbers within their ranges");
  const hasSpellings = urls.some(({ written }) => written !== undefined);
  const columns = [...COLUMNS[kind], ...(hasSpellings ? [WRITTEN] : [])];
  const text = JSON.stringify({ kind, epoch, ...columnsOf(urls, columns) });
  const packed = zstdCompressSync(text, PACKING);
  assert(packed.length + HEAD_BYTES <= URL_MESSAGE_BYTES_MAX, "a message fits a parcel");
  const body = new Uint8Array(HEAD_BYTES + packed.length);
  body.set([...NAME, VERSION]);
  body.set(packed, HEAD_BYTES);
  return body;
}

/** undefined for an invalid message. */
export function decodeUrlMessage(body: Uint8Array): UrlMessage | undefined {
  const isOurs = body.length <= URL_MESSAGE_BYTES_MAX && body[0] === NAME[0] && body[1] === NAME[1];
  const fields = isOurs && body[2] === VERSION ? unpacked(body.subarray(HEAD_BYTES)) : undefined;
  if (fields === undefined) return undefined;
  const { kind, epoch } = fields;
  if (!isCount(epoch) || (kind !== "urls" && kind !== "frontier")) return undefined;
  const hasSpellings = fields[WRITTEN] !== undefined;
  const urls = rowsOf(fields, [...COLUMNS[kind], ...(hasSpellings ? [WRITTEN] : [])]);
  if (urls === undefined) return undefined;
  if (kind === "urls") return urls.every(isSent) ? { kind, epoch, urls } : undefined;
  return urls.every(isMoved) ? { kind, epoch, urls } : undefined;
}

/** An unchecked value. */
type Fields = Readonly<Record<string, unknown>>;

function columnsOf(rows: readonly object[], names: readonly string[]): Fields {
  const columns = names.map((name) => [name, rows.map((row) => (row as Fields)[name])] as const);
  return Object.fromEntries(columns);
}

/** undefined unless all columns are present and equally long. */
function rowsOf(fields: Fields, names: readonly string[]): object[] | undefined {
  const first = fields[names[0] as string];
  if (!Array.isArray(first) || first.length > URL_MESSAGE_URLS_MAX) return undefined;
  const rows: Record<string, unknown>[] = first.map(() => ({}));
  for (const name of names) {
    const column = fields[name];
    if (!Array.isArray(column) || column.length !== rows.length) return undefined;
    let at = 0;
    for (const row of rows) row[name] = column[at++] ?? undefined;
  }
  return rows;
}

/** The JSON inside, if it is an object. */
function unpacked(packed: Uint8Array): Fields | undefined {
  try {
    const found: unknown = JSON.parse(zstdDecompressSync(packed, UNPACKING).toString("utf8"));
    return typeof found === "object" && found !== null ? (found as Fields) : undefined;
  } catch {
    // Truncated, damaged, too long or no JSON: all are invalid.
    return undefined;
  }
}

function isSent(row: object): row is SentUrl {
  const { url, written, depth, redirects, links, score } = row as Partial<SentUrl>;
  return (
    isUrl(url) &&
    (written === undefined || isUrl(written)) &&
    isCount(depth) &&
    isCount(redirects) &&
    redirects <= REDIRECTS_MAX &&
    isCount(links) &&
    Number.isFinite(score)
  );
}

function isUrl(text: unknown): boolean {
  return typeof text === "string" && text.length <= URL_BYTES_MAX && URL_SHAPE.test(text);
}

function charactersOf({ url, written = "" }: SentUrl): number {
  return url.length + written.length;
}

function isMoved(row: object): row is MovedUrl {
  const { attempts, state } = row as Partial<MovedUrl>;
  return isSent(row) && isCount(attempts) && (state === "waiting" || state === "ended");
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= COUNT_MAX;
}
