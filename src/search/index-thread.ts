/**
 * Indexes pages while a crawl runs: the crawl's side of the indexing thread.
 *
 * With an archive, a page is handed over once the store has committed it. The index is then always
 * a part of the store: pages lost in a kill are read from the archive when it is opened again
 * (`crawl/search/upkeep.ts`). Without an archive the text exists nowhere else, so the order is
 * reversed: a page is in the index, with its text, before the crawl records it, and pages unknown to
 * the store are removed when the index is opened again.
 *
 * Promises: at most 16 MiB of text are queued, and `take` waits while the queue is full; if the thread
 * fails, a crawl with an archive continues without it and reports that once.
 */

import { Worker } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { CrawlError } from "../base/errors.ts";
import type { FileLock } from "../base/file-lock.ts";
import { packPages } from "./page-parcel.ts";
import type { IndexAnswer, IndexErrand, IndexerStart } from "./index-worker.ts";
import type { IndexedPage } from "./index-writer.ts";

/** Receives pages to be indexed, as a sink. */
export interface PageIndex {
  /** Takes a page just before it is recorded; waits for room, or until it is stored. */
  take(page: IndexedPage): Promise<void>;
  /** To be called when the store has committed everything recorded so far. */
  committed(lastSeq: number): void;
  close(): Promise<void>;
}

interface IndexOptions extends IndexerStart {
  /** Called once with the reason when indexing fails. */
  readonly onTrouble: (what: string) => void;
}

const WORKER_FILE = new URL(
  `./index-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`,
  import.meta.url,
);
/** Objects in the thread are short-lived. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 8 };
const QUEUED_BYTES_MAX = 16 * 2 ** 20;
/** Bytes of a queued page besides its text, estimated. */
const PAGE_BYTES = 1_024;
/** How long a page whose `take` is waiting is held to be sent with others. */
const GATHER_MS = 5;

/** Opens the index; closing it releases the lock. */
export function openIndex(options: IndexOptions, lock: FileLock): PageIndex {
  return new ThreadedIndex(options, lock);
}

interface Awaited {
  readonly bytes: number;
  /** Resolves the waiting calls of `take` for these pages. */
  readonly finish: (answer: IndexAnswer) => void;
}

class ThreadedIndex implements PageIndex {
  readonly #options: IndexOptions;
  readonly #lock: FileLock;
  readonly #worker: Worker;
  #gathered: IndexedPage[] = [];
  #lastSeq = 0;
  #queuedBytes = 0;
  #awaited: Awaited[] = [];
  #takers: ((answer: IndexAnswer) => void)[] = [];
  #roomWaiters: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #trouble: CrawlError | undefined;

  constructor(options: IndexOptions, lock: FileLock) {
    this.#options = options;
    this.#lock = lock;
    const { crawlFolder, keepsText, stemming } = options;
    const workerData: IndexerStart = { crawlFolder, keepsText, stemming };
    this.#worker = new Worker(WORKER_FILE, { workerData, resourceLimits: RESOURCE_LIMITS });
    this.#worker.on("message", (answer: IndexAnswer) => this.#receive(answer));
    this.#worker.on("error", (error) =>
      this.#fail(new CrawlError("SEARCH_INDEX_DAMAGED", String(error))),
    );
  }

  async take(page: IndexedPage): Promise<void> {
    while (this.#queuedBytes >= QUEUED_BYTES_MAX && this.#trouble === undefined)
      await new Promise<void>((resume) => this.#roomWaiters.push(resume));
    const { keepsText } = this.#options;
    if (this.#trouble !== undefined) {
      // With an archive nothing is lost: the index is completed from it later.
      if (keepsText) throw this.#trouble;
      return;
    }
    this.#gathered.push(page);
    this.#queuedBytes += page.text.length + PAGE_BYTES;
    if (!keepsText) return;
    this.#timer ??= setTimeout(() => this.#handOver(), GATHER_MS);
    await new Promise<void>((resolve, reject) => {
      this.#takers.push(({ trouble }) =>
        trouble === undefined ? resolve() : reject(new CrawlError(trouble.code, trouble.what)),
      );
    });
  }

  committed(lastSeq: number): void {
    assert(lastSeq >= this.#lastSeq, "sequence numbers of pages increase");
    const hasMoved = lastSeq > this.#lastSeq;
    this.#lastSeq = lastSeq;
    // With stored texts, pages not recorded yet may be among those gathered; their timer hands them over.
    if (hasMoved && !this.#options.keepsText) this.#handOver();
  }

  async close(): Promise<void> {
    // Pages that the store has not committed will be fetched again.
    if (!this.#options.keepsText) this.#gathered = [];
    this.#handOver();
    if (this.#trouble === undefined)
      await new Promise<void>((resolve) =>
        this.#post({ kind: "close" }, { bytes: 0, finish: () => resolve() }),
      );
    await this.#worker.terminate();
    this.#lock.release();
  }

  #handOver(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#trouble !== undefined) return;
    const pages = this.#gathered;
    const takers = this.#takers;
    this.#gathered = [];
    this.#takers = [];
    const bytes = pages.reduce((sum, { text }) => sum + text.length + PAGE_BYTES, 0);
    this.#post(
      { kind: "pages", parcel: packPages(pages), lastSeq: this.#lastSeq },
      { bytes, finish: (answer) => takers.forEach((finish) => finish(answer)) },
    );
  }

  #post(errand: IndexErrand, awaited: Awaited): void {
    this.#awaited.push(awaited);
    const transferred = errand.kind === "pages" ? [errand.parcel.bytes.buffer] : [];
    this.#worker.postMessage(errand, transferred);
  }

  #receive(answer: IndexAnswer): void {
    const { trouble } = answer;
    if (trouble !== undefined && !this.#options.keepsText)
      return this.#fail(new CrawlError(trouble.code, trouble.what));
    const awaited = this.#awaited.shift();
    this.#queuedBytes -= awaited?.bytes ?? 0;
    awaited?.finish(answer);
    if (this.#queuedBytes < QUEUED_BYTES_MAX) this.#resumeWaiters();
  }

  #fail(trouble: CrawlError): void {
    if (this.#trouble !== undefined) return;
    this.#trouble = trouble;
    this.#options.onTrouble(trouble.message);
    const answer = { trouble: { code: trouble.code, what: trouble.message } };
    for (const { finish } of this.#awaited.splice(0)) finish(answer);
    for (const finish of this.#takers.splice(0)) finish(answer);
    this.#gathered = [];
    this.#queuedBytes = 0;
    this.#resumeWaiters();
  }

  #resumeWaiters(): void {
    for (const resume of this.#roomWaiters.splice(0)) resume();
  }
}
