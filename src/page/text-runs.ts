/**
 * Where the visible text of a page lies, as the scanner met it: stretches of bytes between tags.
 *
 * A run knows what stood between it and the one before: nothing that breaks a word, white space, or
 * the border of a block. At most 65,536 runs are kept; a page with more has enough text without.
 */

export const GAP = { none: 0, space: 1, block: 2 } as const;

const RUNS_AT_FIRST = 2048;
export const RUNS_MAX = 65_536;

export class TextRuns {
  count = 0;
  #start = new Int32Array(RUNS_AT_FIRST);
  #end = new Int32Array(RUNS_AT_FIRST);
  #gap = new Uint8Array(RUNS_AT_FIRST);

  reset(): void {
    this.count = 0;
  }

  add(start: number, end: number, gap: number): void {
    if (this.count === this.#start.length && !this.#grow()) return;
    this.#start[this.count] = start;
    this.#end[this.count] = end;
    this.#gap[this.count] = gap;
    this.count += 1;
  }

  start(run: number): number {
    return this.#start[run] as number;
  }

  end(run: number): number {
    return this.#end[run] as number;
  }

  gap(run: number): number {
    return this.#gap[run] as number;
  }

  #grow(): boolean {
    if (this.count >= RUNS_MAX) return false;
    const roomier = this.count * 2;
    this.#start = copyInto(new Int32Array(roomier), this.#start);
    this.#end = copyInto(new Int32Array(roomier), this.#end);
    this.#gap = copyInto(new Uint8Array(roomier), this.#gap);
    return true;
  }
}

function copyInto<T extends Int32Array | Uint8Array>(target: T, source: T): T {
  target.set(source);
  return target;
}
