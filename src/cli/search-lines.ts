/**
 * Results of a search, for users and for programs. All text in them is foreign and made visible.
 */

import { visible } from "../base/visible.ts";
import { type Spelling, textOfResult } from "../crawl/search/collections.ts";
import { seenJson } from "../output/lines/jsonl.ts";
import type { Collection, Found, Result } from "../search/find.ts";
import type { Stemming } from "../search/index-file.ts";
import type { Query } from "../search/query.ts";
import { type Passage, Passages } from "../search/passage.ts";
import { plural, showCount } from "./amounts.ts";
import type { Screen } from "./frame.ts";
import { fitted, type Palette } from "./terminal.ts";

export interface Answer {
  readonly collections: readonly Collection[];
  readonly query: Query;
  readonly found: Found;
  /** Suggestions for words that no page has. */
  readonly spellings: readonly Spelling[];
  readonly tookMs: number;
}

const PASSAGE_WORDS = 34;
const TITLE_CHARACTERS = 200;
const URL_CHARACTERS = 300;
const COPIES_SHOWN_MAX = 2;
const INDENT = "    ";
/** For terminals without colours. */
const PLAIN_MARK = "*";
const COLOUR_CODES = /\x1b\[\d+m/g;

export function resultLines(answer: Answer, screen: Screen): string[] {
  const { found, query, collections, spellings, tookMs } = answer;
  using shown = new ShownPassages(query);
  const { palette } = screen;
  const pages = collections.reduce((sum, { index }) => sum + index.pages, 0);
  const within = collections.length === 1 ? "" : ` in ${plural(collections.length, "collection")}`;
  const count = found.total === 0 ? "Nothing found" : plural(found.total, "result");
  const head = `${palette.bold(count)} among ${plural(pages, "page")}${within}  ${palette.dim(`${Math.max(1, Math.round(tookMs))} ms`)}`;
  const lines = found.results.flatMap((result, place) => [
    "",
    ...linesOf(result, place + 1, { shown, screen, isOne: collections.length === 1 }),
  ]);
  const hidden = found.results.reduce((sum, { copies }) => sum - copies.length - 1, found.total);
  const more = hidden > 0 ? ["", palette.dim(`and ${showCount(hidden)} more`)] : [];
  const hints = spellings.map(
    ({ typed, suggested }) =>
      `No page has "${visible(typed, 80)}". Did you mean "${visible(suggested, 80)}"?`,
  );
  return [head, ...hints, ...lines, ...more].map((line) => fitted(line, screen.columns));
}

/** Passages by the stemming of each collection. */
class ShownPassages {
  readonly #query: Query;
  readonly #byStemming = new Map<Stemming, Passages>();

  constructor(query: Query) {
    this.#query = query;
  }

  [Symbol.dispose](): void {
    for (const passages of this.#byStemming.values()) passages[Symbol.dispose]();
  }

  of(result: Result): Passage | undefined {
    return this.#for(result).best(textOfResult(result) ?? "", PASSAGE_WORDS);
  }

  titleMarks(result: Result): Passage["marks"] {
    return this.#for(result).whole(result.page.title).marks;
  }

  #for({ collection }: Result): Passages {
    const { stemming } = collection.index;
    const known = this.#byStemming.get(stemming) ?? new Passages(this.#query, stemming);
    this.#byStemming.set(stemming, known);
    return known;
  }
}

interface Look {
  readonly shown: ShownPassages;
  readonly screen: Screen;
  readonly isOne: boolean;
}

function linesOf(result: Result, place: number, { shown, screen, isOne }: Look): string[] {
  const { palette, columns } = screen;
  const { page, collection, copies } = result;
  const title = visible(page.title, TITLE_CHARACTERS);
  const shownTitle = title === "" ? palette.dim("(no title)") : title;
  const facts = [page.language, page.topic, isOne ? "" : collection.folder];
  const dim = facts.filter((fact) => fact !== "").map((fact) => palette.dim(visible(fact, 60)));
  const lines = [
    `${String(place).padStart(2)}  ${[palette.bold(shownTitle), ...dim].join("  ")}`,
    `${INDENT}${palette.accent(visible(page.url, URL_CHARACTERS))}`,
  ];
  const snippet = shown.of(result);
  if (snippet !== undefined) lines.push(...snippetLines(snippet, palette, columns));
  for (const { url } of copies.slice(0, COPIES_SHOWN_MAX))
    lines.push(`${INDENT}${palette.dim(`the same at ${visible(url, URL_CHARACTERS)}`)}`);
  if (copies.length > COPIES_SHOWN_MAX)
    lines.push(`${INDENT}${palette.dim(`and ${copies.length - COPIES_SHOWN_MAX} times more`)}`);
  return lines;
}

/** Coloured word by word, so that a line can end between any two. */
function snippetLines({ text, marks }: Passage, palette: Palette, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  let width = 0;
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    const shown = painted(word, index, marks, palette);
    const wordColumns = shown.replaceAll(COLOUR_CODES, "").length;
    if (width > 0 && INDENT.length + width + 1 + wordColumns > columns) {
      lines.push(INDENT + line);
      line = "";
      width = 0;
    }
    line = width === 0 ? shown : `${line} ${shown}`;
    width += wordColumns + (width === 0 ? 0 : 1);
  }
  return width === 0 ? lines : [...lines, INDENT + line];
}

function painted(word: string, at: number, marks: Passage["marks"], palette: Palette): string {
  let shown = "";
  let done = 0;
  for (const [start, end] of marks) {
    const from = Math.max(start - at, done);
    const to = Math.min(end - at, word.length);
    if (from >= to) continue;
    shown += visible(word.slice(done, from)) + marked(visible(word.slice(from, to)), palette);
    done = to;
  }
  return shown + visible(word.slice(done));
}

function marked(word: string, palette: Palette): string {
  const bold = palette.bold(word);
  return bold === word ? `${PLAIN_MARK}${word}${PLAIN_MARK}` : palette.good(bold);
}

/** One JSON object; terminal control characters are escaped. */
export function resultJson({ collections, query, found, spellings, tookMs }: Answer): string {
  using shown = new ShownPassages(query);
  return seenJson(
    JSON.stringify({
      wanted: query.wanted.map(([first, ...or]) => ({
        ...first,
        ...(or.length > 0 ? { or } : {}),
      })),
      unwanted: query.unwanted,
      milliseconds: Math.round(tookMs * 100) / 100,
      collections: collections.map(({ folder, index }) => ({ folder, pages: index.pages })),
      total: found.total,
      spellings,
      results: found.results.map((result) => ({
        url: result.page.url,
        title: result.page.title,
        titleMarks: shown.titleMarks(result),
        score: result.score,
        language: result.page.language,
        topic: result.page.topic === "" ? null : result.page.topic,
        fetchedAt: new Date(result.page.fetchedAtMs).toISOString(),
        collection: result.collection.folder,
        snippet: shown.of(result) ?? null,
        copies: result.copies,
      })),
    }),
  );
}
