import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { below, pick, type Random, randomFrom } from "../base/random.ts";
import { type Facets, search } from "./find.ts";
import { IndexReader } from "./index-reader.ts";
import { type IndexedPage, IndexWriter } from "./index-writer.ts";
import { type Query, readQuery, type Term } from "./query.ts";

const VOCABULARY = [
  "dam",
  "dams",
  "damage",
  "weir",
  "W\u00e9ir",
  "low",
  "the",
  "\u6c34",
  "\u57ce",
  "2",
];
const OPTIONS = { keepsText: false, stemming: "none" } as const;
const LANGUAGES = ["", "en", "en-GB", "de"];
const HOSTS = ["a.example", "www.a.example", "b.example"];

function somePage(random: Random, id: number, version: number): IndexedPage {
  const words = (most: number): string =>
    Array.from({ length: below(random, most) }, () => pick(random, VOCABULARY)).join(" ");
  return {
    id,
    url: `https://${pick(random, HOSTS)}/p${id}`,
    title: words(4),
    language: pick(random, LANGUAGES),
    topic: pick(random, ["", "science"]),
    fetchedAtMs: version,
    digest: Buffer.from(`${id} ${version}`.padEnd(32)),
    archived: undefined,
    text: words(40),
  };
}

/** True if the index should find this page, computed by reading all of its text. */
function matches(page: IndexedPage, query: Query, facets: Facets): boolean {
  const fields = [page.title, page.url, String(page.text)].map(foldedWords);
  const has = (term: Term): boolean => {
    const wanted = foldedWords(term.text);
    return fields.some((words) => words.some((_, at) => fits(words.slice(at), wanted, term)));
  };
  const host = new URL(page.url).hostname;
  const { site, language, topic } = facets;
  const tag = page.language.toLowerCase();
  return (
    query.wanted.every((group) => group.some(has)) &&
    !query.unwanted.some(has) &&
    (site === undefined || host === site || host.endsWith(`.${site}`)) &&
    (language === undefined || tag === language || tag.startsWith(`${language}-`)) &&
    (topic === undefined || page.topic === topic)
  );
}

function fits(words: readonly string[], wanted: readonly string[], { isPrefix }: Term): boolean {
  return wanted.every((part, at) => {
    const isLast = isPrefix && at === wanted.length - 1;
    return isLast ? words[at]?.startsWith(part) === true : words[at] === part;
  });
}

function foldedWords(text: string): string[] {
  const spaced = text
    .replace(/[\u6c34\u57ce]/g, " $& ")
    .normalize("NFD")
    .replace(/\p{M}/gu, "");
  return spaced.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function someQuery(random: Random): Query | undefined {
  const term = (): string => {
    const words = Array.from({ length: 1 + below(random, 2) }, () => pick(random, VOCABULARY));
    const star = random.next() < 0.2 ? "*" : "";
    return words.length > 1 ? `"${words.join(" ")}"${star}` : `${words[0]}${star}`;
  };
  const unwanted = random.next() < 0.3 ? [`-${term()}`] : [];
  const between = random.next() < 0.2 ? " OR " : " ";
  const wanted = Array.from({ length: 1 + below(random, 2) }, term).join(between);
  return readQuery([wanted, ...unwanted].join(" "));
}

function someFacets(random: Random): Facets {
  const maybe = (choices: readonly string[]): string | undefined =>
    random.next() < 0.2 ? pick(random, choices) : undefined;
  return {
    site: maybe(["a.example", "b.example"]),
    language: maybe(["en", "de"]),
    topic: maybe(["science"]),
  };
}

test("pages put, replaced and removed are found as by a full scan", (t) => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = randomFrom(seed);
    const folder = mkdtempSync(join(tmpdir(), "weir-search-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const model = new Map<number, IndexedPage>();
    let writer = new IndexWriter(folder, OPTIONS);
    let committed = new Map(model);
    for (let step = 1; step <= 400; step++) {
      const id = 1 + below(random, 120);
      const page = somePage(random, id, step);
      if (random.next() < 0.15) assert.equal(writer.remove(id), model.delete(id), `seed ${seed}`);
      else {
        writer.put(page);
        model.set(id, page);
      }
      if (random.next() < 0.12) {
        writer.commit(step);
        committed = new Map(model);
      }
      if (random.next() < 0.01) {
        writer.abandon();
        writer = new IndexWriter(folder, OPTIONS);
        model.clear();
        for (const [known, stored] of committed) model.set(known, stored);
      }
    }
    writer.close();
    using index = new IndexReader(folder);
    assert.equal(index.pages, model.size, `seed ${seed}`);
    for (let turn = 0; turn < 60; turn++) {
      const query = someQuery(random);
      if (query === undefined) continue;
      const facets = someFacets(random);
      const { total, results } = search([{ folder, index }], { query, facets, countMax: 1000 });
      const expected = [...model.values()].filter((page) => matches(page, query, facets));
      const where = `seed ${seed}: ${JSON.stringify([query, facets])}`;
      assert.deepEqual(
        results.map(({ page }) => page.id).sort((a, b) => a - b),
        expected.map(({ id }) => id).sort((a, b) => a - b),
        where,
      );
      assert.equal(total, expected.length, where);
    }
  }
});
