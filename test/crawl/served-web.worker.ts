/** The thread behind `served-web.ts`: serves a world, counts requests for all to see, gives its log. */

import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../src/base/assert.ts";
import type { RequestEntry } from "../../src/lab/request-log.ts";
import { serveWorld } from "../../src/lab/serve.ts";
import type { WorldPlan } from "../../src/lab/world/plan.ts";

export interface WebStart {
  readonly plan: Partial<WorldPlan>;
  readonly port: number | undefined;
  /** Two words: requests begun, answers over. */
  readonly counts: Int32Array<SharedArrayBuffer>;
}

export type WebAsked = { readonly kind: "log"; readonly from: number } | { readonly kind: "close" };
export type WebTold =
  | { readonly kind: "open"; readonly port: number }
  | { readonly kind: "log"; readonly entries: readonly RequestEntry[] };

const COUNT_EVERY_MS = 2;
/** Longer than the event loop needs to read what a dead client still had in its sockets. */
const QUIET_MS = 25;

assert(parentPort !== null, "this file is a worker");
const port = parentPort;
const { plan, port: wantedPort, counts } = workerData as WebStart;
const server = await serveWorld(plan, {
  by: "address",
  ...(wantedPort === undefined ? {} : { port: wantedPort }),
});
const { entries } = server.log;
let overUpTo = 0;
const timer = setInterval(() => {
  while (overUpTo < entries.length && entries[overUpTo]?.endMs !== Infinity) overUpTo++;
  Atomics.store(counts, 0, entries.length);
  Atomics.store(counts, 1, overUpTo);
}, COUNT_EVERY_MS);
port.on("message", (asked: WebAsked) => void answer(asked));
tell({ kind: "open", port: Number(new URL(server.world.naming.originOf(0)).port) });

async function answer(asked: WebAsked): Promise<void> {
  if (asked.kind === "close") {
    clearInterval(timer);
    await server.close();
    port.close();
    return;
  }
  await quiet();
  tell({ kind: "log", entries: entries.slice(asked.from) });
}

/** Waits until nothing is under way and nothing new has come for a while. */
async function quiet(): Promise<void> {
  for (let before = -1; before !== entries.length || hasOpen();) {
    before = entries.length;
    await sleep(QUIET_MS);
  }
}

function hasOpen(): boolean {
  return entries.slice(overUpTo).some(({ endMs }) => endMs === Infinity);
}

function tell(told: WebTold): void {
  port.postMessage(told);
}
