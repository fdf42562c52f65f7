/**
 * The positions of the visible text of a page, as recorded by the scanner: runs of bytes between tags.
 *
 * A run has the kind of gap between it and the previous one: none that breaks a word, white space, or
 * the border of a block. At most 65,536 runs are kept; longer pages have enough text in those.
 */

export const GAP = { none: 0, space: 1, block: 2 } as const;

const RUNS_INITIAL = 2048;
export const RUNS_MAX = 65_536;

export interface PackedRuns {
  readonly start: Int32Array<ArrayBuffer>;
  readonly end: Int32Array<ArrayBuffer>;
  readonly gap: Uint8Array<ArrayBuffer>;
}

export class TextRuns {
  count = 0;
  #start = new Int32Array(RUNS_INITIAL);
  #end = new Int32Array(RUNS_INITIAL);
  #gap = new Uint8Array(RUNS_INITIAL);

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

  /** For another thread; its buffers may be transferred. */
  packed(): PackedRuns {
    const { count } = this;
    return {
      start: this.#start.slice(0, count),
      end: this.#end.slice(0, count),
      gap: this.#gap.slice(0, count),
    };
  }

  static unpacked({ start, end, gap }: PackedRuns): TextRuns {
    const runs = new TextRuns();
    runs.count = start.length;
    runs.#start = start;
    runs.#end = end;
    runs.#gap = gap;
    return runs;
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
    const capacity = this.count * 2;
    this.#start = copyInto(new Int32Array(capacity), this.#start);
    this.#end = copyInto(new Int32Array(capacity), this.#end);
    this.#gap = copyInto(new Uint8Array(capacity), this.#gap);
    return true;
  }
}

function copyInto<T extends Int32Array | Uint8Array>(target: T, source: T): T {
  target.set(source);
  return target;
}
