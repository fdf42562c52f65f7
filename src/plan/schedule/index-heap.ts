/**
 * A heap of sites by a number each: the least comes out first, and a number can change.
 *
 * The planner inserts and removes hundred thousands of sites several times a second, so it consists
 * of columns: no object for an entry, no call to compare. For the greatest first, insert negated
 * numbers. Each site is in it at most once. O(log n) to insert and remove.
 */

export class SiteHeap {
  size = 0;
  readonly #keys: Float64Array;
  readonly #sites: Int32Array;
  /** By site: its place plus one, 0 for none. */
  readonly #places: Int32Array;

  /** For sites below this number. */
  constructor(count: number) {
    this.#keys = new Float64Array(count);
    this.#sites = new Int32Array(count);
    this.#places = new Int32Array(count);
  }

  get first(): number | undefined {
    return this.size === 0 ? undefined : (this.#sites[0] as number);
  }

  /** Infinity when it is empty. */
  get firstKey(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : (this.#keys[0] as number);
  }

  /** In no particular order; holds until the next change. */
  get sites(): Int32Array {
    return this.#sites.subarray(0, this.size);
  }

  /** Of a site in the heap. */
  keyOf(site: number): number {
    return this.#keys[(this.#places[site] as number) - 1] as number;
  }

  /** Inserts a site, or moves it to the place of its new number. */
  put(site: number, key: number): void {
    const place = this.#places[site] as number;
    if (place === 0) this.#rise(this.size++, site, key);
    else if (key < (this.#keys[place - 1] as number)) this.#rise(place - 1, site, key);
    else this.#sink(place - 1, site, key);
  }

  take(): number | undefined {
    const first = this.first;
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** Nothing happens when the site is not in it. */
  remove(site: number): void {
    const hole = (this.#places[site] as number) - 1;
    if (hole < 0) return;
    this.#places[site] = 0;
    const end = --this.size;
    if (hole === end) return;
    const last = this.#sites[end] as number;
    const key = this.#keys[end] as number;
    if (hole > 0 && key < (this.#keys[(hole - 1) >> 1] as number)) this.#rise(hole, last, key);
    else this.#sink(hole, last, key);
  }

  clear(): void {
    for (let place = 0; place < this.size; place++) this.#places[this.#sites[place] as number] = 0;
    this.size = 0;
  }

  #rise(from: number, site: number, key: number): void {
    const keys = this.#keys;
    const sites = this.#sites;
    let hole = from;
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      const above = keys[parent] as number;
      if (above <= key) break;
      this.#fill(hole, sites[parent] as number, above);
      hole = parent;
    }
    this.#fill(hole, site, key);
  }

  #sink(from: number, site: number, key: number): void {
    const keys = this.#keys;
    const sites = this.#sites;
    const { size } = this;
    let hole = from;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= size) break;
      let below = keys[child] as number;
      if (child + 1 < size && (keys[child + 1] as number) < below) below = keys[++child] as number;
      if (key <= below) break;
      this.#fill(hole, sites[child] as number, below);
      hole = child;
    }
    this.#fill(hole, site, key);
  }

  #fill(place: number, site: number, key: number): void {
    this.#keys[place] = key;
    this.#sites[place] = site;
    this.#places[site] = place + 1;
  }
}
