/**
 * The thread that compresses and writes the archive, to relieve the crawl's main thread.
 *
 * It processes one task after the other and answers each. The captures of a parcel are written
 * together; when the disk refuses a write, the captures not written fail, and the thread continues.
 * Any other error is a bug in Weir and ends the thread.
 */

import { randomUUID } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../base/assert.ts";
import { explained } from "../../base/disk-trouble.ts";
import { CrawlError, type ErrorCode } from "../../base/errors.ts";
import type { ArchivePlace } from "../../page/page.ts";
import { WarcFiles } from "./warc-files.ts";
import { unpack, type Unpacked } from "./warc-parcel.ts";
import { warcinfoRecord } from "./warc-record.ts";
import { WarcWriter } from "./warc-writer.ts";

export interface WorkerStart {
  readonly folder: string;
  readonly number: number;
  readonly bytesMax: number;
  readonly level: number;
  readonly info: Readonly<Record<string, string>>;
}

export type Task =
  | { readonly kind: "captures"; readonly parcel: Uint8Array<ArrayBuffer>; readonly end: number }
  | { readonly kind: "sync" }
  | { readonly kind: "close" };

/** Result of a task. The first captures have a place; the rest, if any, failed. */
export interface Answer {
  readonly places: readonly ArchivePlace[];
  /** The buffer, returned for reuse. */
  readonly parcel: Uint8Array<ArrayBuffer> | undefined;
  readonly trouble: Trouble | undefined;
}

export interface Trouble {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Bytes collected before they are written. */
const BUFFERED_BYTES_MAX = 1 << 20;

class ArchiveThread {
  readonly #writer: WarcWriter;
  readonly #files: WarcFiles;
  readonly #folder: string;
  /** Captures in the writer that are not written to a file yet. */
  #buffered: { readonly answerAt: number; readonly end: number }[] = [];
  #places: ArchivePlace[] = [];

  constructor(start: WorkerStart) {
    const { folder, number, bytesMax, level, info } = start;
    this.#folder = folder;
    this.#writer = new WarcWriter(level);
    const opening = (name: string): Uint8Array => {
      const writer = new WarcWriter(level);
      writer.addText(warcinfoRecord(name, randomUUID(), Date.now(), info));
      return writer.members;
    };
    this.#files = new WarcFiles(folder, number, { bytesMax, opening });
  }

  do(task: Task): Answer {
    this.#places = [];
    const parcel = task.kind === "captures" ? task.parcel : undefined;
    try {
      if (task.kind === "captures") this.#write(unpack(task.parcel, task.end));
      else if (task.kind === "sync") this.#files.sync();
      else this.#files.close();
      return { places: this.#places, parcel, trouble: undefined };
    } catch (error) {
      this.#buffered = [];
      this.#writer.drop(this.#writer.members.length);
      return { places: this.#places, parcel, trouble: troubleOf(error, this.#folder) };
    }
  }

  #write(captures: Iterable<Unpacked>): void {
    for (const capture of captures) {
      this.#files.prepare();
      const start = this.#writer.members.length;
      const beforeAnswer = this.#writer.add(capture);
      const end = this.#writer.members.length;
      const isSecond = start > 0 || this.#files.hasCaptures;
      if (isSecond && this.#files.isFullFor(end)) {
        this.#flush(start);
        this.#files.rotate();
        this.#buffered.push({ answerAt: beforeAnswer, end: end - start });
      } else {
        this.#buffered.push({ answerAt: start + beforeAnswer, end });
      }
      const { length } = this.#writer.members;
      if (length >= BUFFERED_BYTES_MAX) this.#flush(length);
    }
    this.#flush(this.#writer.members.length);
  }

  /** Writes the first buffered bytes, which are complete captures. */
  #flush(bytes: number): void {
    if (bytes === 0) return;
    this.#files.append(this.#writer.members.subarray(0, bytes));
    const base = this.#files.end - bytes;
    for (const { answerAt, end } of this.#buffered)
      this.#places.push({
        file: this.#files.name,
        offset: base + answerAt,
        length: end - answerAt,
      });
    this.#buffered = [];
    this.#writer.drop(bytes);
  }
}

function troubleOf(error: unknown, folder: string): Trouble {
  const found = explained(error, folder);
  if (!(found instanceof CrawlError)) throw found;
  return { code: found.code, message: found.message };
}

const port = parentPort;
assert(port !== null, "this file runs as a thread");
const archiveThread = new ArchiveThread(workerData as WorkerStart);
port.on("message", (task: Task) => {
  const answer = archiveThread.do(task);
  port.postMessage(answer, answer.parcel === undefined ? [] : [answer.parcel.buffer]);
  if (task.kind === "close") port.close();
});
