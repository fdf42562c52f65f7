/**
 * Reads the header of an SQLite file without SQLite, which would already write when it opens the file.
 * The offsets are from section 1.3 of its file format.
 */

import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";

const MAGIC = "SQLite format 3\0";
const HEADER_BYTES = 100;

interface SqliteHeader {
  readonly isSqlite: boolean;
  /** SQLite's application id; 0 when not set. */
  readonly applicationId: number;
  readonly version: number;
  readonly sizeBytes: number;
  /** Minimum size according to the header; 0 with a log, which may contain the missing pages. */
  readonly declaredBytes: number;
}

/** undefined when there is no such file. */
export function readHeader(path: string): SqliteHeader | undefined {
  const header = Buffer.alloc(HEADER_BYTES);
  let sizeBytes: number;
  try {
    const file = openSync(path, "r");
    try {
      readSync(file, header, 0, HEADER_BYTES, 0);
      sizeBytes = fstatSync(file).size;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const pageBytes = header.readUInt16BE(16);
  const pages = header.readUInt32BE(28);
  // With a log the file may be shorter than its header declares.
  const isLogged = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  return {
    isSqlite: header.toString("latin1", 0, MAGIC.length) === MAGIC,
    applicationId: header.readUInt32BE(68),
    version: header.readUInt32BE(60),
    sizeBytes,
    declaredBytes: isLogged ? 0 : pages * (pageBytes === 1 ? 65_536 : pageBytes),
  };
}
