/**
 * How long the requests that leave now wait for their answers, on average.
 *
 * The mean of the answers that have come is too short while slow servers join: the quick ones are there and the
 * slow ones are not. So a request to a server that is known counts when it leaves, with what that server usually
 * takes, without what answers wait for us; only of an unknown one the answer has to be waited for. Until some
 * have come, one waits at least as long as those that were asked have waited.
 *
 * O(1) a request and an answer; O(requests) a look until enough is known.
 */

/** A request as it waits. */
export interface Asked {
  readonly startedAtMs: number;
  /** How long its server usually takes; 0 when nobody knows. */
  readonly expectedWaitMs: number;
  readonly isAnswered: boolean;
}

/** Remembered are the requests of about so long, and never fewer than so many. */
const MEMORY_MS = 1000;
const REQUESTS_LEAST = 50;
/** So many must be known before the unanswered no longer count. */
const REQUESTS_TO_TRUST = 30;

export class Waits {
  #sumMs = 0;
  #requests = 0;
  #leastMs = 0;
  #lookedAtMs = 0;

  /** The mean time to the first byte. */
  get meanMs(): number {
    const meanMs = this.#requests === 0 ? 0 : this.#sumMs / this.#requests;
    return this.#requests < REQUESTS_TO_TRUST ? Math.max(meanMs, this.#leastMs) : meanMs;
  }

  left({ expectedWaitMs }: Asked): void {
    if (expectedWaitMs > 0) this.#count(expectedWaitMs);
  }

  answered(nowMs: number, { startedAtMs, expectedWaitMs }: Asked): void {
    if (expectedWaitMs === 0) this.#count(nowMs - startedAtMs);
  }

  look(nowMs: number, underWay: Iterable<Asked>): void {
    if (this.#requests < REQUESTS_TO_TRUST) this.#leastMs = meanAge(nowMs, underWay);
    const kept = Math.exp((this.#lookedAtMs - nowMs) / MEMORY_MS);
    this.#lookedAtMs = nowMs;
    if (this.#requests <= REQUESTS_LEAST) return;
    const share = Math.max(kept, REQUESTS_LEAST / this.#requests);
    this.#sumMs *= share;
    this.#requests *= share;
  }

  #count(waitMs: number): void {
    this.#sumMs += waitMs;
    this.#requests += 1;
  }
}

function meanAge(nowMs: number, underWay: Iterable<Asked>): number {
  let unanswered = 0;
  let agesMs = 0;
  for (const { isAnswered, startedAtMs } of underWay) {
    if (isAnswered) continue;
    unanswered += 1;
    agesMs += nowMs - startedAtMs;
  }
  return unanswered === 0 ? 0 : agesMs / unanswered;
}
