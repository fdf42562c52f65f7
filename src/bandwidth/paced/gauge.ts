/**
 * Compares the line's own counters with the bytes that the controller has spent.
 *
 * Spent bytes are estimates: what lies unread, what packets add. Bytes on the line beyond them are returned here as
 * missed, once. Spent bytes that have not arrived may still do, since a window opens by several packets at a time some
 * time after it has room, so these are given back slowly.
 *
 * O(1).
 */

/** Mean time in milliseconds after which spent bytes that did not arrive are given back. */
const OVERDUE_MS = 200;

interface Reading {
  /** Bytes on the line since the last reading. */
  readonly lineBytes: number;
  /** How many of these were not spent; negative when more was spent than arrived. */
  readonly missedBytes: number;
}

interface Look {
  readonly atMs: number;
  readonly lineBytes: number;
  readonly spentBytes: number;
}

export class Gauge {
  #last: Look | undefined;
  #overdueBytes = 0;

  /** Whether the line has counters. */
  get isRead(): boolean {
    return this.#last !== undefined;
  }

  /** Both are totals. The first reading returns nothing; undefined: the line cannot be read. */
  read(atMs: number, lineBytes: number | undefined, spentBytes: number): Reading | undefined {
    const last = this.#last;
    this.#last = lineBytes === undefined ? undefined : { atMs, lineBytes, spentBytes };
    if (last === undefined || lineBytes === undefined) {
      this.#overdueBytes = 0;
      return undefined;
    }
    const newBytes = lineBytes - last.lineBytes;
    const overdueBytes = this.#overdueBytes + spentBytes - last.spentBytes - newBytes;
    this.#overdueBytes = Math.max(0, overdueBytes) * Math.exp((last.atMs - atMs) / OVERDUE_MS);
    return { lineBytes: newBytes, missedBytes: this.#overdueBytes - overdueBytes };
  }
}
