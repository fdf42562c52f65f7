/**
 * Reads what somebody wants to find.
 *
 *   weir dam          both words, anywhere in title, address or text
 *   "low dam"         these words in this order
 *   dam*              words that begin so
 *   -beaver           not with this word (or "phrase")
 *
 * Whatever else is typed is a word, never an operator. A term without letters or digits says nothing
 * and is left out; a query of only such terms, or only of what is not wanted, is no query.
 */

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
const PIECES = /-?"[^"]*"?\*?|\S+/g;
const QUOTES = /["\u201c\u201d\u201e\u00ab\u00bb\u0000]/g;
const SAYS_SOMETHING = /[\p{L}\p{N}]/u;

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
