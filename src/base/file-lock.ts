/**
 * Locks a file for one process.
 *
 * The lock is an open transaction on an empty SQLite file. The system releases it when the process ends for any
 * reason, so there are no stale locks.
 */

import { DatabaseSync } from "node:sqlite";

export interface FileLock {
  release(): void;
}

/** Throws SQLite's error, which `explained` makes STORE_LOCKED, while another process holds the lock. */
export function lockFile(path: string): FileLock {
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return { release: () => lock.close() };
  } catch (error) {
    lock.close();
    throw error;
  }
}
