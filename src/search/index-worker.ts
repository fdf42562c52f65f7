/**
 * The thread that writes the full-text index, to keep that work off the crawl's own thread.
 *
 * It takes one parcel of pages after the other and answers each. Pages of many parcels go into one
 * commit, because segments written together need less merging. A commit is made when enough pages are
 * gathered, when the first of them has waited long enough, or at once if the texts are stored in the index
 * and the crawl waits for them. Errors of the disk are reported; all others end the thread.
 */

import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { CrawlError, type ErrorCode } from "../base/errors.ts";
import { type PageParcel, unpackPages } from "./page-parcel.ts";
import { IndexWriter, type IndexWriterOptions } from "./index-writer.ts";

export interface IndexerStart extends IndexWriterOptions {
  readonly crawlFolder: string;
}

export type IndexErrand =
  | {
      readonly kind: "pages";
      readonly parcel: PageParcel;
      /** The sequence number of the last page that the store has committed. */
      readonly lastSeq: number;
    }
  | { readonly kind: "close" };

export interface IndexAnswer {
  readonly trouble: { readonly code: ErrorCode; readonly what: string } | undefined;
}

/** Pages in one commit: enough that segments are full when they are written. */
const PAGES_PER_COMMIT = 4_096;
const BYTES_PER_COMMIT = 32 * 2 ** 20;
/** Pages of a running crawl can be found after this time at the latest. */
const COMMIT_AFTER_MS = 5_000;

class Indexer {
  readonly #writer: IndexWriter;
  #gathered = 0;
  #gatheredBytes = 0;
  #lastSeq: number;
  #timer: NodeJS.Timeout | undefined;

  constructor({ crawlFolder, ...options }: IndexerStart) {
    this.#writer = new IndexWriter(crawlFolder, options);
    this.#lastSeq = this.#writer.cursor;
  }

  do(errand: IndexErrand): IndexAnswer {
    try {
      if (errand.kind === "pages") this.#take(errand.parcel, errand.lastSeq);
      else {
        this.#commit();
        this.#writer.close();
      }
      return { trouble: undefined };
    } catch (error) {
      if (!(error instanceof CrawlError)) throw error;
      this.#reset();
      return { trouble: { code: error.code, what: error.message } };
    }
  }

  #take(parcel: PageParcel, lastSeq: number): void {
    for (const page of unpackPages(parcel)) this.#writer.put(page);
    this.#gathered += parcel.ends.length;
    this.#gatheredBytes += parcel.bytes.length;
    this.#lastSeq = lastSeq;
    const isEnough = this.#gathered >= PAGES_PER_COMMIT || this.#gatheredBytes >= BYTES_PER_COMMIT;
    if (isEnough || this.#writer.keepsText) this.#commit();
    else this.#timer ??= setTimeout(() => this.#commitLate(), COMMIT_AFTER_MS);
  }

  #commit(): void {
    this.#reset();
    this.#writer.commit(this.#lastSeq);
  }

  #commitLate(): void {
    try {
      this.#commit();
    } catch (error) {
      if (!(error instanceof CrawlError)) throw error;
      // No call waits for this answer; the cursor stays, so the pages after it are indexed later.
      port?.postMessage({ trouble: { code: error.code, what: error.message } });
    }
  }

  #reset(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#gathered = 0;
    this.#gatheredBytes = 0;
  }
}

const port = parentPort;
assert(port !== null, "this file runs as a thread");
const indexer = new Indexer(workerData as IndexerStart);
port.on("message", (errand: IndexErrand) => {
  port.postMessage(indexer.do(errand));
  if (errand.kind === "close") port.close();
});
