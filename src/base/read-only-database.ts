/**
 * Opens a SQLite file for reading, also on media that cannot be written.
 *
 * SQLite keeps the shared memory of its log beside the file, even to read it. Where the folder cannot be written,
 * a file without a log is opened as immutable; one with a log, as a kill leaves it, is copied to the folder for
 * temporary files and opened there.
 */

import { accessSync, constants, copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

export function openDatabaseToRead(path: string, timeoutMs: number): DatabaseSync {
  try {
    return readable(path, timeoutMs);
  } catch (error) {
    if (canWriteIn(dirname(path))) throw error;
  }
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (logBytes > 0) return readable(temporaryCopy(path), timeoutMs);
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  return readable(url, timeoutMs);
}

export function canWriteIn(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** A folder that is removed when the process ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function readable(location: string | URL, timeoutMs: number): DatabaseSync {
  const database = new DatabaseSync(location, { readOnly: true, timeout: timeoutMs });
  try {
    // The first read opens the log, or fails to.
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function temporaryCopy(path: string): string {
  const copy = join(temporaryFolder(), basename(path));
  copyFileSync(path, copy);
  copyFileSync(`${path}-wal`, `${copy}-wal`);
  return copy;
}
