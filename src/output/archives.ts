/**
 * The archive files of a crawl, as a whole: which they are, and copies of them.
 *
 * WARC files are records one behind the other, so a copy of several is one file of all. A crawl may
 * still be writing; whoever gives its committed marks gets whole records and nothing half done.
 */

import { createReadStream, createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CrawlError } from "../base/errors.ts";
import { isClosedByReader } from "./lines.ts";
import type { Marks } from "./warc-files.ts";

export interface Archive {
  readonly path: string;
  /** Under which it leaves the crawl's folder. */
  readonly name: string;
  /** How much of the file is committed. */
  readonly bytes: number;
}

/** In the order they were written. */
export function archivesOf(folder: string, marks: Marks): Archive[] {
  return Object.entries(marks)
    .filter(([, bytes]) => bytes > 0)
    .map(([file, bytes]) => ({ path: join(folder, file), name: exportedName(file), bytes }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Files of several processes have the same names in different folders; taken out, they get different ones. */
export function exportedName(file: string): string {
  return file.replace("/archive/", "-");
}

/** Sends all archives into one stream, which stays open. */
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

/** Copies each archive into a folder under its own name; nothing there is overwritten. */
export async function copyArchives(archives: Iterable<Archive>, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { path, name, bytes } of archives) {
    const copy = createWriteStream(join(folder, name), { flags: "wx" });
    try {
      await pipeline(createReadStream(path, { end: bytes - 1 }), copy);
    } catch (error) {
      throw explained(error, join(folder, name));
    }
  }
}

function explained(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const what = `${path}: ${error.message}`;
  if (error.code === "EEXIST") return new CrawlError("FOLDER_FOREIGN", what, { cause: error });
  if (error.code === "ENOSPC") return new CrawlError("DISK_FULL", what, { cause: error });
  return error;
}
