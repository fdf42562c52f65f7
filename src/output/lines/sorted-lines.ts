/**
 * Sorts more lines than fit in memory: writes sorted runs to disk, then merges them.
 *
 * Lines are compared by UTF-16 units, which for ASCII is byte order. Memory is `memoryBytes` while runs
 * are written, and one small window per run while they are merged.
 */

import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { mergeSorted } from "../../base/merge.ts";

const WINDOW_BYTES = 65_536;
/** Most runs open at the same time; this many runs are merged into one. */
const RUNS_MAX = 128;
/** Memory of a string in an array, besides one byte per ASCII character. */
const STRING_BYTES = 32;

interface SortSpace {
  /** Folder for temporary runs. */
  readonly folder: string;
  readonly memoryBytes: number;
}

export function* sortedLines(lines: Iterable<string>, space: SortSpace): Generator<string> {
  const scratch = mkdtempSync(join(space.folder, ".sort-"));
  try {
    let runs: string[] = [];
    let written = 0;
    let buffered: string[] = [];
    let bytes = 0;
    for (const line of lines) {
      buffered.push(line);
      bytes += line.length + STRING_BYTES;
      if (bytes < space.memoryBytes) continue;
      runs.push(writeRun(join(scratch, String(written++)), buffered.sort()));
      buffered = [];
      bytes = 0;
      if (runs.length < RUNS_MAX) continue;
      const joined = writeRun(join(scratch, String(written++)), merged(runs.map(readRun)));
      for (const run of runs) rmSync(run);
      runs = [joined];
    }
    yield* merged([...runs.map(readRun), buffered.sort()]);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function merged(runs: readonly Iterable<string>[]): Generator<string> {
  return mergeSorted(runs, (a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

function writeRun(path: string, lines: Iterable<string>): string {
  const descriptor = openSync(path, "wx");
  try {
    let chunk = "";
    for (const line of lines) {
      chunk += `${line}\n`;
      if (chunk.length < WINDOW_BYTES) continue;
      writeAll(descriptor, chunk);
      chunk = "";
    }
    writeAll(descriptor, chunk);
  } finally {
    closeSync(descriptor);
  }
  return path;
}

function writeAll(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
}

function* readRun(path: string): Generator<string> {
  const descriptor = openSync(path, "r");
  try {
    const decoder = new TextDecoder();
    const window = Buffer.allocUnsafe(WINDOW_BYTES);
    let rest = "";
    for (;;) {
      const got = readSync(descriptor, window, 0, WINDOW_BYTES, null);
      if (got === 0) return;
      const lines = (rest + decoder.decode(window.subarray(0, got), { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    closeSync(descriptor);
  }
}
