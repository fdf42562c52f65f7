/**
 * Reads archives, Weir's own and those of other tools: one record at a known place, or all records of a file in order.
 *
 * A file has a gzip member per record, one member for many records, or no compression. Checksums of members are
 * verified. Behind a damaged record, or a truncated one as left by a kill, reading stops with an error, or it
 * continues at the next record that is whole. Memory is bounded by the largest member, which has a limit.
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
  readonly why: string;

  constructor(place: Pick<ArchivePlace, "file" | "offset">, why: string, options?: ErrorOptions) {
    super(`${place.file} at ${place.offset}: ${why}`, options);
    this.why = why;
    this.file = place.file;
    this.offset = place.offset;
  }
}

export interface ReadOptions {
  /** Reads only the bytes before this one. */
  readonly end?: number | undefined;
  /** Called for each damage, before reading continues behind it. Without it, damage is thrown. */
  readonly onDamage?: ((damage: DamagedRecord) => void) | undefined;
}

const MEMBER_HEAD_BYTES = 10;
const TRAILER_BYTES = 8;
const RECORD_BYTES_MAX = 2 ** 28;
const WINDOW_BYTES = 1 << 20;
const SUFFIX = Buffer.from("\r\n\r\n");
/** The first bytes of a gzip member, and of an uncompressed record. */
const MEMBER_START = Buffer.from([0x1f, 0x8b, 8]);
const RECORD_START = Buffer.from("WARC/");
/** Flags of a member's head (RFC 1952, 2.3.1). */
const HAS_CHECKSUM = 2;
const HAS_EXTRA = 4;
const HAS_NAME = 8;
const HAS_COMMENT = 16;
const RESERVED = 0xe0;

/** Reads the record at a place; throws `DamagedRecord` when there is none. */
export function readRecord(folder: string, place: ArchivePlace): WarcRecord {
  const descriptor = openSync(join(folder, place.file), "r");
  try {
    const bytes = Buffer.alloc(place.length);
    const got = readSync(descriptor, bytes, 0, place.length, place.offset);
    const member = got === place.length ? openMember(bytes, true) : undefined;
    if (member === undefined || member.length !== place.length)
      throw new DamagedRecord(place, "not a complete record");
    const [record] = recordsOf(member.text);
    if (record === undefined) throw new DamagedRecord(place, "not a WARC record");
    return record;
  } catch (error) {
    if (error instanceof DamagedRecord) throw error;
    if (error instanceof Error && "syscall" in error) throw error;
    throw new DamagedRecord(place, messageOf(error), { cause: error });
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Yields every complete record of a `.warc.gz` file; throws at the first damaged one unless `onDamage` is given.
 *
 * @example
 * import { readRecords } from "weir";
 *
 * for (const { fields, block } of readRecords("weir-data/example.org/archive/weir-00000.warc.gz"))
 *   console.log(fields.get("warc-type"), fields.get("warc-target-uri"), block.length);
 */
export function* readRecords(path: string, options: ReadOptions = {}): Generator<PlacedRecord> {
  const descriptor = openSync(path, "r");
  try {
    const bytesMax = Math.min(options.end ?? Infinity, fstatSync(descriptor).size);
    yield* new RecordWalk(path, descriptor, bytesMax, options.onDamage).records();
  } finally {
    closeSync(descriptor);
  }
}

class RecordWalk {
  readonly #path: string;
  readonly #descriptor: number;
  readonly #bytesMax: number;
  readonly #onDamage: ReadOptions["onDamage"];
  #window: Buffer = Buffer.alloc(0);
  #windowAt = 0;

  constructor(
    path: string,
    descriptor: number,
    bytesMax: number,
    onDamage: ReadOptions["onDamage"],
  ) {
    this.#path = path;
    this.#descriptor = descriptor;
    this.#bytesMax = bytesMax;
    this.#onDamage = onDamage;
  }

  *records(): Generator<PlacedRecord> {
    const isPlain = this.#fill(0, WINDOW_BYTES).indexOf(RECORD_START) === 0;
    for (let offset = 0; offset < this.#bytesMax;) {
      try {
        const { records, length } = this.#memberAt(offset);
        for (const record of records) yield { ...record, offset, length };
        offset += length;
      } catch (error) {
        if (!(error instanceof DamagedRecord) || this.#onDamage === undefined) throw error;
        this.#onDamage(error);
        offset = this.#nextWhole(offset + 1, isPlain ? RECORD_START : MEMBER_START);
      }
    }
  }

  /** The records of the member that begins at this place; damage is thrown. */
  #memberAt(offset: number): { readonly records: readonly WarcRecord[]; readonly length: number } {
    const fail = (why: string, options?: ErrorOptions): never => {
      throw new DamagedRecord({ file: this.#path, offset }, why, options);
    };
    for (let bytes = this.#restAt(offset); ;) {
      const isAll = offset + bytes.length >= this.#bytesMax;
      try {
        const member = openMember(bytes, isAll);
        if (member !== undefined) return { records: recordsOf(member.text), length: member.length };
      } catch (error) {
        return fail(messageOf(error), { cause: error });
      }
      if (isAll) return fail("the file ends inside a record");
      if (bytes.length > RECORD_BYTES_MAX) return fail("longer than any record");
      bytes = this.#fill(offset, Math.max(WINDOW_BYTES, 2 * bytes.length));
    }
  }

  /** Where the next whole record begins, or the end. */
  #nextWhole(from: number, start: Buffer): number {
    for (let offset = from; offset < this.#bytesMax;) {
      let bytes = this.#restAt(offset);
      if (bytes.length < start.length) bytes = this.#fill(offset, WINDOW_BYTES);
      const at = bytes.indexOf(start);
      // Without a start, one may still be cut by the end of the window.
      offset += at < 0 ? Math.max(1, bytes.length - start.length + 1) : at;
      if (at < 0) continue;
      try {
        this.#memberAt(offset);
        return offset;
      } catch (error) {
        if (!(error instanceof DamagedRecord)) throw error;
        offset += 1;
      }
    }
    return this.#bytesMax;
  }

  #restAt(offset: number): Buffer {
    const at = offset - this.#windowAt;
    return at >= 0 && at <= this.#window.length ? this.#window.subarray(at) : Buffer.alloc(0);
  }

  #fill(offset: number, bytesWanted: number): Buffer {
    const window = Buffer.allocUnsafe(Math.min(bytesWanted, this.#bytesMax - offset));
    const got = readSync(this.#descriptor, window, 0, window.length, offset);
    this.#window = window.subarray(0, got);
    this.#windowAt = offset;
    return this.#window;
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

/** A gzip member, or an uncompressed record. Returns undefined when the bytes end inside it. */
function openMember(bytes: Buffer, isAll: boolean): Member | undefined {
  if (bytes.subarray(0, RECORD_START.length).equals(RECORD_START)) return plainRecord(bytes, isAll);
  if (bytes.length < MEMBER_HEAD_BYTES + TRAILER_BYTES) return undefined;
  const headBytes = memberHeadBytes(bytes);
  if (headBytes === undefined) return undefined;
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

function plainRecord(bytes: Buffer, isAll: boolean): Member | undefined {
  const headEnd = bytes.indexOf(SUFFIX);
  if (headEnd < 0 && bytes.length > WINDOW_BYTES) throw new Error("its head has no end");
  if (headEnd < 0) return undefined;
  const { blockEnd } = headOf(bytes, 0, headEnd);
  const end = blockEnd + SUFFIX.length;
  // The last record of some tools lacks its empty lines.
  if (bytes.length < end)
    return isAll && bytes.length === blockEnd ? { text: bytes, length: blockEnd } : undefined;
  return { text: bytes.subarray(0, end), length: end };
}

/** Undefined when the bytes end inside the head. */
function memberHeadBytes(bytes: Buffer): number | undefined {
  if (!bytes.subarray(0, MEMBER_START.length).equals(MEMBER_START))
    throw new Error("not a gzip member");
  const flags = bytes[3] ?? 0;
  if ((flags & RESERVED) !== 0) throw new Error("a gzip member with unknown flags");
  let at = MEMBER_HEAD_BYTES;
  if ((flags & HAS_EXTRA) !== 0) at += 2 + bytes.readUInt16LE(at);
  for (const flag of [HAS_NAME, HAS_COMMENT]) {
    if ((flags & flag) === 0) continue;
    const end = bytes.indexOf(0, at);
    if (end < 0) return undefined;
    at = end + 1;
  }
  if ((flags & HAS_CHECKSUM) !== 0) at += 2;
  return at > bytes.length ? undefined : at;
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

/** The records in a member, mostly one. */
function recordsOf(text: Buffer): WarcRecord[] {
  const records: WarcRecord[] = [];
  for (let at = 0; at < text.length;) {
    const headEnd = text.indexOf(SUFFIX, at);
    if (headEnd < 0) throw new Error("not a WARC record");
    const { fields, blockAt, blockEnd } = headOf(text, at, headEnd);
    const end = blockEnd + SUFFIX.length;
    const isEnded = text.subarray(blockEnd, end).equals(SUFFIX);
    if (!isEnded && text.length !== blockEnd) throw new Error("the length is wrong");
    records.push({ fields, block: text.subarray(blockAt, blockEnd) });
    at = end;
  }
  return records;
}

interface RecordHead {
  readonly fields: Map<string, string>;
  readonly blockAt: number;
  readonly blockEnd: number;
}

function headOf(text: Buffer, at: number, headEnd: number): RecordHead {
  const head = text.toString("utf8", at, headEnd);
  // A line that begins with a blank continues the one before it.
  const [version, ...lines] = head.replace(/\r\n[ \t]+/g, " ").split("\r\n");
  if (version === undefined || !/^WARC\/[01]\.\d+$/.test(version))
    throw new Error("not a WARC record");
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  // WARC 1.0 could be read as requiring brackets, and wget writes them.
  const uri = fields.get("warc-target-uri");
  if (uri?.startsWith("<") === true) fields.set("warc-target-uri", uri.replace(/^<|>$/g, ""));
  const length = fields.get("content-length") ?? "";
  if (!/^\d{1,15}$/.test(length)) throw new Error("it has no length");
  const blockAt = headEnd + SUFFIX.length;
  return { fields, blockAt, blockEnd: blockAt + Number(length) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
