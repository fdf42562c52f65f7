/**
 * Reads a search query, and writes it as an FTS5 expression.
 *
 *   weir dam          both words, anywhere in title, URL or text
 *   "low dam"         these words in this order
 *   dam*              words with this prefix
 *   dam OR weir       either of them; OR binds more tightly than the space between words
 *   -beaver           pages without this word (or "phrase"); NOT beaver is the same
 *
 * All other input is a word, never an operator. A term without letters or digits is ignored; a query without
 * a wanted term is invalid.
 */

import { wordsApart } from "./words-apart.ts";

export interface Term {
  /** One word, or a phrase. */
  readonly text: string;
  readonly isPrefix: boolean;
}

export interface Query {
  /** Each group must be matched by at least one of its terms. */
  readonly wanted: readonly (readonly Term[])[];
  readonly unwanted: readonly Term[];
}

const TERMS_MAX = 32;
const TERM_CHARACTERS_MAX = 200;
const PIECES = /-?"[^"]*"?\*?|\S+/g;
const CURLY_QUOTES = /[\u201c\u201d]/g;
const QUOTES = /["\u201e\u00ab\u00bb\u0000]/g;
const HAS_WORD = /[\p{L}\p{N}]/u;

/** Reads the words of a command line, or one text; an unclosed quote ends with its word. */
export function readQuery(...texts: readonly string[]): Query | undefined {
  const wanted: Term[][] = [];
  const unwanted: Term[] = [];
  let isAlternative = false;
  let isExcluded = false;
  for (const piece of texts.flatMap(
    (text) => text.replace(CURLY_QUOTES, '"').match(PIECES) ?? [],
  )) {
    if (piece === "OR") isAlternative = wanted.length > 0;
    else if (piece === "NOT") isExcluded = true;
    else if (piece !== "AND") {
      const isUnwanted = isExcluded || (piece.startsWith("-") && piece.length > 1);
      const term = readTerm(piece.replace(/^-/, ""));
      if (term !== undefined && isUnwanted) unwanted.push(term);
      else if (term !== undefined && isAlternative) wanted.at(-1)?.push(term);
      else if (term !== undefined) wanted.push([term]);
      isAlternative = isExcluded = false;
    }
  }
  const count = wanted.flat().length + unwanted.length;
  return wanted.length === 0 || count > TERMS_MAX ? undefined : { wanted, unwanted };
}

/** The whole query as an FTS5 expression. */
export function matchOf({ wanted, unwanted }: Query): string {
  const all = wanted.map((group) => `(${group.map(matchOfTerm).join(" OR ")})`).join(" AND ");
  return unwanted.length === 0 ? all : `(${all}) NOT (${unwanted.map(matchOfTerm).join(" OR ")})`;
}

/** A term as a string of FTS5, never an operator: quotes were removed when it was read. */
export function matchOfTerm({ text, isPrefix }: Term): string {
  return `"${wordsApart(text)}"${isPrefix ? " *" : ""}`;
}

function readTerm(piece: string): Term | undefined {
  const isPrefix = piece.endsWith("*");
  const text = piece
    .replace(/\*+$/, "")
    .replace(QUOTES, " ")
    .toWellFormed()
    .trim()
    .slice(0, TERM_CHARACTERS_MAX);
  return HAS_WORD.test(text) ? { text, isPrefix } : undefined;
}
