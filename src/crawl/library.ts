/**
 * The crawler as a function: `crawl({ urls })` runs a crawl, `for await` walks its pages.
 *
 * Pages come one by one while the crawl goes on; the crawl waits when nobody takes them, so a slow
 * reader costs no memory. Without a folder nothing is written to disk, and nothing can be resumed.
 */

import { CrawlError } from "../base/errors.ts";
import { type Log, silentLog } from "../base/log.ts";
import { checkOrder } from "../config/order.ts";
import type { Settings } from "../config/schema.ts";
import { defaultSettings } from "../config/sources.ts";
import type { CrawledPage, CrawlHooks } from "./hooks.ts";
import { type OpenCrawl, openCrawl } from "./open.ts";
import type { CrawlResult, Snapshot } from "../control/snapshot.ts";

export interface CrawlOptions extends Partial<Settings>, CrawlHooks {
  /** Where to start. */
  readonly urls: readonly string[];
  /** Everything is kept here, and the same folder goes on; without it nothing is kept. */
  readonly outFolder?: string | undefined;
  readonly signal?: AbortSignal;
  readonly log?: Log;
}

/** A running crawl: await it for the result, or walk its pages. */
export interface Crawl extends PromiseLike<CrawlResult>, AsyncIterable<CrawledPage> {
  snapshot(): Snapshot | undefined;
  stop(): void;
}

export function crawl(options: CrawlOptions): Crawl {
  const { onPage, onLink, score, onDeadline, signal, log, ...chosen } = options;
  const pages = new Handover<CrawledPage>();
  const hooks: CrawlHooks = {
    async onPage(page) {
      await onPage?.(page);
      await pages.offer(page);
    },
    ...(onLink === undefined ? {} : { onLink }),
    ...(score === undefined ? {} : { score }),
    ...(onDeadline === undefined ? {} : { onDeadline }),
  };
  let running: OpenCrawl | undefined;
  const stop = (): void => {
    pages.close();
    running?.stop("stopped by the program");
  };
  signal?.addEventListener("abort", stop, { once: true });
  const done = run().finally(() => {
    signal?.removeEventListener("abort", stop);
    pages.close();
  });
  return {
    // eslint-disable-next-line unicorn/no-thenable -- a crawl is awaited like any other job
    then: (onFulfilled, onRejected) => done.then(onFulfilled, onRejected),
    snapshot: () => running?.snapshot(),
    stop,
    [Symbol.asyncIterator]: () => walk(pages, done, stop),
  };

  async function run(): Promise<CrawlResult> {
    if (signal?.aborted === true) throw new CrawlError("USAGE", "the signal was aborted already");
    const order = checkOrder({ ...defaultSettings(), ...chosen });
    const { procs, natsServers } = order.settings;
    if (procs > 1 || natsServers.length > 0)
      throw new CrawlError("USAGE", "several processes need the program: weir crawl --procs");
    const folder = options.outFolder;
    running = await openCrawl({ ...order, folder, hooks, log: log ?? silentLog });
    return running.done;
  }
}

async function* walk(
  pages: Handover<CrawledPage>,
  done: Promise<CrawlResult>,
  stop: () => void,
): AsyncGenerator<CrawledPage> {
  pages.open();
  try {
    for (let page = await pages.take(); page !== undefined; page = await pages.take()) yield page;
    await done;
  } finally {
    stop();
  }
}

/** Hands things over one at a time; whoever offers waits until it is taken, or until nobody is there to. */
class Handover<T> {
  readonly #offers: { readonly thing: T; readonly taken: () => void }[] = [];
  #waiting: ((thing: T | undefined) => void) | undefined;
  #state: "nobody" | "open" | "closed" = "nobody";

  open(): void {
    if (this.#state === "nobody") this.#state = "open";
  }

  offer(thing: T): Promise<void> {
    if (this.#state !== "open") return Promise.resolve();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) {
      waiting(thing);
      return Promise.resolve();
    }
    return new Promise((taken) => this.#offers.push({ thing, taken }));
  }

  take(): Promise<T | undefined> {
    const offer = this.#offers.shift();
    offer?.taken();
    if (offer !== undefined || this.#state === "closed") return Promise.resolve(offer?.thing);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  close(): void {
    this.#state = "closed";
    for (const { taken } of this.#offers.splice(0)) taken();
    this.#waiting?.(undefined);
  }
}
