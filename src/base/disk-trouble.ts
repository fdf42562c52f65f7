/** Converts failures of a disk, folder or database file to operator errors. */

import { statfsSync } from "node:fs";
import { descriptorShortage } from "./descriptors.ts";
import { CrawlError } from "./errors.ts";

/** Primary result codes of SQLite; an extended code has its primary one in the low byte. */
const LOGIC = 1;
const BUSY = 5;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CONSTRAINT = 19;
const MISUSE = 21;
const NOT_A_DATABASE = 26;
/** Extended codes of writes without free space: quotas, and the shared memory of the log. */
const NO_SPACE: ReadonlySet<number> = new Set([IO_ERROR | (3 << 8), IO_ERROR | (19 << 8)]);

/** Converts an error of SQLite or the file system to an operator error; bugs in Weir stay unchanged. */
export function explained(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof CrawlError) return error;
  const shortage = descriptorShortage(error, path);
  if (shortage !== undefined) return shortage;
  if ("errcode" in error && typeof error.errcode === "number")
    return explainedSqlite(error, error.errcode, path);
  // Weir never writes a number this large, so a bit has flipped.
  if ("code" in error && error.code === "ERR_OUT_OF_RANGE")
    return new CrawlError("STORE_CORRUPT", `${path}: ${error.message}`, { cause: error });
  if ("code" in error && typeof error.code === "string" && "syscall" in error) {
    const isFull = error.code === "ENOSPC" || error.code === "EDQUOT";
    const code = isFull ? "DISK_FULL" : "FOLDER_UNWRITABLE";
    return new CrawlError(code, `${path}: ${error.message}`, { cause: error });
  }
  return error;
}

/** Runs the work, and converts its error with `explained`. */
export function explaining<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explained(error, path);
  }
}

/** Free bytes in the folder's file system; undefined when unknown. */
export function freeBytes(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

function explainedSqlite(error: Error, code: number, path: string): unknown {
  const message = `${path}: ${error.message}`;
  const options = { cause: error };
  const primary = code & 0xff;
  if (primary === BUSY) return new CrawlError("STORE_LOCKED", message, options);
  // All statements are fixed, so a statement that SQLite rejects has found a different schema.
  if (primary === CORRUPT || primary === NOT_A_DATABASE || primary === LOGIC)
    return new CrawlError("STORE_CORRUPT", message, options);
  if (primary === FULL || NO_SPACE.has(code)) return new CrawlError("DISK_FULL", message, options);
  const isBug = primary === CONSTRAINT || primary === MISUSE;
  return isBug ? error : new CrawlError("FOLDER_UNWRITABLE", message, options);
}
