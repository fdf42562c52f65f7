/** Says what a failing disk, folder or database file means for the operator. */

import { statfsSync } from "node:fs";
import { CrawlError } from "../base/errors.ts";

/** Primary result codes of SQLite; an extended code has its primary one in the low byte. */
const LOGIC = 1;
const BUSY = 5;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CONSTRAINT = 19;
const MISUSE = 21;
const NOT_A_DATABASE = 26;
/** Extended codes of writes that found no room: quotas, and the shared memory of the log. */
const NO_ROOM: ReadonlySet<number> = new Set([IO_ERROR | (3 << 8), IO_ERROR | (19 << 8)]);

/** An operator's error for what SQLite or the file system threw; our own mistakes stay as they are. */
export function explained(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof CrawlError) return error;
  if ("errcode" in error && typeof error.errcode === "number")
    return explainedSqlite(error, error.errcode, path);
  // A number beyond any that we ever write: a bit of it has turned over.
  if ("code" in error && error.code === "ERR_OUT_OF_RANGE")
    return new CrawlError("STORE_CORRUPT", `${path}: ${error.message}`, { cause: error });
  if ("code" in error && typeof error.code === "string" && "syscall" in error) {
    const isFull = error.code === "ENOSPC" || error.code === "EDQUOT";
    const code = isFull ? "DISK_FULL" : "FOLDER_UNWRITABLE";
    return new CrawlError(code, `${path}: ${error.message}`, { cause: error });
  }
  return error;
}

/** Runs the work, and throws what it throws in the operator's words. */
export function explaining<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explained(error, path);
  }
}

/** The same for what comes one by one. */
export function* explainingEach<T>(path: string, items: Iterable<T>): Iterable<T> {
  try {
    yield* items;
  } catch (error) {
    throw explained(error, path);
  }
}

/** Bytes that we may still write where the folder is; undefined where nobody can tell. */
export function freeBytes(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

function explainedSqlite(error: Error, code: number, path: string): unknown {
  const what = `${path}: ${error.message}`;
  const options = { cause: error };
  const primary = code & 0xff;
  if (primary === BUSY) return new CrawlError("STORE_LOCKED", what, options);
  // Our statements are fixed, so one that SQLite does not understand has met another schema.
  if (primary === CORRUPT || primary === NOT_A_DATABASE || primary === LOGIC)
    return new CrawlError("STORE_CORRUPT", what, options);
  if (primary === FULL || NO_ROOM.has(code)) return new CrawlError("DISK_FULL", what, options);
  const isOurs = primary === CONSTRAINT || primary === MISUSE;
  return isOurs ? error : new CrawlError("FOLDER_UNWRITABLE", what, options);
}
