/**
 * A thread that reads large bodies, so that none of them stops the event loop.
 *
 * Reading takes up to 150 µs per KiB (a page of nothing but odd links), so 8 MiB take more than a second. A body is
 * copied to the thread, one at a time; the thread starts with the first. Which links are known is decided afterwards,
 * because the thread does not have that table.
 */

import { Worker } from "node:worker_threads";
import { LaterLinks } from "./later-links.ts";
import type { Harvest } from "./links.ts";
import type { PackedScan, ScanTask } from "./page-worker.ts";
import { PageScanner, type Scan, type ScannedBody, type ScanOptions } from "./scan-page.ts";
import { TextRuns } from "./text-runs.ts";

/** Bodies above this length are for the thread: shorter ones take at most 40 ms, ordinary ones of this length 1 ms. */
const AT_ONCE_BYTES_MAX = 256 * 1024;

/** Reads large bodies, as a socket. */
export interface PageAside {
  /** Whether a body of this length is to be read aside. */
  takes(bytes: number): boolean;
  scan(body: ScannedBody): Promise<Scan>;
}

const WORKER_FILE = new URL(
  `./page-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`,
  import.meta.url,
);

const NOTHING_IS_KNOWN = (): boolean => false;

interface Waiting {
  readonly body: ScannedBody;
  readonly resolve: (scan: Scan) => void;
  readonly reject: (error: unknown) => void;
}

export class PageThread implements PageAside {
  readonly #options: ScanOptions;
  /** The one that is being read first. */
  readonly #waiting: Waiting[] = [];
  #worker: Worker | undefined;

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  takes(bytes: number): boolean {
    return bytes > AT_ONCE_BYTES_MAX;
  }

  scan(body: ScannedBody): Promise<Scan> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ body, resolve, reject });
      if (this.#waiting.length === 1) this.#post(body);
    });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #post({ url, contentType, body }: ScannedBody): void {
    const copy = new Uint8Array(body);
    const task: ScanTask = { url, contentType, body: copy };
    this.#worker ??= this.#start();
    // While it reads, the process must not end.
    this.#worker.ref();
    this.#worker.postMessage(task, [copy.buffer]);
  }

  #start(): Worker {
    const worker = new Worker(WORKER_FILE, { workerData: this.#options });
    worker.on("message", (packed: PackedScan) => this.#came(packed));
    worker.on("error", (error: Error) => this.#fail(error));
    return worker;
  }

  #fail(error: unknown): void {
    this.#worker = undefined;
    // Without descriptors there is no thread; a stall is better than a lost page.
    const isStarted =
      !(error instanceof Error) || !("code" in error) || error.code !== "ERR_WORKER_INIT_FAILED";
    for (const { body, resolve, reject } of this.#waiting.splice(0))
      if (isStarted) reject(error);
      else resolve(new PageScanner(this.#options).scan(body, NOTHING_IS_KNOWN));
  }

  #came(packed: PackedScan): void {
    const done = this.#waiting.shift();
    const [next] = this.#waiting;
    if (next === undefined) this.#worker?.unref();
    else this.#post(next.body);
    done?.resolve(scanOf(packed, done.body.body, this.#options));
  }
}

function scanOf(packed: PackedScan, body: Uint8Array, options: ScanOptions): Scan {
  if (packed.kind !== "html") return packed;
  const html = packed.html ?? body;
  const { runs, later, ...facts } = packed.harvest;
  const unpacked = {
    runs: TextRuns.unpacked(runs),
    later: later === undefined ? undefined : LaterLinks.unpacked(later, html, options),
  };
  return { ...packed, html, harvest: { ...facts, ...unpacked } };
}

/** Leaves out the links that are known, of a page that was read without that knowledge. */
export function withoutKnown(
  harvest: Harvest,
  isKnown: (high: number, low: number) => boolean,
): Harvest {
  const { fingerprints, fresh, later } = harvest;
  const view = new DataView(fingerprints.buffer, fingerprints.byteOffset, fingerprints.byteLength);
  // Without known ones, targets and links are the same, in the same order.
  later?.leaveOut((index) => {
    const at = 8 * (fresh.length + index);
    return isKnown(view.getUint32(at), view.getUint32(at + 4));
  });
  return { ...harvest, fresh: fresh.filter(({ high, low }) => !isKnown(high, low)) };
}
