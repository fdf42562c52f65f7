/**
 * Checks archive files record by record: checksums, lengths, and the digests that each record declares.
 *
 * A payload digest is of the body as sent. Some tools compute it after removing a chunked coding that they keep in
 * the record, so both are accepted. The digest of a revisit record is of another record's body and is not checked.
 */

import { createHash } from "node:crypto";
import type { Archive } from "./archives.ts";
import {
  type DamagedRecord,
  httpMessage,
  type PlacedRecord,
  readRecords,
  type WarcRecord,
} from "./warc-read.ts";

export interface CheckedRecord extends PlacedRecord {
  /** Digests that were compared and are right. */
  readonly digestsRight: number;
  /** Declared digests that differ from the content, in words. */
  readonly faults: readonly string[];
}

const CODES: ReadonlySet<string> = new Set(["md5", "sha1", "sha256", "sha384", "sha512"]);
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Yields every record that can be read, also those with wrong digests; the others go to `onDamage`. */
export function* checkedRecords(
  { path, bytes }: Pick<Archive, "path" | "bytes">,
  onDamage: (damage: DamagedRecord) => void,
): Generator<CheckedRecord> {
  for (const record of readRecords(path, { end: bytes, onDamage })) {
    const faults: string[] = [];
    let digestsRight = 0;
    for (const [field, candidates] of digestedParts(record)) {
      const verdict = compare(record.fields.get(field), candidates());
      if (verdict === "right") digestsRight += 1;
      if (verdict === "wrong") faults.push(`${field} differs from the content`);
    }
    yield { ...record, digestsRight, faults };
  }
}

type Parts = readonly (readonly [field: string, candidates: () => readonly Uint8Array[]])[];

function digestedParts(record: WarcRecord): Parts {
  const block: Parts[number] = ["warc-block-digest", () => [record.block]];
  if (record.fields.get("warc-type") === "revisit") return [block];
  return [block, ["warc-payload-digest", () => payloadsOf(record)]];
}

function payloadsOf(record: WarcRecord): readonly Uint8Array[] {
  const type = record.fields.get("content-type") ?? "";
  if (!type.startsWith("application/http")) return [record.block];
  const { headers, body } = httpMessage(record);
  const isChunked = headers.some(
    ([name, value]) => name === "transfer-encoding" && value.toLowerCase() === "chunked",
  );
  const whole = isChunked ? withoutChunks(body) : undefined;
  return whole === undefined ? [body] : [body, whole];
}

/** Undefined when the body is not in chunks. */
function withoutChunks(body: Uint8Array): Uint8Array | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const [size = ""] = bytes.toString("latin1", at, Math.max(at, lineEnd)).split(";");
    if (lineEnd < 0 || !/^[0-9a-f]{1,8} *$/i.test(size)) return undefined;
    const length = Number.parseInt(size, 16);
    if (length === 0) return Buffer.concat(parts);
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
}

/** `sha1:` with base 32, as most tools write it, or a code with hexadecimal digits. */
function compare(
  declared: string | undefined,
  candidates: readonly Uint8Array[],
): "right" | "wrong" | "unknown" {
  const [name = "", value = ""] = (declared ?? "").split(/:(.*)/s);
  const code = name.toLowerCase().replace("-", "");
  if (!CODES.has(code)) return "unknown";
  const isRight = candidates.some((bytes) => {
    const sum = createHash(code).update(bytes).digest();
    const isHex = value.length === 2 * sum.length;
    return isHex
      ? sum.toString("hex") === value.toLowerCase()
      : base32(sum) === value.toUpperCase().replace(/=+$/, "");
  });
  return isRight ? "right" : "wrong";
}

/** RFC 4648, without padding. */
function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += BASE32[(held >> (bits - 5)) & 31];
  }
  return bits === 0 ? text : text + BASE32[(held << (5 - bits)) & 31];
}
