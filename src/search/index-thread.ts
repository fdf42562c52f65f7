/**
 * Where pages enter the full-text index while a crawl runs: the near end of a thread of its own.
 *
 * With an archive, a page is handed over once the store has committed it. The index is then always
 * a part of the store: what a kill takes from it is read from the archive when it is opened again
 * (`crawl/search-upkeep.ts`). Without one the text exists nowhere else, so it is the other way
 * round: a page is in the index, text and all, before the crawl notes it, and what the store does
 * not know is taken out when it is opened again.
 *
 * Promises: no more than 16 MiB of text wait, and whoever brings more waits too; when the thread
 * cannot go on, a crawl with an archive goes on without it and says so once.
 */

import { Worker } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { CrawlError } from "../base/errors.ts";
import type { IndexLock } from "./index-file.ts";
import { packPages } from "./page-parcel.ts";
import type { IndexAnswer, IndexErrand, IndexerStart } from "./index-worker.ts";
import type { IndexedPage } from "./index-writer.ts";

/** Where pages go to be found again, as a sink. */
export interface PageIndex {
  /** Takes a page just before it is noted; waits for room, or until it is kept. */
  take(page: IndexedPage): Promise<void>;
  /** The store has committed everything that was noted. */
  committed(lastSeq: number): void;
  close(): Promise<void>;
}

export interface IndexOptions extends IndexerStart {
  /** Told once when it falls behind, and why. */
  readonly onTrouble: (what: string) => void;
}

const WORKER_FILE = new URL(
  `./index-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`,
  import.meta.url,
);
/** What it makes of a page is short-lived. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 8 };
const WAITING_BYTES_MAX = 16 * 2 ** 20;
/** What a page costs beside its text. */
const PAGE_BYTES = 1_024;
/** How long pages that somebody waits for may wait for company. */
const GATHER_MS = 5;

/** The lock is released when the index is closed. */
export function openIndex(options: IndexOptions, lock: IndexLock): PageIndex {
  return new ThreadedIndex(options, lock);
}

interface Awaited {
  readonly bytes: number;
  /** Resolves whoever waits for these pages. */
  readonly finish: (answer: IndexAnswer) => void;
}

class ThreadedIndex implements PageIndex {
  readonly #options: IndexOptions;
  readonly #lock: IndexLock;
  readonly #worker: Worker;
  #gathered: IndexedPage[] = [];
  #lastSeq = 0;
  #waitingBytes = 0;
  #awaited: Awaited[] = [];
  #keepers: ((answer: IndexAnswer) => void)[] = [];
  #roomWanted: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #trouble: CrawlError | undefined;

  constructor(options: IndexOptions, lock: IndexLock) {
    this.#options = options;
    this.#lock = lock;
    const { crawlFolder, keepsText, stemming } = options;
    const workerData: IndexerStart = { crawlFolder, keepsText, stemming };
    this.#worker = new Worker(WORKER_FILE, { workerData, resourceLimits: RESOURCE_LIMITS });
    this.#worker.on("message", (answer: IndexAnswer) => this.#hear(answer));
    this.#worker.on("error", (error) =>
      this.#fail(new CrawlError("SEARCH_INDEX_DAMAGED", String(error))),
    );
  }

  async take(page: IndexedPage): Promise<void> {
    while (this.#waitingBytes >= WAITING_BYTES_MAX && this.#trouble === undefined)
      await new Promise<void>((goOn) => this.#roomWanted.push(goOn));
    const { keepsText } = this.#options;
    if (this.#trouble !== undefined) {
      // With an archive nothing is lost: the index is completed from it later.
      if (keepsText) throw this.#trouble;
      return;
    }
    this.#gathered.push(page);
    this.#waitingBytes += page.text.length + PAGE_BYTES;
    if (!keepsText) return;
    this.#timer ??= setTimeout(() => this.#handOver(), GATHER_MS);
    await new Promise<void>((resolve, reject) => {
      this.#keepers.push(({ trouble }) =>
        trouble === undefined ? resolve() : reject(new CrawlError(trouble.code, trouble.what)),
      );
    });
  }

  committed(lastSeq: number): void {
    assert(lastSeq >= this.#lastSeq, "pages are numbered upwards");
    const hasMoved = lastSeq > this.#lastSeq;
    this.#lastSeq = lastSeq;
    // Where the texts are kept, pages not noted yet may be among those gathered; these go at their time.
    if (hasMoved && !this.#options.keepsText) this.#handOver();
  }

  async close(): Promise<void> {
    // What the store has not committed by now will be fetched again.
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
    const keepers = this.#keepers;
    this.#gathered = [];
    this.#keepers = [];
    const bytes = pages.reduce((sum, { text }) => sum + text.length + PAGE_BYTES, 0);
    this.#post(
      { kind: "pages", parcel: packPages(pages), lastSeq: this.#lastSeq },
      { bytes, finish: (answer) => keepers.forEach((finish) => finish(answer)) },
    );
  }

  #post(errand: IndexErrand, awaited: Awaited): void {
    this.#awaited.push(awaited);
    const handedOver = errand.kind === "pages" ? [errand.parcel.bytes.buffer] : [];
    this.#worker.postMessage(errand, handedOver);
  }

  #hear(answer: IndexAnswer): void {
    const { trouble } = answer;
    if (trouble !== undefined && !this.#options.keepsText)
      return this.#fail(new CrawlError(trouble.code, trouble.what));
    const awaited = this.#awaited.shift();
    this.#waitingBytes -= awaited?.bytes ?? 0;
    awaited?.finish(answer);
    if (this.#waitingBytes < WAITING_BYTES_MAX) this.#letIn();
  }

  #fail(trouble: CrawlError): void {
    if (this.#trouble !== undefined) return;
    this.#trouble = trouble;
    this.#options.onTrouble(trouble.message);
    const answer = { trouble: { code: trouble.code, what: trouble.message } };
    for (const { finish } of this.#awaited.splice(0)) finish(answer);
    for (const finish of this.#keepers.splice(0)) finish(answer);
    this.#gathered = [];
    this.#waitingBytes = 0;
    this.#letIn();
  }

  #letIn(): void {
    for (const goOn of this.#roomWanted.splice(0)) goOn();
  }
}
