/**
 * The crawler as a function: `crawl({ urls })` runs a crawl, `for await` iterates over its pages.
 *
 * Pages are handed over one by one during the crawl. The crawl waits for a slow reader, so unread pages take no
 * memory. Without a folder nothing is written to disk, and nothing can be resumed.
 */

import { CrawlError } from "../base/errors.ts";
import { type Log, silentLog } from "../base/log.ts";
import type { SettingOptions, SiteSettingOptions } from "../config/setting-options.ts";
import { checkOrder, type Order, refusal } from "../config/order.ts";
import { optionMistakes } from "../config/program-options.ts";
import { defaultsOf } from "../config/resolve.ts";
import { SITE_SETTINGS } from "../config/schema.ts";
import { defaultSettings } from "../config/sources.ts";
import type { CrawlResult, Snapshot } from "../control/snapshot.ts";
import type { CrawledPage, CrawlHooks } from "./hooks.ts";
import { type OpenCrawl, openCrawl } from "./open.ts";

/**
 * Settings of one seed's site, for {@link CrawlOptions.sites}.
 *
 * @example
 * import { crawl, type SiteOptions } from "weir";
 *
 * const news: SiteOptions = { url: "https://news.example/", delayMs: 2000, deadlineMs: 600_000 };
 * await crawl({ urls: ["https://docs.example/"], sites: [news] });
 */
export interface SiteOptions extends SiteSettingOptions {
  /** Seed URL; the other options apply to its site. */
  readonly url: string;
}

/** Everything {@link crawl} accepts: seeds, hooks, and every setting by its name in a program (docs/settings.md). */
export interface CrawlOptions extends SettingOptions, CrawlHooks {
  /** Seed URLs. */
  readonly urls: readonly string[];
  /** Seeds with settings of their own sites. */
  readonly sites?: readonly SiteOptions[];
  /**
   * Folder for state, archive and report; an existing crawl in it is resumed. Without a folder nothing is written to
   * disk. Command line: `--out DIR`.
   */
  readonly outFolder?: string | undefined;
  /** Stops the crawl when it aborts: the crawl then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Receives warnings and errors of the crawl. By default they are dropped. */
  readonly log?: Log;
}

/** A running crawl: await it for the result, or iterate over its pages with `for await`. */
export interface Crawl
  extends Pick<Promise<CrawlResult>, "then" | "catch" | "finally">, AsyncIterable<CrawledPage> {
  /** The state of the crawl now; undefined until it has opened its folder and network. */
  snapshot(): Snapshot | undefined;
  /** Stops the crawl: running requests finish, then it resolves with the result so far. */
  stop(): void;
}

/** Names of the options that are no settings. */
const HOOKS = ["onPage", "onLink", "score", "onDeadline"] as const;
const OWN_OPTIONS = ["signal", "log"] as const;

/**
 * Starts a crawl at once. Await it for the result, or iterate over its pages; it waits for a slow loop or hook.
 *
 * Wrong options and all errors that an operator can fix reject with a {@link CrawlError}. An error that the program
 * never awaits is thrown when the program would otherwise end.
 *
 * @example
 * import { crawl } from "weir";
 *
 * const crawling = crawl({ urls: ["https://example.org/"], contact: "you@example.org", pagesMax: 100 });
 * for await (const page of crawling) console.log(page.status, page.url, page.title);
 * const { pages, bytes } = await crawling;
 */
export function crawl(options: CrawlOptions): Crawl {
  const given: Partial<CrawlOptions> = options ?? {};
  const { onPage, onLink, score, onDeadline, signal, log } = given;
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
  let isStopped = false;
  const stop = (): void => {
    isStopped = true;
    pages.close();
    running?.stop("stopped by the program");
  };
  const done = run().finally(() => {
    signal?.removeEventListener("abort", stop);
    pages.close();
  });
  const awaited = untilAwaited(done);
  return {
    // eslint-disable-next-line unicorn/no-thenable -- a crawl is awaited like any other promise
    then: (onFulfilled, onRejected) => awaited().then(onFulfilled, onRejected),
    catch: (onRejected) => awaited().catch(onRejected),
    finally: (onFinally) => awaited().finally(onFinally),
    snapshot: () => running?.snapshot(),
    stop,
    [Symbol.asyncIterator]: () => walk(pages, awaited(), stop),
  };

  async function run(): Promise<CrawlResult> {
    signal?.throwIfAborted();
    const order = orderOf(options);
    signal?.addEventListener("abort", stop, { once: true });
    const { outFolder: folder } = options;
    running = await openCrawl({ ...order, folder, hooks, log: log ?? silentLog });
    // Stopped while the folder and the network were opened.
    if (isStopped) stop();
    const result = await running.done;
    if (!result.complete) signal?.throwIfAborted();
    return result;
  }
}

/**
 * A failure before the program awaits the crawl must not end Node as an unhandled rejection; nor may it be lost. So it
 * is thrown when nothing else is left to do and the crawl has still not been awaited.
 */
function untilAwaited(done: Promise<CrawlResult>): () => Promise<CrawlResult> {
  let isAwaited = false;
  done.catch((error: unknown) => {
    process.once("beforeExit", () => {
      if (!isAwaited) throw error;
    });
  });
  return () => {
    isAwaited = true;
    return done;
  };
}

function orderOf(options: CrawlOptions): Order {
  const mistakes = mistakesOf(options);
  if (mistakes.length > 0) throw refusal("SETTINGS_INVALID", mistakes);
  const settings = Object.entries(options).filter(
    ([name, value]) => value !== undefined && !isOneOf(name, [...HOOKS, ...OWN_OPTIONS]),
  );
  const siteDefaults = defaultsOf(SITE_SETTINGS);
  const sites = (options.sites ?? []).map((site) => ({ ...siteDefaults, ...site }));
  const order = checkOrder({ ...defaultSettings(), ...Object.fromEntries(settings), sites });
  const { procs, natsServers } = order.settings;
  if (procs > 1 || natsServers.length > 0)
    throw new CrawlError("USAGE", "several processes need the program: weir crawl --procs");
  return order;
}

function mistakesOf(options: unknown): string[] {
  if (typeof options !== "object" || options === null)
    return [`crawl expects an object, such as crawl({ urls: ["https://example.org/"] })`];
  const given = Object.entries(options).filter(([name]) => !isOneOf(name, OWN_OPTIONS));
  return optionMistakes(Object.fromEntries(given), HOOKS);
}

function isOneOf(name: string, names: readonly string[]): boolean {
  return names.includes(name);
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

/** Hands things over one at a time. An offer waits until it is taken or the reader has gone. */
class Handover<T> {
  readonly #offers: { readonly thing: T; readonly taken: () => void }[] = [];
  #waiting: ((thing: T | undefined) => void) | undefined;
  #state: "unread" | "open" | "closed" = "unread";

  open(): void {
    if (this.#state === "unread") this.#state = "open";
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
