/**
 * The archive of a crawl: WARC 1.1 files with gzip per record, written by a separate thread.
 *
 * Captures are collected for a few milliseconds and sent together, because a message to the thread costs
 * as much as compressing a small page. A fixed number of buffers is reused; while all are in use,
 * captures wait here, and callers that await `write` bound their number.
 *
 * Promises:
 *   1. a capture is completely in one file, or its `write` has failed and it is in none;
 *   2. after a kill, opening with the marks of the last commit keeps exactly the captures written by
 *      then, and continues in a new file;
 *   3. a full disk fails only the writes during that time; a thread that dies is replaced.
 */

import { Worker } from "node:worker_threads";
import { assert } from "../../base/assert.ts";
import { descriptorShortage } from "../../base/descriptors.ts";
import { CrawlError } from "../../base/errors.ts";
import type { ArchivePlace } from "../../page/page.ts";
import type { Capture, Output } from "../output.ts";
import { cutBack, type Marks } from "./warc-files.ts";
import { pack, roomFor, tell, type Told } from "./warc-parcel.ts";
import type { Answer, Task, Trouble, WorkerStart } from "./warc-worker.ts";

interface WarcSettings {
  /** Size limit of a file. */
  readonly fileBytesMax: number;
  /** 0 stores, 1 is fast, 2 to 9 are zlib's levels. */
  readonly level: number;
  /** Fields of the warcinfo record: software, operator, user agent. */
  readonly info: Readonly<Record<string, string>>;
}

/** The writer thread died because of a bug; its unfinished captures were not written. */
export class WriterLost extends Error {
  override readonly name = "WriterLost";
}

const WORKER_FILE = new URL(
  `./warc-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`,
  import.meta.url,
);
/** Small, because the thread's objects are short-lived, and its large buffers are reused. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 3 };
const PARCEL_BYTES = 1 << 20;
const PARCELS_MAX = 2;
/** Longest wait of a capture before its batch is sent. */
const BATCH_MS = 3;
/** Number of waiting captures that are sent at once. */
const BATCH_CAPTURES = 16;
/** Bytes of waiting captures that are sent at once. */
const BATCH_BYTES = PARCEL_BYTES / 2;

/** Opens the archive in a folder, and first removes everything beyond the marks. */
export function openWarc(folder: string, marks: Marks, settings: WarcSettings): Output {
  return new WarcOutput(folder, marks, settings);
}

interface Waiting {
  readonly capture: Capture;
  readonly resolve: (place: ArchivePlace) => void;
  readonly reject: (error: Error) => void;
}

/** A task that the thread has not answered yet. */
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
  #parcelsInUse = 0;
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
      const isBatchFull =
        this.#waiting.length >= BATCH_CAPTURES || this.#waitingBytes >= BATCH_BYTES;
      if (isBatchFull) this.#sendParcels();
      else this.#timer ??= setTimeout(() => this.#sendParcels(), BATCH_MS);
    });
  }

  marks(): Marks {
    return { ...this.#marks };
  }

  async sync(): Promise<void> {
    if (this.#worker !== undefined) await this.#request({ kind: "sync" });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    while (this.#waiting.length > 0 || this.#parcelsInUse > 0) {
      this.#sendParcels();
      // Tasks are answered in order, so this sync waits for every earlier parcel. Its errors are
      // ignored, because closing reports them too.
      await this.sync().catch(() => undefined);
    }
    try {
      if (this.#worker !== undefined) await this.#request({ kind: "close" });
    } finally {
      await this.#worker?.terminate();
    }
  }

  /** Sends parcels while there are waiting captures and free buffers. */
  #sendParcels(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#waiting.length > 0 && this.#parcelsInUse < PARCELS_MAX) this.#sendParcel();
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
    this.#parcelsInUse += 1;
    this.#post(
      { kind: "captures", parcel, end },
      {
        finish: (answer) => this.#settle(sent, answer),
        fail: (error) => {
          this.#parcelsInUse -= 1;
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
    this.#parcelsInUse -= 1;
    if (answer.parcel?.length === PARCEL_BYTES) this.#freeParcels.push(answer.parcel);
    for (const [index, { resolve, reject }] of sent.entries()) {
      const place = answer.places[index];
      if (place === undefined) reject(errorFrom(answer.trouble));
      else {
        this.#marks[place.file] = place.offset + place.length;
        resolve(place);
      }
    }
    this.#sendParcels();
  }

  #request(task: Task): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = ({ trouble }: Answer): void =>
        trouble === undefined ? resolve() : reject(errorFrom(trouble));
      this.#post(task, { finish, fail: reject });
    });
  }

  #post(task: Task, awaited: Awaited): void {
    try {
      this.#worker ??= this.#start();
    } catch (error) {
      return awaited.fail(descriptorShortage(error) ?? (error as Error));
    }
    this.#awaited.push(awaited);
    this.#worker.postMessage(task, task.kind === "captures" ? [task.parcel.buffer] : []);
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

  /** Fails the thread's open tasks; the next capture starts a new thread, which removes incomplete records. */
  #lose(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const error =
      descriptorShortage(cause) ?? new WriterLost("the archive's writer thread stopped", { cause });
    for (const { fail } of this.#awaited.splice(0)) fail(error);
    this.#sendParcels();
  }
}

function errorFrom(trouble: Trouble | undefined): Error {
  assert(trouble !== undefined, "a capture without a place has an error");
  return new CrawlError(trouble.code, trouble.message);
}
