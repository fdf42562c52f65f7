/**
 * Yields to others on the line: the share of the limit to take, by what round trips tell.
 *
 * A queue that grows somewhere on the way shows in the round-trip time before anything is lost. As
 * in a scavenger transport (LEDBAT, RFC 6817) the least time seen to an address in the last minutes
 * is taken for the way itself, and what is above it for queueing. Above the target the share falls
 * at once, below it rises slowly, and it never falls to nothing.
 *
 * O(1) a measurement; bounded in addresses.
 */

const TARGET_MS = 25;
const SHARE_MIN = 0.05;
const FALL = 0.7;
const RISE_PER_SECOND = 0.05;
const JUDGE_EVERY_MS = 1000;
const SMOOTHING = 0.3;
/** The way itself may change: its least time is forgotten after one to two of these. */
const BASE_GOOD_FOR_MS = 5 * 60_000;
const ADDRESSES_MAX = 10_000;

interface Way {
  leastMs: number;
  earlierLeastMs: number;
  sinceMs: number;
}

export class Neighbour {
  readonly #ways = new Map<string, Way>();
  #queueMs: number | undefined;
  #share = 1;
  #judgedAtMs: number;

  constructor(nowMs: number) {
    this.#judgedAtMs = nowMs;
  }

  /** A round trip to an address was measured. */
  saw(nowMs: number, address: string, rttMs: number): void {
    const way = this.#wayTo(nowMs, address, rttMs);
    way.leastMs = Math.min(way.leastMs, rttMs);
    const queueMs = rttMs - Math.min(way.leastMs, way.earlierLeastMs);
    this.#queueMs =
      this.#queueMs === undefined ? queueMs : this.#queueMs + SMOOTHING * (queueMs - this.#queueMs);
  }

  share(nowMs: number): number {
    const elapsedMs = nowMs - this.#judgedAtMs;
    if (elapsedMs < JUDGE_EVERY_MS) return this.#share;
    this.#judgedAtMs = nowMs;
    const isCrowded = this.#queueMs !== undefined && this.#queueMs > TARGET_MS;
    this.#share = isCrowded
      ? Math.max(SHARE_MIN, this.#share * FALL)
      : Math.min(1, this.#share + (RISE_PER_SECOND * elapsedMs) / 1000);
    // Without new measurements an old queue must not be believed for ever.
    if (this.#queueMs !== undefined) this.#queueMs *= 1 - SMOOTHING;
    return this.#share;
  }

  #wayTo(nowMs: number, address: string, rttMs: number): Way {
    const known = this.#ways.get(address);
    if (known === undefined) {
      const [first] = this.#ways.keys();
      if (this.#ways.size >= ADDRESSES_MAX && first !== undefined) this.#ways.delete(first);
      const way = { leastMs: rttMs, earlierLeastMs: rttMs, sinceMs: nowMs };
      this.#ways.set(address, way);
      return way;
    }
    if (nowMs - known.sinceMs > BASE_GOOD_FOR_MS) {
      known.earlierLeastMs = known.leastMs;
      known.leastMs = rttMs;
      known.sinceMs = nowMs;
    }
    return known;
  }
}
