/** Writes lines or bytes to a stream in large chunks, at the stream's pace. */

import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";

const CHUNK_CHARACTERS = 65_536;

/** Writes every line with a line end; the stream stays open. */
export async function writeLines(
  lines: Iterable<string> | AsyncIterable<string>,
  to: Writable,
): Promise<void> {
  await send(Readable.from(chunksOf(lines)), to);
}

/** Writes all pieces; the stream stays open. */
export async function writeBytes(pieces: Iterable<Uint8Array>, to: Writable): Promise<void> {
  await send(Readable.from(pieces), to);
}

async function send(from: Readable, to: Writable): Promise<void> {
  try {
    await pipeline(from, to, { end: false });
  } catch (error) {
    if (!isClosedByReader(error)) throw error;
  }
}

async function* chunksOf(lines: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = "";
  for await (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

/** Whether the reader closed the pipe, as in `weir export … | head`; this is not an error. */
export function isClosedByReader(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}
