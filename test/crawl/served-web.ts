/**
 * A world served over loopback by its own thread, for programs that watch a crawler meanwhile.
 *
 * A program that kills a crawler at the moment of a commit cannot serve pages at the same time. The
 * count of requests is shared memory, so reading it costs nothing; the log arrives when there are
 * no requests.
 */

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { assert } from "../../src/base/assert.ts";
import type { RequestEntry } from "../../src/lab/request-log.ts";
import { addressedSites } from "../../src/lab/world/naming.ts";
import { makeWorld, type World, type WorldPlan } from "../../src/lab/world/plan.ts";
import type { WebAsked, WebStart, WebTold } from "./served-web.worker.ts";

export interface ServedWeb extends AsyncDisposable {
  readonly world: World;
  /** Requests begun so far. */
  readonly begun: number;
  /** Of the first requests, how many are over. */
  readonly over: number;
  /** What has been logged since the last call, once nothing is under way any more. */
  newEntries(): Promise<readonly RequestEntry[]>;
}

/** Serves each site of the plan at an address of its own; on any free port unless one is given. */
export async function serveWeb(plan: Partial<WorldPlan>, port?: number): Promise<ServedWeb> {
  const counts = new Int32Array(new SharedArrayBuffer(8));
  const start: WebStart = { plan, port, counts };
  const worker = new Worker(new URL("./served-web.worker.ts", import.meta.url), {
    workerData: start,
  });
  const opened = await told(worker);
  assert(opened.kind === "open", "the first word says where");
  let from = 0;
  return {
    world: makeWorld(plan, addressedSites(opened.port)),
    get begun() {
      return Atomics.load(counts, 0);
    },
    get over() {
      return Atomics.load(counts, 1);
    },
    async newEntries() {
      ask(worker, { kind: "log", from });
      const answer = await told(worker);
      assert(answer.kind === "log", "whoever asks for the log gets it");
      from += answer.entries.length;
      return answer.entries;
    },
    async [Symbol.asyncDispose]() {
      const exit = once(worker, "exit");
      ask(worker, { kind: "close" });
      await exit;
    },
  };
}

function ask(worker: Worker, asked: WebAsked): void {
  worker.postMessage(asked, []);
}

async function told(worker: Worker): Promise<WebTold> {
  const [message] = (await once(worker, "message")) as [WebTold];
  return message;
}
