/**
 * Finds words in what was collected, by the indexes that are there; makes none, and only reads. Texts for
 * the passages shown come from the archive.
 */

import { crawlsIn, textOfResult } from "../crawl/collections.ts";
import { type Collection, search } from "../output/search-broker.ts";
import { hasIndex } from "../output/search-file.ts";
import { readQuery } from "../output/search-query.ts";
import { IndexReader } from "../output/search-reader.ts";
import { snippetOf } from "../output/search-snippet.ts";
import type { SearchAnswer } from "./shapes.ts";

const PAGES_MAX = 20;
const PASSAGE_CHARACTERS = 260;
const ANYWHERE = { site: undefined, topic: undefined, language: undefined };

/** Of a crawl by several processes, every one has its own. */
export function hasSearch(folder: string): boolean {
  return crawlsIn(folder).some(hasIndex);
}

export function searchAnswer(folder: string, words: string): SearchAnswer {
  const query = readQuery(/["*]|(?:^|\s)-/.test(words) ? [words] : words.trim().split(/\s+/));
  if (query === undefined) return { total: 0, pages: [] };
  using stack = new DisposableStack();
  const collections: Collection[] = crawlsIn(folder)
    .filter(hasIndex)
    .map((each) => ({ folder: each, index: stack.use(new IndexReader(each)) }));
  const { total, results } = search(collections, { query, facets: ANYWHERE, countMax: PAGES_MAX });
  return {
    total,
    pages: results.map((result) => {
      const { url, title } = result.page;
      const passage = snippetOf(textOfResult(result) ?? "", query, PASSAGE_CHARACTERS);
      return { url, title, excerpt: passage?.text ?? "", marks: passage?.marks ?? [] };
    }),
  };
}
