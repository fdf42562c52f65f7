/**
 * Guesses the language of a page from its most common words.
 *
 * A word that k languages share counts 1/k for each of them, and the language with the highest sum wins. That
 * suffices for pages of fifty words and more (figures, also for libraries: docs/decisions/014-topics.md),
 * costs one lookup in a small table for each term, and needs no letters, because terms are numbers. Below a
 * minimum share of known words the result is undefined.
 */

import { COMMON_WORDS } from "./language-words.ts";
import { TermTable } from "./term-table.ts";
import { termOf, type Tokens } from "./tokens.ts";

export const LANGUAGES: readonly string[] = Object.keys(COMMON_WORDS);
/** Below this share of common words a text is not prose of any known language. */
const SHARE_MIN = 0.04;

export interface Language {
  /** ISO 639-1; undefined when none fits. */
  readonly code: string | undefined;
  /** Share of the terms that are common words of that language. */
  readonly share: number;
}

export class LanguageGuesser {
  readonly #table = new TermTable();
  /** By row: the index in `#languages` where the languages that have the word begin. */
  readonly #starts: Int32Array;
  readonly #languages: Int32Array;
  readonly #scores = new Float64Array(LANGUAGES.length);

  constructor() {
    const having: number[][] = [];
    for (const [language, code] of LANGUAGES.entries()) {
      for (const word of new Set((COMMON_WORDS[code] ?? "").split(" "))) {
        const row = this.#table.add(termOf(word));
        (having[row] ??= []).push(language);
      }
    }
    this.#starts = new Int32Array(having.length + 1);
    for (const [row, languages] of having.entries())
      this.#starts[row + 1] = (this.#starts[row] as number) + languages.length;
    this.#languages = Int32Array.from(having.flat());
  }

  guess({ terms, count }: Tokens): Language {
    const scores = this.#scores.fill(0);
    for (let index = 0; index < count; index++) {
      const row = this.#table.find(terms[index] as number);
      if (row >= 0) this.#count(row);
    }
    let best = 0;
    for (let language = 1; language < scores.length; language++)
      if ((scores[language] as number) > (scores[best] as number)) best = language;
    const share = (scores[best] as number) / Math.max(1, count);
    return { code: share < SHARE_MIN ? undefined : LANGUAGES[best], share };
  }

  #count(row: number): void {
    const start = this.#starts[row] as number;
    const end = this.#starts[row + 1] as number;
    const part = 1 / (end - start);
    for (let at = start; at < end; at++) {
      const language = this.#languages[at] as number;
      this.#scores[language] = (this.#scores[language] as number) + part;
    }
  }
}
