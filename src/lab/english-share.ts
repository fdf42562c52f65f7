/** Chung and Clarke's test for English pages, the share of common English words: the baseline of Weir's own guess. */

import { COMMON_WORDS, ENGLISH } from "../topics/language-words.ts";
import { TermTable } from "../topics/term-table.ts";
import { termOf, type Tokens } from "../topics/tokens.ts";

/** Minimum share of an English page. The paper does not give one; this one is best on Weir's test pages. */
const BASELINE_SHARE = 0.15;

export class EnglishShare {
  readonly #table = new TermTable();

  constructor() {
    for (const word of (COMMON_WORDS[ENGLISH] ?? "").split(" ")) this.#table.add(termOf(word));
  }

  isEnglish({ terms, count }: Tokens): boolean {
    let common = 0;
    for (let index = 0; index < count; index++)
      if (this.#table.find(terms[index] as number) >= 0) common += 1;
    return common >= BASELINE_SHARE * count;
  }
}
