/** A FIFO queue of page numbers in a ring buffer: O(1) per operation, 4 bytes per page. */

export class PageQueue {
  #pages = new Uint32Array(64);
  #first = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(page: number): void {
    if (this.#size === this.#pages.length) this.#grow();
    this.#pages[(this.#first + this.#size) & (this.#pages.length - 1)] = page;
    this.#size += 1;
  }

  shift(): number | undefined {
    if (this.#size === 0) return undefined;
    const page = this.#pages[this.#first] as number;
    this.#first = (this.#first + 1) & (this.#pages.length - 1);
    this.#size -= 1;
    return page;
  }

  /** Doubles the length, which stays a power of two. */
  #grow(): void {
    const larger = new Uint32Array(2 * this.#pages.length);
    larger.set(this.#pages.subarray(this.#first));
    larger.set(this.#pages.subarray(0, this.#first), this.#pages.length - this.#first);
    this.#pages = larger;
    this.#first = 0;
  }
}
