/**
 * The thread that sorts and merges for a seen index, so that no commit waits for it.
 *
 * It takes jobs from one port and answers each by its number. Merges go one after the other, in
 * slices; a table goes in between, because it is what the crawl might have to wait for.
 */

import { setImmediate } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { flushTable, mergeRuns } from "./seen-merge.ts";
import type { FlushJob, MergeJob } from "./seen-merge.ts";
import { DamagedRun } from "./seen-run.ts";
import type { RunHead } from "./seen-run.ts";

export interface SeenRequest {
  readonly number: number;
  readonly job: FlushJob | MergeJob;
}

export type SeenAnswer =
  | { readonly number: number; readonly kind: "done"; readonly head: RunHead }
  | { readonly number: number; readonly kind: "damaged"; readonly path: string }
  | { readonly number: number; readonly kind: "failed"; readonly because: string };

export interface SeenWorkerData {
  readonly port: MessagePort;
  /** One count of the answers, for a thread that must wait without reading messages. */
  readonly answerCount: Int32Array<SharedArrayBuffer>;
}

const { port, answerCount } = workerData as SeenWorkerData;
let mergesDone: Promise<void> = Promise.resolve();

port.on("message", (request: SeenRequest) => {
  if (request.job.kind === "flush") void answer(request);
  else mergesDone = mergesDone.then(() => answer(request));
});

async function answer({ number, job }: SeenRequest): Promise<void> {
  try {
    const head = job.kind === "flush" ? flushTable(job) : await mergeInSlices(job);
    post({ number, kind: "done", head });
  } catch (error) {
    if (error instanceof DamagedRun) post({ number, kind: "damaged", path: error.path });
    else post({ number, kind: "failed", because: String(error) });
  }
}

async function mergeInSlices(job: MergeJob): Promise<RunHead> {
  const merge = mergeRuns(job);
  for (;;) {
    const step = merge.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

function post(message: SeenAnswer): void {
  port.postMessage(message);
  Atomics.add(answerCount, 0, 1);
  Atomics.notify(answerCount, 0);
}
