/**
 * Finds words in what was collected, by the indexes that are there; makes none, and only reads. Texts for
 * the passages shown come from the archive.
 */

import { crawlsIn, textOfResult } from "../crawl/search/collections.ts";
import { type Collection, search } from "../search/find.ts";
import { hasIndex } from "../search/index-file.ts";
import { readQuery } from "../search/query.ts";
import { IndexReader } from "../search/index-reader.ts";
import { Passages } from "../search/passage.ts";
import type { SearchAnswer } from "./shapes.ts";

const PAGES_MAX = 20;
const PASSAGE_WORDS = 40;
const ANYWHERE = { site: undefined, topic: undefined, language: undefined };

/** Of a crawl by several processes, every one has its own. */
export function hasSearch(folder: string): boolean {
  return crawlsIn(folder).some(hasIndex);
}

export function searchAnswer(folder: string, words: string): SearchAnswer {
  const query = readQuery(words);
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
      using passages = new Passages(query, result.collection.index.stemming);
      const passage = passages.best(textOfResult(result) ?? "", PASSAGE_WORDS);
      return { url, title, excerpt: passage?.text ?? "", marks: passage?.marks ?? [] };
    }),
  };
}
