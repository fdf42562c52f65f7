/**
 * What the line really carried, beside what an account believes.
 *
 * An account goes by what programs read, what they were granted, and guesses of what lies unread and of what packets
 * add. Each is off by a little, at other times for each of a hundred connections, and at 100 KB/s three
 * packets are a thirtieth of a second. The counters of the line know better: what they say beyond the belief is told here,
 * once. What was believed and has not come may still do: a window opens by several packets at a time, some time after
 * there is room. So that is given back slowly, and until then it is what comes unforeseen.
 *
 * O(1) everything.
 */

/** Of what was believed and has not come, so long it may still come, on average. */
const OVERDUE_MS = 200;

export interface Reading {
  /** Since the last one. */
  readonly cameBytes: number;
  /** Of that, what nobody believed; negative when more was believed than is to come. */
  readonly missedBytes: number;
}

interface Look {
  readonly atMs: number;
  readonly lineBytes: number;
  readonly believedBytes: number;
}

export class Gauge {
  #last: Look | undefined;
  /** Believed, and not come. */
  #overdueBytes = 0;

  /** Whether the line can be read. */
  get isRead(): boolean {
    return this.#last !== undefined;
  }

  /** Both since any beginning. The first reading tells nothing; undefined: the line cannot be read. */
  read(atMs: number, lineBytes: number | undefined, believedBytes: number): Reading | undefined {
    const last = this.#last;
    this.#last = lineBytes === undefined ? undefined : { atMs, lineBytes, believedBytes };
    if (last === undefined || lineBytes === undefined) {
      this.#overdueBytes = 0;
      return undefined;
    }
    const cameBytes = lineBytes - last.lineBytes;
    const overdueBytes = this.#overdueBytes - cameBytes + believedBytes - last.believedBytes;
    const keptShare = Math.exp((last.atMs - atMs) / OVERDUE_MS);
    this.#overdueBytes = Math.max(0, overdueBytes) * keptShare;
    return { cameBytes, missedBytes: this.#overdueBytes - overdueBytes };
  }
}
