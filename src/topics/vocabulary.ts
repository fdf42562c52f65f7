/** The terms of some pages and the number of pages with each: the first step of all training. */

import type { Examples } from "./examples.ts";
import { TermTable } from "./term-table.ts";

export interface Vocabulary {
  readonly table: TermTable;
  /** By row: the number of pages with the term. */
  readonly pagesWith: Int32Array;
  readonly pages: number;
}

export function vocabularyOf(examples: Examples, pages: Int32Array): Vocabulary {
  const table = new TermTable();
  const { terms } = examples;
  let pagesWith = new Int32Array(1024);
  for (const page of pages) {
    for (let at = examples.start(page); at < examples.start(page + 1); at++) {
      const row = table.add(terms[at] as number);
      if (row >= pagesWith.length) pagesWith = doubled(pagesWith);
      pagesWith[row] = (pagesWith[row] as number) + 1;
    }
  }
  return { table, pagesWith: pagesWith.slice(0, table.size), pages: pages.length };
}

function doubled(before: Int32Array): Int32Array<ArrayBuffer> {
  const after = new Int32Array(before.length * 2);
  after.set(before);
  return after;
}
