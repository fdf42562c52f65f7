/** The dashboard in its own thread: reports where it listens, and ends on request. */

import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { CrawlError, type ErrorCode } from "../base/errors.ts";
import { type DashboardWish, serveDashboard } from "./server.ts";

export type ThreadAnswer =
  | { readonly kind: "listening"; readonly url: string }
  | { readonly kind: "refused"; readonly code: ErrorCode; readonly what: string };

assert(parentPort !== null, "this file is a thread");
const port = parentPort;
try {
  const dashboard = await serveDashboard(workerData as DashboardWish);
  answer({ kind: "listening", url: dashboard.url });
  port.once("message", () => void end());

  async function end(): Promise<void> {
    await dashboard[Symbol.asyncDispose]();
    port.close();
  }
} catch (error) {
  if (!(error instanceof CrawlError)) throw error;
  answer({ kind: "refused", code: error.code, what: error.message });
}

function answer(words: ThreadAnswer): void {
  port.postMessage(words);
}
