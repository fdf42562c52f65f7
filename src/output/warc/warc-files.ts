/**
 * A sequence of archive files of limited size.
 *
 * Names are from a counter, never from foreign text; an existing file is never overwritten. An append
 * is complete or has no effect: when the disk refuses it, the file is truncated to the end of the last
 * complete capture, and the append can be retried.
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
import { CrawlError } from "../../base/errors.ts";
import { OWNER_ONLY } from "../../base/owner-only.ts";

const NAME = /^weir-(\d{5,9})\.warc\.gz$/;

/** The end of every file, by name. */
export type Marks = Readonly<Record<string, number>>;

/**
 * Restores the folder to the marks: truncates longer files, and deletes archive files without a mark,
 * which contain only uncommitted pages. Returns the number of the next file.
 */
export function cutBack(folder: string, marks: Marks): number {
  mkdirSync(folder, { recursive: true, mode: OWNER_ONLY });
  let next = 1;
  for (const [name, end] of Object.entries(marks)) {
    const path = join(folder, name);
    const bytes = existsSync(path) ? statSync(path).size : 0;
    if (bytes < end) {
      const message = `${path} has ${bytes} of ${end} committed bytes`;
      throw new CrawlError("STORE_CORRUPT", message);
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
  /** The first bytes of every file, by its name. */
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

  /** Offset of the next capture in the current file. */
  get end(): number {
    return this.#end;
  }

  /** Opens a file if none is open, so that `name` and `end` are those of the next capture. */
  prepare(): void {
    if (this.#descriptor === undefined) this.#open();
  }

  /** Whether the file has captures after its first record. */
  get hasCaptures(): boolean {
    return this.#end > this.#openingEnd;
  }

  /** Whether this number of bytes would exceed the file's limit. */
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

  /** Finishes and syncs the current file; the next append starts a new one. */
  rotate(): void {
    this.sync();
    this.#close();
  }

  sync(): void {
    if (this.#descriptor === undefined) return;
    fdatasyncSync(this.#descriptor);
    // Writes to a deleted file succeed but are lost.
    if (fstatSync(this.#descriptor).nlink === 0) {
      const path = join(this.#folder, this.#name);
      throw new CrawlError("FOLDER_UNWRITABLE", `${path} was deleted while it was being written`);
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
      // The incomplete capture stays beyond the mark, and the next capture starts a new file.
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

/** Makes a new file durable by syncing its folder entry. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
