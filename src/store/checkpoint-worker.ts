/** The thread that moves committed pages from SQLite's log into its file, and waits for the disk. */

import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

const database = new DatabaseSync(workerData as string);
database.exec("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -256");
const checkpoint = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");

parentPort?.on("message", (isDone: Int32Array<SharedArrayBuffer>) => {
  try {
    checkpoint.get();
    // Once more for what came in meanwhile: a log that is moved to its end starts anew by itself.
    checkpoint.get();
  } catch {
    // The log stays, and grows, until a later turn; a disk that is full shows at the next commit.
  }
  Atomics.store(isDone, 0, 1);
});
