/**
 * The thread that moves committed pages from SQLite's log into its file, and waits for the disk.
 *
 * Each request is one round of checkpoints on a connection of its own. A round goes on while commits
 * come in behind its back, because only a log that is moved to its end can start anew.
 */

import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

const ROUND_CHECKPOINTS_MAX = 8;

const database = new DatabaseSync(workerData as string);
database.exec("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -256");
const checkpoint = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");

parentPort?.on("message", (isDone: Int32Array) => {
  try {
    for (let count = 0; count < ROUND_CHECKPOINTS_MAX; count++) {
      const state = checkpoint.get();
      if (state?.["log"] === state?.["checkpointed"]) break;
    }
  } catch {
    // The log stays, and grows, until a later round; a disk that is full shows at the next commit.
  }
  Atomics.store(isDone, 0, 1);
});
