/**
 * The passage of a text that shows best why it was found, with the found words marked.
 *
 * Words are compared as the index does it: without case and accents. The passage is the window with
 * the most different terms in it, then the most words found; of equals the first. Linear in the text.
 */

import type { Query, Term } from "./search-query.ts";
import { foldedText } from "./search-words.ts";

export interface Snippet {
  readonly text: string;
  /** Stretches of `text` that were found: start and end, in order, never overlapping. */
  readonly marks: readonly (readonly [start: number, end: number])[];
}

interface Word {
  readonly start: number;
  readonly end: number;
  readonly folded: string;
}

interface Hit {
  readonly start: number;
  readonly end: number;
  readonly term: number;
}

const TEXT_CHARACTERS_MAX = 1_000_000;
const BEFORE_SHARE = 0.3;
// Characters that stand for themselves in writing without blanks, or whole words.
const WORDS =
  /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|(?:(?![\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])[\p{L}\p{N}\p{M}])+/gu;

/** A passage of about so many characters; undefined for a text that says nothing. */
export function snippetOf(text: string, query: Query, charactersMax: number): Snippet | undefined {
  const flat = text.slice(0, TEXT_CHARACTERS_MAX).replace(/\s+/g, " ").trim();
  if (flat === "") return undefined;
  const hits = hitsIn(flat, query.wanted);
  const start = startOf(flat, bestStart(hits, charactersMax), charactersMax);
  const end = endOf(flat, Math.min(flat.length, start + charactersMax));
  const shown = hits.filter((hit) => hit.start >= start && hit.end <= end);
  const before = start > 0 ? "… " : "";
  const shift = before.length - start;
  return {
    text: `${before}${flat.slice(start, end)}${end < flat.length ? " …" : ""}`,
    marks: joined(shown).map(([from, to]) => [from + shift, to + shift] as const),
  };
}

/** Marks in a text that is shown whole, such as a title. */
export function marksIn(text: string, query: Query): readonly (readonly [number, number])[] {
  return joined(hitsIn(text, query.wanted));
}

function hitsIn(text: string, terms: readonly Term[]): Hit[] {
  const words = wordsOf(text);
  const patterns = terms.map(({ text: wanted, isPrefix }) => ({
    parts: wordsOf(wanted).map(({ folded }) => folded),
    isPrefix,
  }));
  const hits: Hit[] = [];
  for (let at = 0; at < words.length; at++) {
    for (const [term, { parts, isPrefix }] of patterns.entries()) {
      const last = words[at + parts.length - 1];
      if (last === undefined || parts.length === 0) continue;
      const fits = parts.every((part, index) => {
        const word = words[at + index]?.folded ?? "";
        return isPrefix && index === parts.length - 1 ? word.startsWith(part) : word === part;
      });
      if (fits) hits.push({ start: words[at]?.start ?? 0, end: last.end, term });
    }
  }
  return hits;
}

function wordsOf(text: string): Word[] {
  return Array.from(text.matchAll(WORDS), (match) => ({
    start: match.index,
    end: match.index + match[0].length,
    folded: foldedText(match[0]),
  }));
}

/** Where the window begins that holds the most. */
function bestStart(hits: readonly Hit[], charactersMax: number): number {
  let best = { terms: 0, hits: 0, start: 0 };
  const room = charactersMax * (1 - BEFORE_SHARE);
  const inside = new Map<number, number>();
  let behind = 0;
  for (const first of hits) {
    while (behind < hits.length && (hits[behind]?.end ?? 0) <= first.start + room) {
      const { term } = hits[behind++] as Hit;
      inside.set(term, (inside.get(term) ?? 0) + 1);
    }
    const count = inside.values().reduce((sum, more) => sum + more, 0);
    if (inside.size > best.terms || (inside.size === best.terms && count > best.hits))
      best = { terms: inside.size, hits: count, start: first.start };
    const left = (inside.get(first.term) ?? 1) - 1;
    if (left <= 0) inside.delete(first.term);
    else inside.set(first.term, left);
  }
  return best.start;
}

/** A little before the first word found, at the beginning of a word. */
function startOf(text: string, hitAt: number, charactersMax: number): number {
  const atLeast = Math.max(0, Math.floor(hitAt - charactersMax * BEFORE_SHARE));
  if (atLeast === 0) return 0;
  const blank = text.indexOf(" ", atLeast);
  return blank < 0 || blank >= hitAt ? hitAt : blank + 1;
}

function endOf(text: string, end: number): number {
  if (end >= text.length) return text.length;
  const blank = text.lastIndexOf(" ", end);
  if (blank > end - 40) return blank;
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}

/** Overlapping and touching stretches become one. */
function joined(hits: readonly Hit[]): [start: number, end: number][] {
  const marks: [start: number, end: number][] = [];
  for (const { start, end } of hits) {
    const last = marks.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else marks.push([start, end]);
  }
  return marks;
}
