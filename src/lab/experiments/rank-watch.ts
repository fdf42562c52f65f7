/**
 * Measures how far the order of requests deviates from the queue's: a deeper search for a URL that
 * fits lets worse URLs overtake better ones.
 *
 * A request's inversion is the number of URLs before it in the queue that were not requested before
 * it. Amortised O(inversion) per request.
 */

export class RankWatch {
  readonly #ranks = new Map<string, number>();
  readonly #isRequested: boolean[];
  /** All URLs before this rank were requested. */
  #first = 0;
  #inversions = 0;
  #requests = 0;
  #waiting: number;

  constructor(queue: readonly string[]) {
    for (const [rank, url] of queue.entries()) this.#ranks.set(url, rank);
    this.#isRequested = queue.map(() => false);
    this.#waiting = queue.length;
  }

  get requests(): number {
    return this.#requests;
  }

  /** Number of URLs in the queue that were not requested yet. */
  get waiting(): number {
    return this.#waiting;
  }

  get meanInversion(): number {
    return this.#requests === 0 ? 0 : this.#inversions / this.#requests;
  }

  begin(url: string): void {
    const rank = this.#ranks.get(url);
    if (rank === undefined || this.#isRequested[rank] === true) return;
    this.#isRequested[rank] = true;
    this.#requests += 1;
    this.#waiting -= 1;
    for (let before = this.#first; before < rank; before++)
      if (this.#isRequested[before] === false) this.#inversions += 1;
    while (this.#isRequested[this.#first] === true) this.#first += 1;
  }

  /** Resets the counts, but not the state of the queue. */
  forget(): void {
    this.#inversions = 0;
    this.#requests = 0;
  }
}
