/** Results of a search, for the eye and for programs. Everything in them is foreign, and shown so. */

import { visible } from "../base/visible.ts";
import { textOfResult } from "../crawl/collections.ts";
import { seenJson } from "../output/jsonl.ts";
import type { Collection, Found, Result } from "../output/search-broker.ts";
import type { Query } from "../output/search-query.ts";
import { marksIn, type Snippet, snippetOf } from "../output/search-snippet.ts";
import { plural, showCount } from "./amounts.ts";
import type { Screen } from "./frame.ts";
import { fitted, type Palette } from "./terminal.ts";

export interface Answer {
  readonly collections: readonly Collection[];
  readonly query: Query;
  readonly found: Found;
  readonly tookMs: number;
}

const SNIPPET_CHARACTERS = 220;
const TITLE_CHARACTERS = 200;
const URL_CHARACTERS = 300;
const COPIES_SHOWN_MAX = 2;
const INDENT = "    ";
/** Where nothing can be painted. */
const PLAIN_MARK = "*";
const COLOUR_CODES = /\x1b\[\d+m/g;

export function resultLines(answer: Answer, screen: Screen): string[] {
  const { found, query, collections, tookMs } = answer;
  const { palette } = screen;
  const pages = collections.reduce((sum, { index }) => sum + index.pages, 0);
  const within = collections.length === 1 ? "" : ` in ${plural(collections.length, "collection")}`;
  const count = found.total === 0 ? "Nothing found" : plural(found.total, "result");
  const head = `${palette.bold(count)} among ${plural(pages, "page")}${within}  ${palette.dim(`${Math.max(1, Math.round(tookMs))} ms`)}`;
  const lines = found.results.flatMap((result, place) => [
    "",
    ...linesOf(result, place + 1, { query, screen, isOne: collections.length === 1 }),
  ]);
  const hidden = found.results.reduce((sum, { copies }) => sum - copies.length - 1, found.total);
  const more = hidden > 0 ? ["", palette.dim(`and ${showCount(hidden)} more`)] : [];
  return [head, ...lines, ...more].map((line) => fitted(line, screen.columns));
}

interface Look {
  readonly query: Query;
  readonly screen: Screen;
  readonly isOne: boolean;
}

function linesOf(result: Result, place: number, { query, screen, isOne }: Look): string[] {
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
  const snippet = snippetFor(result, query);
  if (snippet !== undefined) lines.push(...snippetLines(snippet, palette, columns));
  for (const { url } of copies.slice(0, COPIES_SHOWN_MAX))
    lines.push(`${INDENT}${palette.dim(`the same at ${visible(url, URL_CHARACTERS)}`)}`);
  if (copies.length > COPIES_SHOWN_MAX)
    lines.push(`${INDENT}${palette.dim(`and ${copies.length - COPIES_SHOWN_MAX} times more`)}`);
  return lines;
}

function snippetFor(result: Result, query: Query): Snippet | undefined {
  return snippetOf(textOfResult(result) ?? "", query, SNIPPET_CHARACTERS);
}

/** Painted word by word, so that a line can end between any two. */
function snippetLines({ text, marks }: Snippet, palette: Palette, columns: number): string[] {
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

function painted(word: string, at: number, marks: Snippet["marks"], palette: Palette): string {
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

/** One JSON object; what a terminal might obey is escaped in it. */
export function resultJson({ collections, query, found, tookMs }: Answer): string {
  return seenJson(
    JSON.stringify({
      wanted: query.wanted,
      unwanted: query.unwanted,
      milliseconds: Math.round(tookMs * 100) / 100,
      collections: collections.map(({ folder, index }) => ({ folder, pages: index.pages })),
      total: found.total,
      results: found.results.map((result) => ({
        url: result.page.url,
        title: result.page.title,
        titleMarks: marksIn(result.page.title, query),
        score: result.score,
        language: result.page.language,
        topic: result.page.topic === "" ? null : result.page.topic,
        fetchedAt: new Date(result.page.fetchedAtMs).toISOString(),
        collection: result.collection.folder,
        snippet: snippetFor(result, query) ?? null,
        copies: result.copies,
      })),
    }),
  );
}
