/**
 * Finds the rate of requests that a site accepts, from its responses 429 and 503.
 *
 * A cycle lasts from one refusal to the next, the pause after it included. The requests accepted in a cycle, divided
 * by its length, are a rate that the site sustains, whatever its window: a burst that used up a window is followed
 * by a pause until the window ends. The found rate starts a tenth below it, grows with every request that it delays,
 * and drops by a tenth at the next refusal, or by more if the probe after it is refused too. One pause lasts four requests, and each further one as long as
 * the site has refused.
 *
 * 429 always means the rate. 503 may be the URL's or an outage: a single one among many accepted requests changes
 * the rate by little, and not below one request per second; one after few requests, or several in a row, means the
 * rate; refusals for more than two minutes do not.
 *
 * Promises, each held by a test in `found-rate.test.ts`:
 *   1. under limits of 1 to 100 requests/s over 1 to 60 s, fixed or sliding, at least 80 % of what the limit allows
 *      is used, and at most 2 % of the requests are refused;
 *   2. 1 % of URLs that always answer 503 do not slow a site below half of its rate;
 *   3. the rate survives `save` and `restore`.
 *
 * O(1) a request. All times are monotonic milliseconds.
 */

type RefusalStatus = 429 | 503;

export interface Slowed {
  readonly by: RefusalStatus;
  readonly perSecond: number;
}

/** The found rate as a part of the rate that the site sustained, or of the rate before. */
const DROP = 0.9;
/** One cycle may mislead: the rate drops at most to this part of what it was. */
const DROP_MAX = 0.5;
/** Growth of the rate with each request, as a part of it, and its bound per second. */
const GROWTH_PER_REQUEST = 0.0012;
const GROWTH_PER_SECOND = 0.01;
/** The first rate rests on one burst and one guessed pause: it grows by this, divided by the requests of the burst. */
const FIRST_GROWTH = 0.3;
/** The first pause after a refusal, and before a retry, so that the rate cannot be its cause: requests at that rate. */
const PAUSE_REQUESTS = 4;
/** Timers are late: the next request may start earlier by so much. */
const LATE_MS_MAX = 5;
/** A 503 after fewer accepted requests means the rate. */
const FEW_REQUESTS = 20;
/** A single 503 after more requests lowers the rate to this part, down to `SINGLE_PER_SECOND_MIN`. */
const SINGLE_DROP = 0.95;
const SINGLE_PER_SECOND_MIN = 1;
/** Longer than the windows of rate limits: 503 for longer is an outage. */
const REFUSED_MS_MAX = 120_000;
/** A site that was left alone for so long starts a new cycle. */
const IDLE_MS = 60_000;
/** As the longest Crawl-delay. */
const PER_SECOND_MIN = 1 / 60;
const PER_SECOND_MAX = 10_000;

export class FoundRate {
  #perSecond: number | undefined;
  #by: RefusalStatus = 429;
  /** When the next request may start at the found rate. */
  #nextAtMs = -Infinity;
  #lastAtMs = -Infinity;
  #cycleBeganAtMs = 0;
  #accepted = 0;
  #refusedInRow = 0;
  #refusedSinceMs = 0;
  #growth = GROWTH_PER_REQUEST;

  /** undefined while the site has refused nothing because of the rate. */
  get slowed(): Slowed | undefined {
    return this.#perSecond === undefined ? undefined : { by: this.#by, perSecond: this.#perSecond };
  }

  /** When a request may start; a retry waits longer than others. */
  readyAtMs(isRetry: boolean): number {
    const calmAtMs = isRetry ? this.#lastAtMs + PAUSE_REQUESTS * this.#gapMs : -Infinity;
    return Math.max(this.#nextAtMs, calmAtMs);
  }

  /** A request starts, after a delay that is agreed in any case. */
  began(nowMs: number, delayMs: number): void {
    if (nowMs - this.#lastAtMs > IDLE_MS && this.#refusedInRow === 0) this.#beginCycle(nowMs, 0);
    this.#lastAtMs = nowMs;
    const gapMs = this.#gapMs;
    if (this.#perSecond === undefined) return;
    // What starts within one gap of its time was delayed by the rate, and shows that more could be used.
    const isHeldUp = nowMs - this.#nextAtMs <= Math.max(gapMs, delayMs);
    this.#nextAtMs = Math.max(this.#nextAtMs, nowMs - LATE_MS_MAX) + gapMs;
    if (!isHeldUp || this.#refusedInRow > 0) return;
    const growth = Math.min(this.#growth, GROWTH_PER_SECOND / this.#perSecond);
    this.#perSecond = Math.min(PER_SECOND_MAX, this.#perSecond * (1 + growth));
    // Twice as fast as agreed: the agreed delay alone is enough again.
    if (this.#gapMs < delayMs / 2) this.#forget();
  }

  accepted(nowMs: number): void {
    this.#accepted += 1;
    if (this.#refusedInRow === 0) return;
    this.#drop(nowMs);
    this.#refusedInRow = 0;
    this.#beginCycle(nowMs, 1);
  }

  /** Returns for how long the site is left alone; `outageMs` is the pause if it is an outage. */
  refused(nowMs: number, by: RefusalStatus, outageMs: number): number {
    if (this.#refusedInRow === 0) this.#refusedSinceMs = nowMs;
    this.#refusedInRow += 1;
    this.#by = by;
    const pauseMs = this.#perSecond === undefined ? 0 : PAUSE_REQUESTS * this.#gapMs;
    const isFirst = this.#refusedInRow === 1;
    if (pauseMs > 0 && isFirst) return pauseMs;
    return by === 429 ? Math.max(pauseMs, outageMs, nowMs - this.#refusedSinceMs) : outageMs;
  }

  /** The site failed in another way: what it refused before is no evidence of a rate. */
  failed(nowMs: number): void {
    this.#refusedInRow = 0;
    this.#beginCycle(nowMs, 0);
  }

  /** For the site's row: at most 20 characters; empty without a found rate. */
  save(): string {
    return this.#perSecond === undefined ? "" : `${this.#by} ${this.#perSecond.toPrecision(4)}`;
  }

  /** Takes over what an earlier run found; anything else is ignored. */
  restore(saved: string): void {
    const [by, perSecond] = saved.split(" ").map(Number);
    if (by !== 429 && by !== 503) return;
    if (perSecond === undefined || !(perSecond >= PER_SECOND_MIN)) return;
    this.#by = by;
    this.#perSecond = Math.min(PER_SECOND_MAX, perSecond);
  }

  get #gapMs(): number {
    return this.#perSecond === undefined ? 0 : 1000 / this.#perSecond;
  }

  #drop(nowMs: number): void {
    const isSingle = this.#refusedInRow === 1 && this.#accepted > FEW_REQUESTS;
    if (this.#by === 503 && isSingle) return this.#dropALittle();
    if (this.#by === 503 && nowMs - this.#refusedSinceMs > REFUSED_MS_MAX) return;
    const seconds = Math.max(0.001, (nowMs - this.#cycleBeganAtMs) / 1000);
    const sustained = (this.#accepted / seconds) * DROP;
    const before = this.#perSecond;
    const first = before === undefined ? FIRST_GROWTH / this.#accepted : 0;
    this.#growth = Math.max(GROWTH_PER_REQUEST, first);
    let found = sustained;
    // One refusal: the rate had just become too high. Several: it had been too high for long.
    if (before !== undefined)
      found =
        this.#refusedInRow === 1
          ? before * DROP
          : Math.max(before * DROP_MAX, Math.min(before * DROP, sustained));
    this.#perSecond = Math.min(PER_SECOND_MAX, Math.max(PER_SECOND_MIN, found));
    this.#nextAtMs = nowMs + this.#gapMs;
  }

  #dropALittle(): void {
    if (this.#perSecond === undefined || this.#perSecond <= SINGLE_PER_SECOND_MIN) return;
    this.#perSecond = Math.max(SINGLE_PER_SECOND_MIN, this.#perSecond * SINGLE_DROP);
  }

  #beginCycle(nowMs: number, accepted: number): void {
    this.#cycleBeganAtMs = nowMs;
    this.#accepted = accepted;
  }

  #forget(): void {
    this.#perSecond = undefined;
    this.#nextAtMs = -Infinity;
  }
}
