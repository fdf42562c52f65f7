/** A binary heap: `pop` returns the least item by `compare`. O(log n) to push and pop. */

export class Heap<T> {
  readonly #items: T[] = [];
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let hole = items.length;
    items.push(item);
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      const above = items[parent] as T;
      if (this.#compare(above, item) <= 0) break;
      items[hole] = above;
      hole = parent;
    }
    items[hole] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const least = items[0];
    const last = items.pop();
    if (items.length > 0) this.#sinkFromTop(last as T);
    return least;
  }

  /** Removes and returns one item for which this holds. O(n log n). */
  remove(isIt: (item: T) => boolean): T | undefined {
    const at = this.#items.findIndex(isIt);
    if (at < 0) return undefined;
    const items = this.#items.splice(0);
    const [removed] = items.splice(at, 1);
    for (const item of items) this.push(item);
    return removed;
  }

  #sinkFromTop(item: T): void {
    const items = this.#items;
    let hole = 0;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= items.length) break;
      const right = child + 1;
      if (right < items.length && this.#compare(items[right] as T, items[child] as T) < 0)
        child = right;
      const below = items[child] as T;
      if (this.#compare(item, below) <= 0) break;
      items[hole] = below;
      hole = child;
    }
    items[hole] = item;
  }
}
