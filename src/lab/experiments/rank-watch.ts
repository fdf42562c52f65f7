/**
 * How far the order of requests strays from the queue's: whoever looks deeper for something that fits
 * lets worse URLs go before better ones.
 *
 * A request's inversion is the number of URLs before it in the queue that have not been asked for when
 * it is. Amortised O(inversion) a request.
 */

export class RankWatch {
  readonly #ranks = new Map<string, number>();
  readonly #isAsked: boolean[];
  /** Everything before it has been asked for. */
  #first = 0;
  #inversions = 0;
  #requests = 0;
  #waiting: number;

  constructor(queue: readonly string[]) {
    for (const [rank, url] of queue.entries()) this.#ranks.set(url, rank);
    this.#isAsked = queue.map(() => false);
    this.#waiting = queue.length;
  }

  get requests(): number {
    return this.#requests;
  }

  /** Of the queue, not yet asked for. */
  get waiting(): number {
    return this.#waiting;
  }

  get meanInversion(): number {
    return this.#requests === 0 ? 0 : this.#inversions / this.#requests;
  }

  begin(url: string): void {
    const rank = this.#ranks.get(url);
    if (rank === undefined || this.#isAsked[rank] === true) return;
    this.#isAsked[rank] = true;
    this.#requests += 1;
    this.#waiting -= 1;
    for (let before = this.#first; before < rank; before++)
      if (this.#isAsked[before] === false) this.#inversions += 1;
    while (this.#isAsked[this.#first] === true) this.#first += 1;
  }

  /** Begins to count anew, with the queue as it is. */
  forget(): void {
    this.#inversions = 0;
    this.#requests = 0;
  }
}
