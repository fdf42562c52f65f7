/**
 * Reads what somebody wants to find, and says it so that SQLite cannot misunderstand.
 *
 *   weir dam          both words, anywhere in title, address or text
 *   "low dam"         these words in this order
 *   dam*              words that begin so
 *   -beaver           not with this word (or "phrase")
 *
 * Whatever else is typed is a word, never an operator: every term goes to SQLite in quotes, with its
 * own quotes taken out. A term without letters or digits says nothing and is left out; a query of
 * only such terms, or only of what is not wanted, is no query.
 */

import { requiredFacets, type Facets } from "./search-facets.ts";
import { spaced } from "./search-writer.ts";

export interface Term {
  /** One word, or several in a row. */
  readonly text: string;
  readonly isPrefix: boolean;
}

export interface Query {
  readonly wanted: readonly Term[];
  readonly unwanted: readonly Term[];
}

const TERMS_MAX = 32;
const TERM_CHARACTERS_MAX = 200;
const COLUMNS = "{title url text}";
const PIECES = /-?"[^"]*"?\*?|\S+/g;
const QUOTES = /["\u201c\u201d\u201e\u00ab\u00bb\u0000]/g;
const SAYS_SOMETHING = /[\p{L}\p{N}\p{Co}]/u;

/**
 * Reads the words of a command line. A word with blanks in it was quoted for the shell, so it is a
 * phrase, unless it holds quotes, stars or minus signs of its own: then it is a whole query.
 */
export function readQuery(words: readonly string[]): Query | undefined {
  const wanted: Term[] = [];
  const unwanted: Term[] = [];
  for (const word of words) {
    const isPhrase = /\s/.test(word) && !/["*]|(^|\s)-/.test(word);
    const pieces = isPhrase
      ? [`"${word}"`]
      : (word.replace(/[\u201c\u201d]/g, '"').match(PIECES) ?? []);
    for (const piece of pieces) {
      const isUnwanted = piece.startsWith("-") && piece.length > 1;
      const term = readTerm(isUnwanted ? piece.slice(1) : piece);
      if (term !== undefined) (isUnwanted ? unwanted : wanted).push(term);
    }
  }
  if (wanted.length === 0 || wanted.length + unwanted.length > TERMS_MAX) return undefined;
  return { wanted, unwanted };
}

/** The query for SQLite's `MATCH`. */
export function matchOf(query: Query, facets: Facets): string {
  const wanted = query.wanted.map(quoted).join(" AND ");
  const unwanted = query.unwanted.map(quoted).join(" OR ");
  const words = unwanted === "" ? `(${wanted})` : `((${wanted}) NOT (${unwanted}))`;
  const narrowed = requiredFacets(facets).map((facet) => `facet : "${facet}"`);
  return [...narrowed, `${COLUMNS} : ${words}`].join(" AND ");
}

/** A single term, to count how many pages have it. */
export function matchOfTerm(term: Term): string {
  return `${COLUMNS} : (${quoted(term)})`;
}

function readTerm(piece: string): Term | undefined {
  const isPrefix = piece.endsWith("*");
  const text = piece
    .replace(/\*+$/, "")
    .replace(QUOTES, " ")
    .toWellFormed()
    .trim()
    .slice(0, TERM_CHARACTERS_MAX);
  return SAYS_SOMETHING.test(text) ? { text, isPrefix } : undefined;
}

function quoted({ text, isPrefix }: Term): string {
  return `"${spaced(text)}"${isPrefix ? " *" : ""}`;
}
