/**
 * What the line and the servers together have lately given, where that is less than the limit.
 *
 * A plan must not count on a limit that a slow line, slow servers or a busy machine never fill.
 * A second tells of it when requests waited for bytes at every look and nothing of ours held them back. The highest
 * of the recent seconds counts, so one bad second changes nothing, and a faster line shows within a second.
 *
 * Pure. O(1) a look.
 */

/** Looks at the line in each second; each must find requests that wait for bytes. */
const LOOKS_IN_SECOND = 4;
/** Seconds that are looked back at. */
const RECENT_SECONDS = 10;
/** Seconds with waiting requests among these before a plan goes by them. */
const EVIDENCE_SECONDS = 3;
/** The first second is the crawl's own start, with connections that are still being made. */
const START_SECONDS = 1;
/** A limit that is filled to this part is what holds the line. */
const FILLED_SHARE = 0.9;

interface Second {
  readonly bps: number;
  readonly isWaiting: boolean;
}

export class LineRate {
  #recent: Second[] = [];
  #seconds = 0;
  #looks = 0;
  #waitingLooks = 0;
  #bytes = 0;
  #beganAtMs: number | undefined;

  /** At a moment: bytes since the last look, and whether requests wait for bytes that nothing of ours holds back. */
  look(nowMs: number, bytes: number, isWaiting: boolean): void {
    this.#beganAtMs ??= nowMs;
    this.#looks += 1;
    this.#bytes += bytes;
    if (isWaiting) this.#waitingLooks += 1;
    if (this.#looks <= LOOKS_IN_SECOND) return;
    const second: Second = {
      bps: (this.#bytes * 1000) / (nowMs - this.#beganAtMs),
      isWaiting: this.#waitingLooks === this.#looks,
    };
    this.#seconds += 1;
    if (this.#seconds > START_SECONDS)
      this.#recent = [...this.#recent, second].slice(-RECENT_SECONDS);
    this.#beganAtMs = nowMs;
    // This look is the first of the next second too.
    this.#looks = 1;
    this.#waitingLooks = isWaiting ? 1 : 0;
    this.#bytes = 0;
  }

  /** What to count on under a limit: less than the limit only where there is evidence of that. */
  within(limitBps: number): number {
    const waiting = this.#recent.filter(({ isWaiting }) => isWaiting).length;
    const mostBps = Math.max(0, ...this.#recent.map(({ bps }) => bps));
    // Ten silent seconds are an outage, and tell nothing of the rate.
    const isUnknown = waiting < EVIDENCE_SECONDS || mostBps === 0;
    return isUnknown || mostBps >= FILLED_SHARE * limitBps ? limitBps : mostBps;
  }
}
