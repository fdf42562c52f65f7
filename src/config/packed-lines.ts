/**
 * The lines of a file, one at a time, compressed or not: gzip and zstd by Node, xz by the program
 * of that name. The compression is detected from the first bytes, not from the file's name.
 *
 * Only line feeds end lines, as in JSON lines; Node's own reader would also end them at U+2028,
 * which pages contain. Memory is one line and a chunk. A file that cannot be read or decompressed
 * is an error with the reason.
 */

import { spawn } from "node:child_process";
import { createReadStream, openSync, closeSync, readSync } from "node:fs";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";

const LINE_BYTES_MAX = 256 * 2 ** 20;
const LINE_FEED = 0x0a;
const GZIP = "1f8b";
const ZSTD = "28b52ffd";
const XZ = "fd377a585a00";

export async function* packedLines(file: string): AsyncGenerator<Buffer> {
  try {
    yield* linesOf(unpacked(file));
  } catch (error) {
    if (error instanceof CrawlError) throw error;
    throw unreadable(file, error instanceof Error ? error.message : String(error), error);
  }
}

/** Lines of a stream, without line feeds. */
export async function* linesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let lengthBytes = 0;
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      yield Buffer.concat([...pieces, chunk.subarray(start, end)]);
      pieces = [];
      lengthBytes = 0;
      start = end + 1;
    }
    lengthBytes += chunk.length - start;
    if (lengthBytes > LINE_BYTES_MAX) throw new Error("a line of it is longer than 256 MiB");
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  }
  if (pieces.length > 0) yield Buffer.concat(pieces);
}

async function* unpacked(file: string): AsyncGenerator<Buffer> {
  const magic = firstBytes(file);
  if (magic.startsWith(XZ)) yield* unpackedByXz(file);
  else if (magic.startsWith(GZIP)) yield* piped(file, createGunzip());
  else if (magic.startsWith(ZSTD)) yield* piped(file, createZstdDecompress());
  else yield* createReadStream(file) as AsyncIterable<Buffer>;
}

async function* piped(
  file: string,
  unpacking: ReturnType<typeof createGunzip> | ReturnType<typeof createZstdDecompress>,
): AsyncGenerator<Buffer> {
  const source = createReadStream(file);
  source.on("error", (error) => unpacking.destroy(error));
  try {
    yield* source.pipe(unpacking) as AsyncIterable<Buffer>;
  } finally {
    source.destroy();
  }
}

async function* unpackedByXz(file: string): AsyncGenerator<Buffer> {
  const unpacking = spawn("xz", ["-dc", "--", file], { stdio: ["ignore", "pipe", "pipe"] });
  const messages: Buffer[] = [];
  unpacking.stderr.on("data", (chunk: Buffer) => messages.push(chunk));
  const ended = new Promise<string | undefined>((resolve) => {
    unpacking.on("error", () => resolve("it is compressed with xz, and the program xz is missing"));
    unpacking.on("close", (code) =>
      resolve(code === 0 ? undefined : Buffer.concat(messages).toString("utf8").trim()),
    );
  });
  try {
    yield* unpacking.stdout as AsyncIterable<Buffer>;
    const why = await ended;
    if (why !== undefined) throw unreadable(file, why);
  } finally {
    unpacking.kill();
  }
}

function firstBytes(file: string): string {
  const handle = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(6);
    return bytes.subarray(0, readSync(handle, bytes)).toString("hex");
  } finally {
    closeSync(handle);
  }
}

function unreadable(file: string, why: string, cause?: unknown): CrawlError {
  return new CrawlError(
    "FILE_UNREADABLE",
    `Cannot read ${visible(file, 200)}: ${visible(why, 300)}`,
    { cause },
  );
}
