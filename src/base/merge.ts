/** Merges sorted rows of items. O(log of the number of rows) for each item; holds one item of each row. */

import { Heap } from "./heap.ts";

interface Head<T> {
  readonly item: T;
  readonly row: number;
  readonly rest: Iterator<T>;
}

/** Each row must be sorted by `compare`; of equal items, that of the earlier row comes first. */
export function* mergeSorted<T>(
  rows: readonly Iterable<T>[],
  compare: (a: T, b: T) => number,
): Generator<T> {
  const heads = new Heap<Head<T>>((a, b) => compare(a.item, b.item) || a.row - b.row);
  const iterators = rows.map((row) => row[Symbol.iterator]());
  const advance = (rest: Iterator<T>, row: number): void => {
    const next = rest.next();
    if (next.done !== true) heads.push({ item: next.value, row, rest });
  };
  try {
    iterators.forEach(advance);
    for (let head = heads.pop(); head !== undefined; head = heads.pop()) {
      yield head.item;
      advance(head.rest, head.row);
    }
  } finally {
    // A caller that stops early leaves no file open.
    for (const iterator of iterators) iterator.return?.();
  }
}
