/**
 * The store's other thread: does the work that commits should not wait for.
 *
 * It moves committed pages from SQLite's log into the database file, and sorts and merges for the seen
 * indexes, each of which has its own port. Merges are long, so they run one after the other and in
 * slices; checkpoints and table flushes run in between, because a commit may have to wait for them.
 */

import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { assert } from "../../base/assert.ts";
import { flushTable, mergeRuns } from "./seen-merge.ts";
import type { FlushJob, MergeJob } from "./seen-merge.ts";
import { DamagedRun } from "./seen-run.ts";
import type { RunHead } from "./seen-run.ts";

export type StoreTask =
  | {
      readonly kind: "checkpoint";
      readonly database: string;
      /** Set to 1 when the checkpoint is done. */
      readonly isDone: Int32Array<SharedArrayBuffer>;
    }
  | ({ readonly kind: "desk" } & SeenDeskEnd);

/** The connection of a seen index; answers have the number of their request. */
interface SeenDeskEnd {
  readonly port: MessagePort;
  /** Number of answers, for a thread that blocks on it. */
  readonly answerCount: Int32Array<SharedArrayBuffer>;
}

export interface SeenRequest {
  readonly number: number;
  readonly job: FlushJob | MergeJob;
}

export type SeenAnswer =
  | { readonly number: number; readonly kind: "done"; readonly head: RunHead }
  | { readonly number: number; readonly kind: "damaged"; readonly path: string }
  | { readonly number: number; readonly kind: "failed"; readonly because: string };

let moveLog: StatementSync | undefined;
let mergesDone: Promise<void> = Promise.resolve();

const tasks = parentPort;
assert(tasks !== null, "this file runs as a thread");
tasks.on("message", (task: StoreTask) => {
  if (task.kind === "checkpoint") checkpoint(task.database, task.isDone);
  else serve(task);
});

function checkpoint(database: string, isDone: Int32Array<SharedArrayBuffer>): void {
  try {
    moveLog ??= openForMoving(database);
    moveLog.get();
    // Repeated for frames added in the meantime, because a completely moved log restarts by itself.
    moveLog.get();
  } catch {
    // The log grows until a later checkpoint; a full disk is reported by the next commit.
  }
  Atomics.store(isDone, 0, 1);
}

function openForMoving(path: string): StatementSync {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -256");
  return database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
}

function serve(desk: SeenDeskEnd): void {
  const closing = new AbortController();
  desk.port.on("close", () => closing.abort());
  desk.port.on("message", (request: SeenRequest) => {
    const { number, job } = request;
    if (job.kind === "flush") void answer(desk, number, () => flushTable(job));
    else
      mergesDone = mergesDone.then(() =>
        answer(desk, number, () => mergeInSlices(job, closing.signal)),
      );
  });
}

async function answer(
  desk: SeenDeskEnd,
  number: number,
  work: () => RunHead | Promise<RunHead>,
): Promise<void> {
  try {
    const head = await work();
    post(desk, { number, kind: "done", head }, [head.fences.buffer, head.filter.buffer]);
  } catch (error) {
    if (error instanceof DamagedRun) post(desk, { number, kind: "damaged", path: error.path });
    else post(desk, { number, kind: "failed", because: String(error) });
  }
}

async function mergeInSlices(job: MergeJob, closing: AbortSignal): Promise<RunHead> {
  const merge = mergeRuns(job);
  for (;;) {
    // Throwing inside the merge closes its files.
    const step = closing.aborted ? merge.throw(closing.reason) : merge.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

function post(desk: SeenDeskEnd, message: SeenAnswer, transferred: ArrayBuffer[] = []): void {
  desk.port.postMessage(message, transferred);
  Atomics.add(desk.answerCount, 0, 1);
  Atomics.notify(desk.answerCount, 0);
}
