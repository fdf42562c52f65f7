/**
 * Reads archives: one record at a known place, or all records of a file in order.
 *
 * Every member's checksum is verified, so damage is always detected. A truncated file, as left by a
 * kill, yields all complete records and then an error with their end. Memory is bounded by the largest
 * record, which has a limit.
 */

import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { crc32, inflateRawSync } from "node:zlib";
import type { ArchivePlace } from "../../page/page.ts";

/** A record of an archive: its fields and its content. */
export interface WarcRecord {
  /** WARC fields, names in lower case. */
  readonly fields: ReadonlyMap<string, string>;
  readonly block: Uint8Array;
}

export interface PlacedRecord extends WarcRecord {
  readonly offset: number;
  readonly length: number;
}

/** A parsed HTTP message: the block of a request, response or revisit record. */
export interface HttpMessage {
  readonly firstLine: string;
  /** Names in lower case, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** Bytes that are not a valid record: their place and the error. */
export class DamagedRecord extends Error {
  override readonly name = "DamagedRecord";
  readonly file: string;
  readonly offset: number;

  constructor(place: Pick<ArchivePlace, "file" | "offset">, why: string, options?: ErrorOptions) {
    super(`${place.file} at ${place.offset}: ${why}`, options);
    this.file = place.file;
    this.offset = place.offset;
  }
}

const MEMBER_HEAD_BYTES = 10;
const TRAILER_BYTES = 8;
const RECORD_BYTES_MAX = 2 ** 28;
const WINDOW_BYTES = 1 << 20;
const SUFFIX = Buffer.from("\r\n\r\n");

/** Reads the record at a place; throws `DamagedRecord` when there is none. */
export function readRecord(folder: string, place: ArchivePlace): WarcRecord {
  const descriptor = openSync(join(folder, place.file), "r");
  try {
    const bytes = Buffer.allocUnsafe(place.length);
    const got = readSync(descriptor, bytes, 0, place.length, place.offset);
    const member = got === place.length ? openMember(bytes) : undefined;
    if (member === undefined || member.length !== place.length)
      throw new DamagedRecord(place, "not a complete record");
    return parseRecord(member.text);
  } catch (error) {
    if (error instanceof DamagedRecord) throw error;
    if (error instanceof Error && "syscall" in error) throw error;
    throw new DamagedRecord(place, messageOf(error), { cause: error });
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Yields every complete record of a `.warc.gz` file, up to the byte `end` if given; throws at the first damaged one.
 *
 * @example
 * import { readRecords } from "weir";
 *
 * for (const { fields, block } of readRecords("weir-data/example.org/archive/weir-00000.warc.gz"))
 *   console.log(fields.get("warc-type"), fields.get("warc-target-uri"), block.length);
 */
export function* readRecords(path: string, end?: number): Generator<PlacedRecord> {
  const descriptor = openSync(path, "r");
  try {
    const bytesMax = Math.min(end ?? Infinity, fstatSync(descriptor).size);
    let window: Buffer = Buffer.alloc(0);
    let windowAt = 0;
    for (let offset = 0; offset < bytesMax;) {
      const inWindow = window.subarray(offset - windowAt);
      const member = memberAt(inWindow, { file: path, offset });
      if (member !== undefined) {
        yield { ...parsed(member.text, { file: path, offset }), offset, length: member.length };
        offset += member.length;
        continue;
      }
      const isAll = offset + inWindow.length >= bytesMax;
      if (isAll) throw new DamagedRecord({ file: path, offset }, "the file ends inside a record");
      const bytes = Math.min(Math.max(WINDOW_BYTES, 2 * inWindow.length), bytesMax - offset);
      window = Buffer.allocUnsafe(bytes);
      windowAt = offset;
      window = window.subarray(0, readSync(descriptor, window, 0, bytes, offset));
    }
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Parses the HTTP message in the block of a request, response or revisit record.
 *
 * @example
 * import { httpMessage, readRecords } from "weir";
 *
 * for (const record of readRecords("weir-data/example.org/archive/weir-00000.warc.gz")) {
 *   if (record.fields.get("warc-type") !== "response") continue;
 *   const { firstLine, body } = httpMessage(record);
 *   console.log(firstLine, body.length);
 * }
 */
export function httpMessage(record: WarcRecord): HttpMessage {
  const block = Buffer.from(record.block.buffer, record.block.byteOffset, record.block.byteLength);
  const headEnd = block.indexOf(SUFFIX);
  const head = block.toString("latin1", 0, headEnd < 0 ? block.length : headEnd);
  const [firstLine = "", ...lines] = head.split("\r\n");
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const body = headEnd < 0 ? block.subarray(block.length) : block.subarray(headEnd + SUFFIX.length);
  return { firstLine, headers, body };
}

interface Member {
  readonly text: Buffer;
  /** Compressed length in the file. */
  readonly length: number;
}

function memberAt(bytes: Buffer, place: { readonly file: string; readonly offset: number }) {
  try {
    return openMember(bytes);
  } catch (error) {
    throw new DamagedRecord(place, messageOf(error), { cause: error });
  }
}

/** Returns undefined when the bytes end inside the member. */
function openMember(bytes: Buffer): Member | undefined {
  if (bytes.length < MEMBER_HEAD_BYTES + TRAILER_BYTES) return undefined;
  const headBytes = memberHeadBytes(bytes);
  const inflated = inflate(bytes.subarray(headBytes));
  if (inflated === undefined) return undefined;
  const trailerAt = headBytes + inflated.length;
  if (bytes.length < trailerAt + TRAILER_BYTES) return undefined;
  const isIntact =
    bytes.readUInt32LE(trailerAt) === crc32(inflated.text) &&
    bytes.readUInt32LE(trailerAt + 4) === inflated.text.length % 2 ** 32;
  if (!isIntact) throw new Error("the checksum is wrong");
  return { text: inflated.text, length: trailerAt + TRAILER_BYTES };
}

/** Weir writes no optional fields, so members with them are rejected. */
function memberHeadBytes(bytes: Buffer): number {
  if (bytes.readUInt16BE(0) !== 0x1f8b || bytes[2] !== 8) throw new Error("not a gzip member");
  if (bytes[3] !== 0)
    throw new Error("a gzip member with optional fields, which Weir never writes");
  return MEMBER_HEAD_BYTES;
}

function inflate(bytes: Buffer): Member | undefined {
  try {
    const options = { info: true, maxOutputLength: RECORD_BYTES_MAX } as const;
    const result = inflateRawSync(bytes, options) as unknown;
    const { buffer, engine } = result as { buffer: Buffer; engine: { bytesWritten: number } };
    return { text: buffer, length: engine.bytesWritten };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "Z_BUF_ERROR") return undefined;
    throw error;
  }
}

function parsed(text: Buffer, place: { readonly file: string; readonly offset: number }) {
  try {
    return parseRecord(text);
  } catch (error) {
    throw new DamagedRecord(place, messageOf(error), { cause: error });
  }
}

function parseRecord(text: Buffer): WarcRecord {
  const headEnd = text.indexOf(SUFFIX);
  const [version, ...lines] = text.toString("utf8", 0, Math.max(headEnd, 0)).split("\r\n");
  if (version?.startsWith("WARC/1.") !== true) throw new Error("not a WARC record");
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    fields.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  const blockAt = headEnd + SUFFIX.length;
  const blockEnd = blockAt + Number(fields.get("content-length"));
  if (!text.subarray(blockEnd).equals(SUFFIX)) throw new Error("the length is wrong");
  return { fields, block: text.subarray(blockAt, blockEnd) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
