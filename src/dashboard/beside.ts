/**
 * The dashboard of a crawl in this process: the same server in its own thread, on the same folder.
 *
 * The crawl's thread does nothing for it: the dashboard reads the files that the crawl writes
 * anyway, and queries the store itself. If the dashboard fails, the crawl continues and the log has
 * a line.
 */

import { Worker } from "node:worker_threads";
import { CrawlError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Dashboard, DashboardWish } from "./server.ts";
import type { ThreadAnswer } from "./thread.ts";

/** Time for the last events to reach the pages after the end of the crawl. */
const CLOSE_MS_MAX = 1500;

export async function openBeside(wish: DashboardWish, log: Log): Promise<Dashboard> {
  const ending = import.meta.url.slice(import.meta.url.lastIndexOf("."));
  const file = new URL(`./thread${ending}`, import.meta.url);
  const worker = new Worker(file, {
    workerData: wish,
    execArgv: [...process.execArgv, "--no-warnings"],
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  worker.on("message", (answer: ThreadAnswer) => {
    if (answer.kind === "listening") resolve(answer.url);
    else reject(new CrawlError(answer.code, answer.what));
  });
  worker.on("error", (error) => {
    reject(error);
    const message = `the dashboard has ended: ${error instanceof Error ? error.message : error}`;
    log.write({ level: "error", message, values: {} });
  });
  const ended = new Promise<void>((settle) => worker.once("exit", () => settle()));
  const url = await promise;
  // The dashboard does not keep a finished crawl running.
  worker.unref();
  return {
    url,
    async [Symbol.asyncDispose]() {
      worker.postMessage("close", []);
      const late = setTimeout(() => void worker.terminate(), CLOSE_MS_MAX);
      await ended.finally(() => clearTimeout(late));
    },
  };
}
