/**
 * The books of the line: every byte that came, by what it was for, for each site and in all.
 *
 * What a request was for is often known only at its end: a page may turn out to be a redirect, an
 * error or a copy. So its bytes are `open` as they come, and are booked under one purpose when it
 * has ended. Bytes that were open when a process was killed belong to requests that will be made
 * again, so books taken up from the store have them as `retry`.
 *
 * Promises, each held by a test of that name in `ledger.test.ts`:
 *   1. the bytes are what is booked plus what is open, always;
 *   2. nothing is booked that did not come;
 *   3. the crawl's books are the sum of its sites' and of what belongs to no site.
 *
 * O(1) a piece; the books of a site are ten numbers.
 */

import { assert } from "../../base/assert.ts";

/**
 * `error`: failed for good, or answered with 4xx or 5xx; `retry`: failed and will be tried again;
 * `duplicate`: a copy of another page byte for byte, or not modified; `exchange`: between processes.
 */
export const PURPOSES = [
  "page",
  "robots",
  "sitemap",
  "redirect",
  "error",
  "duplicate",
  "retry",
  "exchange",
] as const;
export type Purpose = (typeof PURPOSES)[number];
export type BytesByPurpose = Readonly<Record<Purpose, number>>;

/** What the store keeps of the books: the names are ours, but it need not know them. */
export interface StoredBooks {
  readonly bytes: number;
  readonly ledger: Readonly<Record<string, number>>;
}

/** What is booked in stored books, for those who look on; the rest may belong to requests under way. */
export function bookedIn({ ledger }: StoredBooks): BytesByPurpose {
  const booked = PURPOSES.map((purpose) => [purpose, ledger[purpose] ?? 0]);
  return Object.fromEntries(booked) as Record<Purpose, number>;
}

/** The bytes of one site, or of the whole crawl. */
export class Books {
  readonly #booked: number[] = PURPOSES.map(() => 0);
  #bytes = 0;
  #open = 0;

  /** Takes up the books where they were stored, with whatever was open then booked as `retry`. */
  static restore({ bytes, ledger }: StoredBooks): Books {
    const books = new Books();
    books.receive(bytes);
    for (const purpose of PURPOSES) books.book(ledger[purpose] ?? 0, purpose);
    books.book(books.#open, "retry");
    return books;
  }

  /** Everything that came. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Of these, what belongs to requests under way. */
  get open(): number {
    return this.#open;
  }

  receive(bytes: number): void {
    assert(Number.isSafeInteger(bytes) && bytes >= 0, "bytes come whole, and do not go");
    this.#bytes += bytes;
    this.#open += bytes;
  }

  book(bytes: number, purpose: Purpose): void {
    assert(bytes >= 0 && bytes <= this.#open, "nothing is booked that did not come");
    const place = PURPOSES.indexOf(purpose);
    this.#booked[place] = (this.#booked[place] as number) + bytes;
    this.#open -= bytes;
  }

  byPurpose(): BytesByPurpose {
    this.#check();
    return Object.fromEntries(
      PURPOSES.map((purpose, place) => [purpose, this.#booked[place] as number]),
    ) as Record<Purpose, number>;
  }

  /** Without the purposes that nothing was for. */
  stored(): StoredBooks {
    this.#check();
    const ledger: Record<string, number> = {};
    for (const [place, bytes] of this.#booked.entries())
      if (bytes > 0) ledger[PURPOSES[place] as Purpose] = bytes;
    return { bytes: this.#bytes, ledger };
  }

  #check(): void {
    let booked = 0;
    for (const bytes of this.#booked) booked += bytes;
    assert(this.#bytes === booked + this.#open, "the bytes are booked or open");
  }
}

/** Keeps the crawl's books in step with those of its sites. */
export class Ledger {
  readonly #all: Books;

  constructor(all: Books) {
    this.#all = all;
  }

  get bytes(): number {
    return this.#all.bytes;
  }

  get open(): number {
    return this.#all.open;
  }

  /** Bytes of a request under way; undefined for what belongs to no site. */
  receive(site: Books | undefined, bytes: number): void {
    this.#all.receive(bytes);
    site?.receive(bytes);
  }

  /** The request that these bytes came for has ended, or was for this from the start. */
  book(site: Books | undefined, bytes: number, purpose: Purpose): void {
    this.#all.book(bytes, purpose);
    site?.book(bytes, purpose);
  }

  byPurpose(): BytesByPurpose {
    return this.#all.byPurpose();
  }

  stored(): StoredBooks {
    return this.#all.stored();
  }
}
