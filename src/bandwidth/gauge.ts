/**
 * What the line really carried, beside what an account believes.
 *
 * An account goes by what programs read, what they were granted, and guesses of what lies unread and of what packets
 * add. Each is off by a little, at other times for each of a hundred connections, and at 100 KB/s three
 * packets are a thirtieth of a second. The counters of the line know better: what they say beyond the belief is told here,
 * once.
 *
 * O(1) everything.
 */

export interface Reading {
  /** Since the last one. */
  readonly cameBytes: number;
  /** Of that, what nobody believed; negative when more was believed than came. */
  readonly missedBytes: number;
}

export class Gauge {
  #last: { readonly lineBytes: number; readonly believedBytes: number } | undefined;

  /** Whether the line can be read. */
  get isRead(): boolean {
    return this.#last !== undefined;
  }

  /** Both since any beginning. The first reading tells nothing; undefined: the line cannot be read. */
  read(lineBytes: number | undefined, believedBytes: number): Reading | undefined {
    const last = this.#last;
    this.#last = lineBytes === undefined ? undefined : { lineBytes, believedBytes };
    if (last === undefined || lineBytes === undefined) return undefined;
    const cameBytes = lineBytes - last.lineBytes;
    return { cameBytes, missedBytes: cameBytes - (believedBytes - last.believedBytes) };
  }
}
