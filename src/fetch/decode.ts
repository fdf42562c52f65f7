/**
 * Undoes the content coding of a body: gzip, deflate, br, zstd, at most three of them in a row.
 *
 * A few bytes can unfold to gigabytes, so the output is counted while it is made and decoding
 * stops at the cap; no size that a body declares is ever used to allocate. Small bodies are
 * decoded at once, which a cap bounds to a few milliseconds. Larger ones go to the thread pool,
 * so that the event loop stays free.
 *
 * Choices where the standards leave one, always the same:
 *   - gzip members are concatenated; behind the last one zeros are padding, anything else an error;
 *   - deflate may be with zlib's wrapping or without;
 *   - a body that is plainly text although it claims a coding is taken as it is, with a remark;
 *   - a stream that breaks off or fails its checksum is refused whole.
 */

import {
  brotliDecompress,
  brotliDecompressSync,
  constants,
  gunzip,
  gunzipSync,
  inflate,
  inflateRaw,
  inflateRawSync,
  inflateSync,
  zstdDecompress,
  zstdDecompressSync,
} from "node:zlib";

/** What a request may offer, and this file can undo. */
export const CODINGS_OFFERED = "gzip, deflate, br, zstd";

type Decoded =
  | { readonly kind: "decoded"; readonly body: Uint8Array; readonly fellBack: boolean }
  | {
      readonly kind: "failed";
      readonly reason: "bad_encoding" | "body_too_large";
      readonly detail: string;
    };

type Coding = "gzip" | "zlib" | "raw" | "br" | "zstd";

interface DecodeOptions {
  readonly maxOutputLength: number;
  readonly chunkSize: number;
  readonly params?: Readonly<Record<number, number>>;
}

const CODINGS_MAX = 3;
/** A body is decoded at once if it is within this length, and decoded within the other; else on the thread pool. */
const AT_ONCE_BYTES_MAX = 256 * 1024;
const AT_ONCE_DECODED_BYTES_MAX = 2 * 1024 * 1024;
/** RFC 9659: zstd in HTTP needs no window above 8 MiB. */
const ZSTD_WINDOW_LOG_MAX = 23;
const TEXT_SAMPLE_BYTES = 1024;

/** Undoes what `Content-Encoding` (several headers joined by commas) says was done. */
export async function decodeBody(
  wire: Uint8Array,
  contentEncoding: string | undefined,
  bytesMax: number,
): Promise<Decoded> {
  const names = codingNames(contentEncoding);
  if (names.length === 0 || wire.length === 0) return whole(wire, bytesMax);
  if (names.length > CODINGS_MAX) return refused(`${names.length} codings, one inside the other`);

  let body = wire;
  // The last coding named was the last one applied, so it comes off first.
  for (const name of names.toReversed()) {
    const coding = codingOf(name, body);
    if (coding === undefined) return refused(`unknown coding ${name}`);
    try {
      body = await undo(coding, body, bytesMax);
    } catch (error) {
      if (isTooLarge(error)) return tooLarge(bytesMax);
      // Servers that announce a coding and forget to apply it send whole pages; keep those.
      if (body === wire && isPlainlyText(wire))
        return { kind: "decoded", body: wire, fellBack: true };
      return refused(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return whole(body, bytesMax);
}

function codingNames(contentEncoding: string | undefined): string[] {
  if (contentEncoding === undefined) return [];
  return contentEncoding
    .toLowerCase()
    .split(",", 64)
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
}

function codingOf(name: string, body: Uint8Array): Coding | undefined {
  switch (name) {
    case "gzip":
    case "x-gzip":
      return "gzip";
    case "deflate":
      return hasZlibHeader(body) ? "zlib" : "raw";
    case "br":
      return "br";
    case "zstd":
      return "zstd";
    default:
      return undefined;
  }
}

/** RFC 1950: method 8, a window of at most 32 KiB, and a header that 31 divides. */
function hasZlibHeader(body: Uint8Array): boolean {
  const [method = 0, flags = 0] = body;
  return (method & 0x0f) === 8 && method >> 4 <= 7 && ((method << 8) | flags) % 31 === 0;
}

function undo(
  coding: Coding,
  body: Uint8Array,
  bytesMax: number,
): Uint8Array | Promise<Uint8Array> {
  // One chunk usually holds a page, so that nothing needs to be joined; it never exceeds the cap.
  const guessBytes = Math.min(256 * 1024, Math.max(32 * 1024, body.length * 6));
  const chunkSize = Math.max(64, Math.min(bytesMax, guessBytes));
  const options = { maxOutputLength: bytesMax, chunkSize };
  if (body.length > AT_ONCE_BYTES_MAX) return undoAside(coding, body, options);
  const maxOutputLength = Math.min(bytesMax, AT_ONCE_DECODED_BYTES_MAX);
  try {
    return undoAtOnce(coding, body, { ...options, maxOutputLength });
  } catch (error) {
    if (!isTooLarge(error) || maxOutputLength === bytesMax) throw error;
    return undoAside(coding, body, options);
  }
}

function undoAtOnce(coding: Coding, body: Uint8Array, options: DecodeOptions): Uint8Array {
  switch (coding) {
    case "gzip":
      return gunzipSync(body, options);
    case "zlib":
      return inflateSync(body, options);
    case "raw":
      return inflateRawSync(body, options);
    case "br":
      return brotliDecompressSync(body, options);
    case "zstd":
      return zstdDecompressSync(body, withWindowLimit(options));
  }
}

function undoAside(coding: Coding, body: Uint8Array, options: DecodeOptions): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, decoded: Uint8Array): void => {
      if (error === null) resolve(decoded);
      else reject(error);
    };
    switch (coding) {
      case "gzip":
        return gunzip(body, options, done);
      case "zlib":
        return inflate(body, options, done);
      case "raw":
        return inflateRaw(body, options, done);
      case "br":
        return brotliDecompress(body, options, done);
      case "zstd":
        return zstdDecompress(body, withWindowLimit(options), done);
    }
  });
}

function withWindowLimit(options: DecodeOptions): DecodeOptions {
  return { ...options, params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } };
}

/** Text as a person would say at a glance: no byte that only a binary file holds. */
function isPlainlyText(body: Uint8Array): boolean {
  const sample = body.subarray(0, TEXT_SAMPLE_BYTES);
  return sample.every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0x1b);
}

function whole(body: Uint8Array, bytesMax: number): Decoded {
  return body.length > bytesMax ? tooLarge(bytesMax) : { kind: "decoded", body, fellBack: false };
}

function tooLarge(bytesMax: number): Decoded {
  return {
    kind: "failed",
    reason: "body_too_large",
    detail: `more than ${bytesMax} bytes decoded`,
  };
}

function refused(detail: string): Decoded {
  return { kind: "failed", reason: "bad_encoding", detail };
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}
