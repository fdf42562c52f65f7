/**
 * Passages of found pages with the found words marked.
 *
 * The texts of one list of results go into an FTS5 table in memory, with the tokenizer of the index, and SQLite
 * cuts and marks them. So a passage marks exactly the words that the index finds, with stems and diacritics. About a
 * millisecond for a text of 50 KB.
 */

import { DatabaseSync, type StatementSync } from "node:sqlite";
import { type Stemming, wordTable } from "./index-file.ts";
import { matchOfTerm, type Query } from "./query.ts";
import { withoutGaps, wordsApart } from "./words-apart.ts";

export interface Passage {
  readonly text: string;
  /** Found parts of `text`: start and end, in order, never overlapping. */
  readonly marks: readonly (readonly [start: number, end: number])[];
}

const TEXT_CHARACTERS_MAX = 1_000_000;
/** Longer than a passage of ordinary words; a passage of endless words is cut. */
const PASSAGE_CHARACTERS_MAX = 500;
/** Control characters cannot be confused with text, because they are removed from it first. */
const [MARK_START, MARK_END] = ["\u0001", "\u0002"];
const CONTROLS_AND_SPACES = /[\u0000-\u0020\u007f-\u00a0]+/g;

export class Passages {
  readonly #database = new DatabaseSync(":memory:");
  readonly #put: StatementSync;
  readonly #snippet: StatementSync;
  readonly #highlight: StatementSync;
  readonly #match: string;

  constructor(query: Query, stemming: Stemming) {
    // All wanted terms are marked, also those far from the others.
    this.#match = query.wanted.flat().map(matchOfTerm).join(" OR ");
    this.#database.exec(wordTable("text", stemming));
    this.#put = this.#database.prepare("INSERT OR REPLACE INTO words (rowid, text) VALUES (1, ?)");
    const marks = `'${MARK_START}', '${MARK_END}'`;
    const where = "FROM words WHERE words MATCH ?";
    this.#snippet = this.#database.prepare(
      `SELECT snippet(words, 0, ${marks}, '…', ?) AS text ${where}`,
    );
    this.#highlight = this.#database.prepare(
      `SELECT highlight(words, 0, ${marks}) AS text ${where}`,
    );
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  /** The best passage of at most `wordsMax` words; the beginning of a text without any of the terms. */
  best(text: string, wordsMax: number): Passage | undefined {
    const flat = this.#load(text);
    if (flat === "") return undefined;
    const found = this.#snippet.get(wordsMax, this.#match)?.["text"];
    if (typeof found === "string") return marked(found);
    const words = flat.split(" ");
    const isCut = words.length > wordsMax;
    return marked(isCut ? `${words.slice(0, wordsMax).join(" ")}…` : flat);
  }

  /** A whole text, such as a title, with its marks. */
  whole(text: string): Passage {
    const flat = this.#load(text);
    const found = this.#highlight.get(this.#match)?.["text"];
    return marked(typeof found === "string" ? found : flat);
  }

  #load(text: string): string {
    const flat = text.slice(0, TEXT_CHARACTERS_MAX).replace(CONTROLS_AND_SPACES, " ").trim();
    this.#put.run(wordsApart(flat));
    return flat;
  }
}

function marked(found: string): Passage {
  const marks: [start: number, end: number][] = [];
  let text = "";
  for (const [at, piece] of withoutGaps(found).split(MARK_START).entries()) {
    const [inside = "", after = ""] = at === 0 ? ["", piece] : piece.split(MARK_END, 2);
    const [start, end] = [text.length, text.length + inside.length];
    const last = marks.at(-1);
    // Adjacent characters that were set apart get one common mark.
    if (last?.[1] === start && inside !== "") last[1] = end;
    else if (inside !== "") marks.push([start, end]);
    text += inside + after;
  }
  if (text.length <= PASSAGE_CHARACTERS_MAX) return { text, marks };
  const cut = text.slice(0, PASSAGE_CHARACTERS_MAX).toWellFormed();
  return { text: `${cut}…`, marks: marks.filter(([, end]) => end <= PASSAGE_CHARACTERS_MAX) };
}
