/**
 * A file of rows of numbers of fixed width, without header or index, so it never needs a repair.
 *
 * A number takes 8 bytes in the machine's byte order. Writes go to the system at once, so a kill loses
 * nothing; they are not synced, so a power cut may lose the latest rows. An incomplete row at the end
 * of the file is overwritten.
 */

import { closeSync, openSync, readFileSync, fstatSync, writeSync } from "node:fs";
import { constants } from "node:fs";

const NUMBER_BYTES = 8;

export class NumberFile implements Disposable {
  readonly #file: number;
  readonly #rowBytes: number;
  #rows: number;

  /** Opens the file, or creates an empty one. */
  constructor(path: string, rowNumbers: number) {
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT);
    this.#rowBytes = rowNumbers * NUMBER_BYTES;
    this.#rows = Math.floor(fstatSync(this.#file).size / this.#rowBytes);
  }

  append(row: readonly number[]): void {
    this.put(this.#rows, row);
  }

  /** Rows between the old end and a later index are zeros, and take no space on most file systems. */
  put(index: number, row: readonly number[]): void {
    const bytes = new Uint8Array(Float64Array.from(row).buffer);
    writeSync(this.#file, bytes, 0, this.#rowBytes, index * this.#rowBytes);
    this.#rows = Math.max(this.#rows, index + 1);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

/** All complete rows, one after the other; empty when there is no file. */
export function readNumbers(path: string, rowNumbers: number): Float64Array {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return new Float64Array(0);
    throw error;
  }
  const rows = Math.floor(bytes.length / (rowNumbers * NUMBER_BYTES));
  const numbers = new Float64Array(rows * rowNumbers);
  new Uint8Array(numbers.buffer).set(bytes.subarray(0, numbers.byteLength));
  return numbers;
}
