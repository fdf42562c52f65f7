/**
 * Corrects misspelt words of a query: to the stem in the collections with the fewest edits,
 * among ties the most common.
 *
 * A word that any collection has is never corrected. Words are compared in the form stored in the index, so the
 * result is a stem; the caller shows it in the spelling of a page.
 */

import { DatabaseSync } from "node:sqlite";
import { editsBetween } from "../base/edit-distance.ts";
import type { Collection } from "./find.ts";
import { type Stemming, wordTable } from "./index-file.ts";
import { matchOfTerm, type Term } from "./query.ts";

/** Maximum number of letters inserted, deleted, replaced or swapped; fewer in short words. */
const EDITS_MAX = 2;
const LETTERS_PER_EDIT = 3;
/** Stems with the same first letter that are compared in one collection. */
const COMPARED_MAX = 200_000;

/** For each term its correction; undefined if the term is known or no stem is near. */
export function corrected(
  collections: readonly Collection[],
  terms: readonly Term[],
): (Term | undefined)[] {
  return terms.map((term) => {
    const stem = isKnown(collections, term) ? undefined : nearestStem(collections, term.text);
    return stem === undefined ? undefined : { text: stem, isPrefix: false };
  });
}

function isKnown(collections: readonly Collection[], term: Term): boolean {
  const sql = "SELECT 1 FROM words WHERE words MATCH $match LIMIT 1";
  return collections.some(({ index }) => index.rows(sql, { match: matchOfTerm(term) }).length > 0);
}

function nearestStem(collections: readonly Collection[], word: string): string | undefined {
  let best: { readonly stem: string; readonly edits: number; readonly pages: number } | undefined;
  for (const { index } of collections) {
    const wanted = stemOf(word, index.stemming);
    if (wanted === undefined) continue;
    const editsMax = Math.min(EDITS_MAX, Math.floor(wanted.length / LETTERS_PER_EDIT));
    const first = wanted.slice(0, 1);
    const rows = index.rows(
      `SELECT term, doc FROM vocabulary WHERE term >= $from AND term < $to
       AND length(term) BETWEEN $least AND $most LIMIT ${COMPARED_MAX}`,
      {
        from: first,
        to: `${first}\u{10ffff}`,
        least: wanted.length - editsMax,
        most: wanted.length + editsMax,
      },
    );
    for (const row of rows) {
      const [stem, pages] = [String(row["term"]), Number(row["doc"])];
      const edits = editsBetween(wanted, stem);
      const isBetter = edits < (best?.edits ?? editsMax + 1);
      if (isBetter || (edits === best?.edits && pages > best.pages)) best = { stem, edits, pages };
    }
  }
  return best?.stem;
}

/** The word in the form stored in the index; undefined if it is not a single word. */
function stemOf(word: string, stemming: Stemming): string | undefined {
  using database = new DatabaseSync(":memory:");
  database.exec(
    `${wordTable("text", stemming)}; CREATE VIRTUAL TABLE stem USING fts5vocab(words, row)`,
  );
  database.prepare("INSERT INTO words VALUES (?)").run(word);
  const stems = database.prepare("SELECT term FROM stem").all();
  return stems.length === 1 ? String(stems[0]?.["term"]) : undefined;
}
