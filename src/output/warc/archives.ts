/**
 * Lists and copies the archive files of a crawl.
 *
 * WARC files are sequences of records, so several can be concatenated into one. Copies of a running
 * crawl end at its committed marks, so they contain only complete records.
 */

import { createReadStream, createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { explained } from "../../base/disk-trouble.ts";
import { CrawlError } from "../../base/errors.ts";
import { isClosedByReader } from "../lines.ts";
import type { Marks } from "./warc-files.ts";

export interface Archive {
  readonly path: string;
  /** Name of an exported copy. */
  readonly name: string;
  /** Committed bytes of the file. */
  readonly bytes: number;
}

/** The archive files in the order they were written. */
export function archivesOf(folder: string, marks: Marks): Archive[] {
  return Object.entries(marks)
    .filter(([, bytes]) => bytes > 0)
    .map(([file, bytes]) => ({ path: join(folder, file), name: exportedName(file), bytes }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Makes the names unique in one folder, because processes use the same file names in their own folders. */
export function exportedName(file: string): string {
  return file.replace("/archive/", "-");
}

/** Writes all archives to one stream, which stays open. */
export async function concatenateArchives(
  archives: Iterable<Archive>,
  to: Writable,
): Promise<void> {
  try {
    for (const { path, bytes } of archives)
      await pipeline(createReadStream(path, { end: bytes - 1 }), to, { end: false });
  } catch (error) {
    if (!isClosedByReader(error)) throw error;
  }
}

/** Copies each archive into a folder under its exported name, without overwriting. */
export async function copyArchives(archives: Iterable<Archive>, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { path, name, bytes } of archives) {
    const copy = createWriteStream(join(folder, name), { flags: "wx" });
    try {
      await pipeline(createReadStream(path, { end: bytes - 1 }), copy);
    } catch (error) {
      throw copyError(error, join(folder, name));
    }
  }
}

function copyError(error: unknown, path: string): unknown {
  if (!(error instanceof Error && "code" in error && error.code === "EEXIST"))
    return explained(error, path);
  return new CrawlError("FOLDER_FOREIGN", `${path}: ${error.message}`, { cause: error });
}
