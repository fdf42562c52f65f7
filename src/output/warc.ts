/**
 * The archive of a crawl: WARC 1.1 files, gzip per record, written by a thread of their own.
 *
 * Captures are gathered for a few milliseconds and handed over together, because a message costs as
 * much as compressing a small page. A fixed number of buffers goes back and forth; while all of them
 * are away, captures wait on this side, where their number is bounded by whoever awaits `write`.
 *
 * Promises:
 *   1. a capture is in one file whole, or not at all and its `write` has failed;
 *   2. after a kill, opening with the marks of the last commit leaves exactly what was answered by
 *      then, and goes on in a new file;
 *   3. a full disk fails the writes it meets and none later; a thread that dies is replaced.
 */

import { Worker } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { CrawlError } from "../base/errors.ts";
import type { ArchivePlace } from "../page/page.ts";
import type { Capture, Output } from "./output.ts";
import { cutBack, type Marks } from "./warc-files.ts";
import { pack, roomFor, tell, type Told } from "./warc-parcel.ts";
import type { Answer, Errand, Trouble, WorkerStart } from "./warc-worker.ts";

export interface WarcSettings {
  /** A file is closed before it grows beyond this. */
  readonly fileBytesMax: number;
  /** 0 stores, 1 is fast, 2 to 9 are zlib's levels. */
  readonly level: number;
  /** What the file says about itself: software, operator, user agent. */
  readonly info: Readonly<Record<string, string>>;
}

/** The writing thread died, by our own mistake; what it had in hand was not written. */
export class WriterLost extends Error {
  override readonly name = "WriterLost";
}

const WORKER_FILE = new URL(
  `./warc-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`,
  import.meta.url,
);
/** What the thread makes of a capture is short-lived, and its large buffers are made once. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 3 };
const PARCEL_BYTES = 1 << 20;
const PARCELS_MAX = 2;
/** How long captures may wait for company, and how many or how much is company enough. */
const GATHER_MS = 3;
const COMPANY = 16;
const COMPANY_BYTES = PARCEL_BYTES / 2;

/** Opens the archive in a folder, first cutting off what the marks do not know. */
export function openWarc(folder: string, marks: Marks, settings: WarcSettings): Output {
  return new WarcOutput(folder, marks, settings);
}

interface Waiting {
  readonly capture: Capture;
  readonly resolve: (place: ArchivePlace) => void;
  readonly reject: (error: Error) => void;
}

/** An errand the thread has not answered yet. */
interface Awaited {
  readonly finish: (answer: Answer) => void;
  readonly fail: (error: Error) => void;
}

class WarcOutput implements Output {
  readonly #folder: string;
  readonly #settings: WarcSettings;
  readonly #marks: Record<string, number>;
  #worker: Worker | undefined;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #freeParcels: Uint8Array<ArrayBuffer>[] = [];
  #parcelsAway = 0;
  readonly #awaited: Awaited[] = [];
  #isClosed = false;

  constructor(folder: string, marks: Marks, settings: WarcSettings) {
    this.#folder = folder;
    this.#marks = { ...marks };
    this.#settings = settings;
    this.#worker = this.#start();
  }

  write(capture: Capture): Promise<ArchivePlace> {
    assert(!this.#isClosed, "a closed archive is not written to");
    return new Promise((resolve, reject) => {
      this.#waiting.push({ capture, resolve, reject });
      this.#waitingBytes += capture.body.length;
      const hasCompany = this.#waiting.length >= COMPANY || this.#waitingBytes >= COMPANY_BYTES;
      if (hasCompany) this.#handOver();
      else this.#timer ??= setTimeout(() => this.#handOver(), GATHER_MS);
    });
  }

  marks(): Marks {
    return { ...this.#marks };
  }

  async sync(): Promise<void> {
    if (this.#worker !== undefined) await this.#ask({ kind: "sync" });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    while (this.#waiting.length > 0 || this.#parcelsAway > 0) {
      this.#handOver();
      // Errands are answered in order, so this one waits for every parcel before it. Whatever it
      // complains of, the closing will complain of too.
      await this.sync().catch(() => undefined);
    }
    try {
      if (this.#worker !== undefined) await this.#ask({ kind: "close" });
    } finally {
      await this.#worker?.terminate();
    }
  }

  /** Sends parcels as long as there are captures and buffers for them. */
  #handOver(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#waiting.length > 0 && this.#parcelsAway < PARCELS_MAX) this.#sendParcel();
  }

  #sendParcel(): void {
    const first = tell((this.#waiting[0] as Waiting).capture);
    const parcel = this.#parcelFor(roomFor(first));
    const sent: Waiting[] = [];
    let told: Told | undefined = first;
    let end = 0;
    while (told !== undefined && end + roomFor(told) <= parcel.length) {
      end = pack(told, parcel, end);
      sent.push(this.#waiting[sent.length] as Waiting);
      const next: Waiting | undefined = this.#waiting[sent.length];
      told = next === undefined ? undefined : tell(next.capture);
    }
    this.#waiting.splice(0, sent.length);
    for (const { capture } of sent) this.#waitingBytes -= capture.body.length;
    this.#parcelsAway += 1;
    this.#post(
      { kind: "captures", parcel, end },
      {
        finish: (answer) => this.#settle(sent, answer),
        fail: (error) => {
          this.#parcelsAway -= 1;
          for (const { reject } of sent) reject(error);
        },
      },
    );
  }

  #parcelFor(bytes: number): Uint8Array<ArrayBuffer> {
    if (bytes > PARCEL_BYTES) return new Uint8Array(bytes);
    return this.#freeParcels.pop() ?? new Uint8Array(PARCEL_BYTES);
  }

  #settle(sent: readonly Waiting[], answer: Answer): void {
    this.#parcelsAway -= 1;
    if (answer.parcel?.length === PARCEL_BYTES) this.#freeParcels.push(answer.parcel);
    for (const [index, { resolve, reject }] of sent.entries()) {
      const place = answer.places[index];
      if (place === undefined) reject(errorFrom(answer.trouble));
      else {
        this.#marks[place.file] = place.offset + place.length;
        resolve(place);
      }
    }
    this.#handOver();
  }

  #ask(errand: Errand): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = ({ trouble }: Answer): void =>
        trouble === undefined ? resolve() : reject(errorFrom(trouble));
      this.#post(errand, { finish, fail: reject });
    });
  }

  #post(errand: Errand, awaited: Awaited): void {
    try {
      this.#worker ??= this.#start();
    } catch (error) {
      return awaited.fail(error as Error);
    }
    this.#awaited.push(awaited);
    this.#worker.postMessage(errand, errand.kind === "captures" ? [errand.parcel.buffer] : []);
  }

  #start(): Worker {
    const { fileBytesMax, level, info } = this.#settings;
    const number = cutBack(this.#folder, this.#marks);
    const start: WorkerStart = {
      folder: this.#folder,
      number,
      bytesMax: fileBytesMax,
      level,
      info,
    };
    const worker = new Worker(WORKER_FILE, { workerData: start, resourceLimits: RESOURCE_LIMITS });
    let cause: unknown;
    worker.on("message", (answer: Answer) => this.#awaited.shift()?.finish(answer));
    worker.on("error", (error) => (cause = error));
    worker.on("exit", () => this.#lose(worker, cause));
    return worker;
  }

  /** The next capture starts a new thread, which cuts off whatever this one left half done. */
  #lose(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const error = new WriterLost("the thread that writes the archive stopped", { cause });
    for (const { fail } of this.#awaited.splice(0)) fail(error);
    this.#handOver();
  }
}

function errorFrom(trouble: Trouble | undefined): Error {
  assert(trouble !== undefined, "a capture without a place met trouble");
  return new CrawlError(trouble.code, trouble.what);
}
