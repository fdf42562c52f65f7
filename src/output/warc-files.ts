/**
 * A row of archive files, written one after the other and never beyond a size.
 *
 * Names come from a counter, so nothing foreign can choose one; a file is created or it is an error,
 * never opened over another. What is appended is there whole or not at all: when the disk refuses,
 * the file is cut back to the end of the last whole capture, and may be tried again.
 */

import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { CrawlError } from "../base/errors.ts";
import { OWNER_ONLY } from "../base/owner-only.ts";

const NAME = /^weir-(\d{5,9})\.warc\.gz$/;

/** The end of every file, by name. */
export type Marks = Readonly<Record<string, number>>;

/**
 * Makes the folder hold what the marks say and nothing more: longer files are cut, and files of ours
 * that no mark knows, which hold only pages that were never committed, are removed. Answers the
 * number of the next file.
 */
export function cutBack(folder: string, marks: Marks): number {
  mkdirSync(folder, { recursive: true, mode: OWNER_ONLY });
  let next = 1;
  for (const [name, end] of Object.entries(marks)) {
    const path = join(folder, name);
    const bytes = existsSync(path) ? statSync(path).size : 0;
    if (bytes < end) {
      const what = `${path} holds ${bytes} of the ${end} bytes that were committed`;
      throw new CrawlError("STORE_CORRUPT", what);
    }
    if (bytes > end) truncateSync(path, end);
    next = Math.max(next, numberOf(name) + 1);
  }
  for (const name of readdirSync(folder))
    if (NAME.test(name) && !Object.hasOwn(marks, name)) rmSync(join(folder, name));
  return next;
}

function numberOf(name: string): number {
  return Number(NAME.exec(name)?.[1] ?? 0);
}

export class WarcFiles {
  readonly #folder: string;
  readonly #bytesMax: number;
  /** What opens every file, given its name. */
  readonly #opening: (name: string) => Uint8Array;
  #number: number;
  #name = "";
  #descriptor: number | undefined;
  #end = 0;
  #openingEnd = 0;

  constructor(
    folder: string,
    number: number,
    limits: { readonly bytesMax: number; readonly opening: (name: string) => Uint8Array },
  ) {
    this.#folder = folder;
    this.#number = number;
    this.#bytesMax = limits.bytesMax;
    this.#opening = limits.opening;
  }

  get name(): string {
    return this.#name;
  }

  /** Where the next capture goes, in the file of that name. */
  get end(): number {
    return this.#end;
  }

  /** Opens a file if none is, so that `end` and the rest speak of the one that comes next. */
  prepare(): void {
    if (this.#descriptor === undefined) this.#open();
  }

  /** Whether the file holds more than its opening. */
  get holdsCaptures(): boolean {
    return this.#end > this.#openingEnd;
  }

  /** Whether so many bytes more would be too many. */
  isFullFor(bytes: number): boolean {
    return this.#end + bytes > this.#bytesMax;
  }

  append(bytes: Uint8Array): void {
    const descriptor = this.#descriptor ?? this.#open();
    try {
      for (let done = 0; done < bytes.length;)
        done += writeSync(descriptor, bytes, done, bytes.length - done, this.#end + done);
    } catch (error) {
      this.#restore(descriptor);
      throw error;
    }
    this.#end += bytes.length;
  }

  /** Starts the next file; the present one is finished and safe on disk. */
  rotate(): void {
    this.sync();
    this.#close();
  }

  sync(): void {
    if (this.#descriptor === undefined) return;
    fdatasyncSync(this.#descriptor);
    // Whoever writes into a file that was removed loses everything, and no call fails.
    if (fstatSync(this.#descriptor).nlink === 0) {
      const path = join(this.#folder, this.#name);
      throw new CrawlError("FOLDER_UNWRITABLE", `${path} was removed while it was being written`);
    }
  }

  close(): void {
    this.sync();
    this.#close();
  }

  #open(): number {
    const name = `weir-${String(this.#number).padStart(5, "0")}.warc.gz`;
    const path = join(this.#folder, name);
    const descriptor = openSync(path, "wx");
    const opening = this.#opening(name);
    try {
      for (let done = 0; done < opening.length;)
        done += writeSync(descriptor, opening, done, opening.length - done, done);
      syncFolder(this.#folder);
    } catch (error) {
      closeSync(descriptor);
      rmSync(path, { force: true });
      throw error;
    }
    this.#number++;
    this.#name = name;
    this.#descriptor = descriptor;
    this.#openingEnd = opening.length;
    this.#end = opening.length;
    return descriptor;
  }

  #restore(descriptor: number): void {
    try {
      ftruncateSync(descriptor, this.#end);
    } catch {
      // What cannot be cut is left: it lies beyond the mark, and the next capture opens a new file.
      this.#close();
    }
  }

  #close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    this.#end = 0;
    this.#openingEnd = 0;
  }
}

/** A new file is only as lasting as the folder's own record of it. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
