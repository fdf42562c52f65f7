/**
 * Decides whether a failure is its URL's or its site's, by the next response of the site.
 *
 * A URL that fails is under suspicion. A good response to a request that began afterwards shows that the
 * site is there: the failure is the URL's own, and costs it an attempt. Another failure of such a request
 * shows that the site fails: nothing is charged. Requests that were open at the same time tell nothing.
 *
 * Promises, each held by a test in `blame.test.ts`:
 *   1. during an outage no URL is charged, however many fail;
 *   2. a URL that fails between good responses is charged once for each failure;
 *   3. memory follows the sites whose last responses were failures.
 *
 * O(open requests of a site) a response.
 */

interface Suspect {
  readonly urlId: number;
  /** The moment at which it failed. */
  readonly at: number;
}

export class Blame {
  readonly #suspects = new Map<number, Suspect[]>();
  #moments = 0;

  /** The present moment, for a request that begins. */
  now(): number {
    return ++this.#moments;
  }

  /** A request of that moment has failed. `urlId` is undefined when the URL cannot be the cause. */
  failed(siteId: number, begun: number, urlId: number | undefined): void {
    const left = (this.#suspects.get(siteId) ?? []).filter(({ at }) => at >= begun);
    if (urlId !== undefined) left.push({ urlId, at: ++this.#moments });
    this.#keep(siteId, left);
  }

  /** A request of that moment has had a good response. Returns the URLs whose failures were their own. */
  responded(siteId: number, begun: number): number[] {
    const suspects = this.#suspects.get(siteId);
    if (suspects === undefined) return [];
    this.#keep(
      siteId,
      suspects.filter(({ at }) => at >= begun),
    );
    return suspects.filter(({ at }) => at < begun).map(({ urlId }) => urlId);
  }

  /** Sites with suspects. */
  get size(): number {
    return this.#suspects.size;
  }

  #keep(siteId: number, suspects: Suspect[]): void {
    if (suspects.length > 0) this.#suspects.set(siteId, suspects);
    else this.#suspects.delete(siteId);
  }
}
