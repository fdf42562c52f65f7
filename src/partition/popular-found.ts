/**
 * Finds popular URLs during the crawl: those that several processes found.
 *
 * The owner remembers which URLs were received; a URL received twice is announced to all processes, which then
 * stop sending it. No link is lost, because the owner knows the URL already. An earlier crawl gives the same list in
 * advance and more completely (`popular.ts`).
 *
 * Both the remembered URLs and the set of known popular URLs are bounded; of the former, those received last are kept.
 */

/** The two halves of a fingerprint. */
export type Halves = readonly [high: number, low: number];

/** Between this many URLs and twice as many are remembered. */
const REMEMBERED_MIN = 100_000;
const KNOWN_MAX = 100_000;

export class PopularFound {
  /** By URL received, whether it was announced. A full map becomes the older one, and the older one is forgotten. */
  #recent = new Map<string, boolean>();
  #older = new Map<string, boolean>();
  readonly #known = new Set<string>();
  #unannounced: Halves[] = [];

  has(high: number, low: number): boolean {
    return this.#known.has(keyOf(high, low));
  }

  /** Notes a URL received from another process. */
  received(high: number, low: number): void {
    const key = keyOf(high, low);
    const wasAnnounced = this.#recent.get(key) ?? this.#older.get(key);
    if (wasAnnounced === false && !this.has(high, low)) this.#unannounced.push([high, low]);
    this.#recent.set(key, wasAnnounced !== undefined);
    if (this.#recent.size < REMEMBERED_MIN) return;
    this.#older = this.#recent;
    this.#recent = new Map();
  }

  /** Takes at most `countMax` URLs to announce to all processes. */
  take(countMax: number): Halves[] {
    return this.#unannounced.splice(0, countMax);
  }

  learn(found: readonly Halves[]): void {
    for (const [high, low] of found)
      if (this.#known.size < KNOWN_MAX) this.#known.add(keyOf(high, low));
  }
}

function keyOf(high: number, low: number): string {
  return `${high.toString(36)}-${low.toString(36)}`;
}
