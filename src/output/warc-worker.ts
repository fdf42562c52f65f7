/**
 * The thread that compresses and writes the archive, so that the crawl's own thread does neither.
 *
 * It takes one errand after the other and answers each. The captures of a parcel are written
 * together; when the disk refuses, those that are not on it fail, and the thread goes on living.
 * Anything else that goes wrong here is our own mistake, and ends it.
 */

import { randomUUID } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { CrawlError, type ErrorCode } from "../base/errors.ts";
import type { ArchivePlace } from "../page/page.ts";
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

export type Errand =
  | { readonly kind: "captures"; readonly parcel: Uint8Array<ArrayBuffer>; readonly end: number }
  | { readonly kind: "sync" }
  | { readonly kind: "close" };

/** What came of an errand. The first captures have a place; the rest, if any, failed. */
export interface Answer {
  readonly places: readonly ArchivePlace[];
  /** Handed back, to be filled again. */
  readonly parcel: Uint8Array<ArrayBuffer> | undefined;
  readonly trouble: Trouble | undefined;
}

export interface Trouble {
  readonly code: ErrorCode;
  readonly what: string;
}

/** Bytes gathered before they are written. */
const GATHERED_BYTES_MAX = 1 << 20;

class Scribe {
  readonly #writer: WarcWriter;
  readonly #files: WarcFiles;
  /** Captures in the writer that are not in a file yet. */
  #gathered: { readonly answerAt: number; readonly end: number }[] = [];
  #places: ArchivePlace[] = [];

  constructor(start: WorkerStart) {
    const { folder, number, bytesMax, level, info } = start;
    this.#writer = new WarcWriter(level);
    const opening = (name: string): Uint8Array => {
      const writer = new WarcWriter(level);
      writer.addText(warcinfoRecord(name, randomUUID(), Date.now(), info));
      return writer.members;
    };
    this.#files = new WarcFiles(folder, number, { bytesMax, opening });
  }

  do(errand: Errand): Answer {
    this.#places = [];
    const parcel = errand.kind === "captures" ? errand.parcel : undefined;
    try {
      if (errand.kind === "captures") this.#write(unpack(errand.parcel, errand.end));
      else if (errand.kind === "sync") this.#files.sync();
      else this.#files.close();
      return { places: this.#places, parcel, trouble: undefined };
    } catch (error) {
      this.#gathered = [];
      this.#writer.drop(this.#writer.members.length);
      return { places: this.#places, parcel, trouble: troubleOf(error) };
    }
  }

  #write(captures: Iterable<Unpacked>): void {
    for (const capture of captures) {
      this.#files.prepare();
      const start = this.#writer.members.length;
      const beforeAnswer = this.#writer.add(capture);
      const end = this.#writer.members.length;
      const isSecond = start > 0 || this.#files.holdsCaptures;
      if (isSecond && this.#files.isFullFor(end)) {
        this.#flush(start);
        this.#files.rotate();
        this.#gathered.push({ answerAt: beforeAnswer, end: end - start });
      } else {
        this.#gathered.push({ answerAt: start + beforeAnswer, end });
      }
      const { length } = this.#writer.members;
      if (length >= GATHERED_BYTES_MAX) this.#flush(length);
    }
    this.#flush(this.#writer.members.length);
  }

  /** Writes the first so many gathered bytes, which are whole captures. */
  #flush(bytes: number): void {
    if (bytes === 0) return;
    this.#files.append(this.#writer.members.subarray(0, bytes));
    const base = this.#files.end - bytes;
    for (const { answerAt, end } of this.#gathered)
      this.#places.push({
        file: this.#files.name,
        offset: base + answerAt,
        length: end - answerAt,
      });
    this.#gathered = [];
    this.#writer.drop(bytes);
  }
}

function troubleOf(error: unknown): Trouble {
  if (error instanceof CrawlError) return { code: error.code, what: error.message };
  if (error instanceof Error && "syscall" in error && "code" in error) {
    const isFull = error.code === "ENOSPC" || error.code === "EDQUOT";
    return { code: isFull ? "DISK_FULL" : "FOLDER_UNWRITABLE", what: error.message };
  }
  throw error;
}

const port = parentPort;
assert(port !== null, "this file runs as a thread");
const scribe = new Scribe(workerData as WorkerStart);
port.on("message", (errand: Errand) => {
  const answer = scribe.do(errand);
  port.postMessage(answer, answer.parcel === undefined ? [] : [answer.parcel.buffer]);
  if (errand.kind === "close") port.close();
});
