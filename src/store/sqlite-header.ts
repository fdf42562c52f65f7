/**
 * What the first bytes of an SQLite file say, read with our own eyes: SQLite itself would already
 * write in opening the file. The places are those of its file format, section 1.3.
 */

import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";

const MAGIC = "SQLite format 3\0";
const HEADER_BYTES = 100;

export interface SqliteHeader {
  readonly isSqlite: boolean;
  /** Whose file it is, where they have said so. */
  readonly applicationId: number;
  readonly version: number;
  readonly sizeBytes: number;
  /** As long as it should be at least; a log may hold what is missing. */
  readonly saidBytes: number;
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
  // While there is a log the file may be shorter than its first page says.
  const isLogged = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  return {
    isSqlite: header.toString("latin1", 0, MAGIC.length) === MAGIC,
    applicationId: header.readUInt32BE(68),
    version: header.readUInt32BE(60),
    sizeBytes,
    saidBytes: isLogged ? 0 : pages * (pageBytes === 1 ? 65_536 : pageBytes),
  };
}
