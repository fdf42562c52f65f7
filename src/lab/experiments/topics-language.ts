/**
 * The paper's language test, by the share of common English words, which recognized 96.1 % of English and 90.2 % of
 * other pages; compared with Weir's test.
 *
 * English pages are all articles of Wikipedia for Schools. Other pages are web pages that declare a language other
 * than English; a declaration of English is unreliable, because many templates contain it. As in the paper, pages
 * with fewer than 50 terms are left out.
 */

import { TERMS_MIN } from "../../topics/classify.ts";
import { wilson } from "../../topics/evaluation.ts";
import { LanguageGuesser } from "../../topics/language.ts";
import { EnglishShare } from "../english-share.ts";
import { Tokens } from "../../topics/tokens.ts";
import { wikipediaPages, worldPages } from "../topics-data.ts";
import { type Row, rounded } from "./experiment.ts";

const ENGLISH = "en";

interface Tally {
  readonly collection: string;
  readonly method: string;
  readonly paperPercent: number | null;
  readonly isRight: (tokens: Tokens) => boolean;
  right: number;
}

export async function languageRows(): Promise<Row[]> {
  const share = new EnglishShare();
  const guesser = new LanguageGuesser();
  const tokens = new Tokens();
  const english = tallies("English known as such", [
    ["common words", 96.1, () => share.isEnglish(tokens)],
    ["Weir's", null, () => guesser.guess(tokens).code === ENGLISH],
  ]);
  const others = tallies("other languages known as such", [
    ["common words", 90.2, () => !share.isEnglish(tokens)],
    ["Weir's", null, () => guesser.guess(tokens).code !== ENGLISH],
  ]);
  let englishPages = 0;
  let otherPages = 0;
  for await (const { html } of wikipediaPages()) {
    tokens.takeHtml(html);
    if (tokens.count >= TERMS_MIN) englishPages += take(english, tokens);
  }
  for await (const { declared, html } of worldPages()) {
    if (declared === undefined || declared === ENGLISH) continue;
    tokens.takeHtml(html);
    if (tokens.count >= TERMS_MIN) otherPages += take(others, tokens);
  }
  return [
    ...english.map((tally) => rowOf(tally, englishPages)),
    ...others.map((tally) => rowOf(tally, otherPages)),
  ];
}

function tallies(
  collection: string,
  methods: readonly (readonly [method: string, paper: number | null, isRight: Tally["isRight"]])[],
): Tally[] {
  return methods.map(([method, paperPercent, isRight]) => ({
    collection,
    method,
    paperPercent,
    isRight,
    right: 0,
  }));
}

/** Tests one page with all methods; returns 1, the number of pages. */
function take(all: readonly Tally[], tokens: Tokens): 1 {
  for (const tally of all) if (tally.isRight(tokens)) tally.right += 1;
  return 1;
}

function rowOf({ collection, method, right, paperPercent }: Tally, pages: number): Row {
  const [low, high] = wilson(right, pages);
  return {
    collection,
    method,
    pages,
    accuracyPercent: rounded((100 * right) / Math.max(1, pages), 1),
    low95: rounded(100 * low, 1),
    high95: rounded(100 * high, 1),
    macroF1Percent: null,
    paperPercent,
  };
}
