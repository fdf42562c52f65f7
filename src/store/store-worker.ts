/**
 * The store's other thread: does what no commit should wait for.
 *
 * It moves committed pages from SQLite's log into its file, and sorts and merges for the seen indexes,
 * each of which asks through a port of its own. Merges are long, so they go one after the other and in
 * slices; a checkpoint or a table goes in between, because those are what a commit might have to wait
 * for.
 */

import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { flushTable, mergeRuns } from "./seen-merge.ts";
import type { FlushJob, MergeJob } from "./seen-merge.ts";
import { DamagedRun } from "./seen-run.ts";
import type { RunHead } from "./seen-run.ts";

export type StoreErrand =
  | {
      readonly kind: "checkpoint";
      readonly database: string;
      /** Becomes 1. */
      readonly isDone: Int32Array<SharedArrayBuffer>;
    }
  | ({ readonly kind: "desk" } & SeenDeskEnd);

/** Where a seen index asks, and is answered by number. */
export interface SeenDeskEnd {
  readonly port: MessagePort;
  /** One count of the answers, for a thread that must wait without reading messages. */
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

const errands = parentPort;
assert(errands !== null, "this file runs as a thread");
errands.on("message", (errand: StoreErrand) => {
  if (errand.kind === "checkpoint") checkpoint(errand.database, errand.isDone);
  else serve(errand);
});

function checkpoint(database: string, isDone: Int32Array<SharedArrayBuffer>): void {
  try {
    moveLog ??= openForMoving(database);
    moveLog.get();
    // Once more for what came in meanwhile: a log that is moved to its end starts anew by itself.
    moveLog.get();
  } catch {
    // The log stays, and grows, until a later turn; a disk that is full shows at the next commit.
  }
  Atomics.store(isDone, 0, 1);
}

function openForMoving(path: string): StatementSync {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -256");
  return database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
}

function serve(desk: SeenDeskEnd): void {
  const leaving = new AbortController();
  desk.port.on("close", () => leaving.abort());
  desk.port.on("message", (request: SeenRequest) => {
    const { number, job } = request;
    if (job.kind === "flush") void answer(desk, number, () => flushTable(job));
    else
      mergesDone = mergesDone.then(() =>
        answer(desk, number, () => mergeInSlices(job, leaving.signal)),
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

async function mergeInSlices(job: MergeJob, leaving: AbortSignal): Promise<RunHead> {
  const merge = mergeRuns(job);
  for (;;) {
    // Thrown inside the merge, which closes its files on the way out.
    const step = leaving.aborted ? merge.throw(leaving.reason) : merge.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

function post(desk: SeenDeskEnd, message: SeenAnswer, handedOver: ArrayBuffer[] = []): void {
  desk.port.postMessage(message, handedOver);
  Atomics.add(desk.answerCount, 0, 1);
  Atomics.notify(desk.answerCount, 0);
}
