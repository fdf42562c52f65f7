import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import { type Collection, rarityOf, search } from "./find.ts";
import { eraseIndex, hasIndex, lockIndex } from "./index-file.ts";
import { IndexReader } from "./index-reader.ts";
import { openIndex } from "./index-thread.ts";
import { type IndexedPage, IndexWriter } from "./index-writer.ts";
import { readQuery } from "./query.ts";
import { corrected } from "./suggest.ts";

const STEMMING = { keepsText: false, stemming: "english" } as const;
const NO_FACETS = { site: undefined, language: undefined, topic: undefined };

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-search-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function pageOf(id: number, text: string, changes: Partial<IndexedPage> = {}): IndexedPage {
  return {
    id,
    url: `http://example.org/${id}`,
    title: "",
    language: "",
    topic: "",
    fetchedAtMs: 1_000 + id,
    digest: Buffer.from(String(id).padEnd(32, ".")),
    archived: undefined,
    text,
    ...changes,
  };
}

function written(folder: string, pages: readonly IndexedPage[], keepsText = false): Collection {
  const writer = new IndexWriter(folder, { ...STEMMING, keepsText });
  for (const page of pages) writer.put(page);
  writer.commit(pages.length);
  writer.close();
  return { folder, index: new IndexReader(folder) };
}

function isFirst({ text }: IndexedPage): boolean {
  return String(text).includes("word9");
}

function found(
  collections: readonly Collection[],
  words: string,
  facets: Partial<typeof NO_FACETS | Record<"site" | "language" | "topic", string>> = {},
): number[] {
  const query = readQuery(words);
  assert.ok(query !== undefined);
  const request = { query, facets: { ...NO_FACETS, ...facets }, countMax: 10 };
  return search(collections, request).results.map(({ page }) => page.id);
}

test("pages are found by their words, a title before a text, and narrowed by facets", (t) => {
  const collection = written(folderFor(t), [
    pageOf(1, "a weir is a low dam", { language: "en-GB", topic: "science" }),
    pageOf(2, "about rivers and other things", { title: "Weir", language: "en" }),
    pageOf(3, "ein Wehr am Flu\u00df", { language: "de", url: "https://www.example.com/wehr" }),
    pageOf(4, "\u5927\u962a\u57ce\u516c\u5712"),
    pageOf(5, "mills and millers in the river"),
    pageOf(6, "nothing at all"),
    pageOf(7, "something else"),
  ]);
  using index = collection.index;
  const all = [collection];
  assert.deepEqual(found(all, "weir"), [2, 1]);
  assert.deepEqual(found(all, "weir -dam"), [2]);
  assert.deepEqual(found(all, '"low dam"'), [1]);
  assert.deepEqual(found(all, '"dam low"'), []);
  assert.deepEqual(found(all, "mill*"), [5]);
  assert.deepEqual(found(all, "flu\u00df"), [3]);
  assert.deepEqual(found(all, "wehr"), [3]);
  assert.deepEqual(found(all, "\u962a\u57ce"), [4]);
  assert.deepEqual(found(all, "\u57ce\u962a"), []);
  assert.deepEqual(found(all, "weir", { language: "en" }), [2, 1]);
  assert.deepEqual(found(all, "weir", { language: "en-gb" }), [1]);
  assert.deepEqual(found(all, "weir", { topic: "Science" }), [1]);
  assert.deepEqual(found(all, "wehr", { site: "https://example.com/" }), [3]);
  assert.deepEqual(found(all, "wehr", { site: "example.org" }), []);
  assert.equal(index.pages, 7);
});

test("words are found by their English stem, and without stemming only as they are", (t) => {
  const english = written(folderFor(t), [pageOf(1, "professors"), pageOf(2, "one professor")]);
  assert.deepEqual(found([english], "professor").sort(), [1, 2]);
  english.index[Symbol.dispose]();
  const folder = folderFor(t);
  const writer = new IndexWriter(folder, { keepsText: false, stemming: "none" });
  writer.put(pageOf(1, "professors"));
  writer.close();
  using index = new IndexReader(folder);
  assert.deepEqual(found([{ folder, index }], "professor"), []);
  assert.deepEqual(found([{ folder, index }], "Professors"), [1]);
});

test("a word that no page has is corrected to the nearest, and among ties to the most common", (t) => {
  const here = written(folderFor(t), [
    pageOf(1, "admissions office"),
    pageOf(2, "weird things of a weir"),
    pageOf(3, "weird"),
  ]);
  using index = here.index;
  const suggested = (text: string): (string | undefined)[] =>
    corrected([{ folder: "", index }], readQuery(text)?.wanted.flat() ?? []).map(
      (term) => term?.text,
    );
  assert.deepEqual(suggested("admisions"), ["admiss"]);
  assert.deepEqual(suggested("wierd"), ["weird"]);
  assert.deepEqual(suggested("weir ofice"), [undefined, "offic"]);
  assert.deepEqual(suggested("zebra"), [undefined]);
});

test("an index of another version is refused with that version", (t) => {
  const folder = folderFor(t);
  written(folder, [pageOf(1, "weir")]).index[Symbol.dispose]();
  const database = new DatabaseSync(join(folder, "search/index.db"));
  database.exec("PRAGMA user_version = 1");
  database.close();
  assert.throws(() => new IndexReader(folder), /older version 1/);
});

test("putting a page again replaces it, and a removed page is not found", (t) => {
  const folder = folderFor(t);
  written(folder, [pageOf(1, "old words"), pageOf(2, "old news")]).index[Symbol.dispose]();
  const writer = new IndexWriter(folder, STEMMING);
  assert.equal(writer.cursor, 2);
  writer.put(pageOf(1, "new words"));
  assert.equal(writer.remove(2), true);
  assert.equal(writer.remove(2), false);
  writer.commit(3);
  writer.put(pageOf(3, "new, but never committed"));
  writer.abandon();
  using index = new IndexReader(folder);
  const collection = { folder, index };
  assert.deepEqual(found([collection], "old"), []);
  assert.deepEqual(found([collection], "new"), [1]);
  assert.deepEqual([index.pages, index.cursor], [1, 3]);
});

test("without an archive the text is stored and can be read back", (t) => {
  const text = "a weir & a dam ".repeat(50);
  using index = written(folderFor(t), [pageOf(1, text)], true).index;
  assert.equal(index.keptText(1), text);
  assert.equal(index.keptText(2), undefined);
});

test("pages of equal content are shown once, with their copies", (t) => {
  const digest = Buffer.alloc(32, 7);
  const here = written(folderFor(t), [pageOf(1, "weir", { digest }), pageOf(2, "x")]);
  const there = written(folderFor(t), [pageOf(1, "weir", { digest }), pageOf(5, "weir weir")]);
  const query = readQuery("weir");
  assert.ok(query !== undefined);
  const { total, results } = search([here, there], { query, facets: NO_FACETS, countMax: 10 });
  assert.equal(total, 3);
  assert.equal(results.length, 2);
  assert.equal(results.find(({ page }) => page.id === 1)?.copies.length, 1);
  here.index[Symbol.dispose]();
  there.index[Symbol.dispose]();
});

test("split over collections, pages have the scores that they have in a single one", (t) => {
  const vocabulary = Array.from({ length: 60 }, (_, index) => `word${index}`);
  for (let seed = 1; seed <= 6; seed++) {
    const random = randomFrom(seed);
    const pages = Array.from({ length: 300 }, (_, index) => {
      const length = 30;
      const text = Array.from({ length }, () => vocabulary[below(random, 1 + below(random, 60))]);
      return pageOf(index + 1, text.join(" "));
    });
    const whole = written(folderFor(t), pages);
    // Split by content, as a crawl by topic is: words common in one part are rare in the other.
    const parts = [pages.filter(isFirst), pages.filter((page) => !isFirst(page))];
    const split = parts.map((part) => written(folderFor(t), part));
    for (let turn = 0; turn < 10; turn++) {
      const query = readQuery(`${pick(random, vocabulary)} ${pick(random, vocabulary)}`);
      assert.ok(query !== undefined);
      const request = { query, facets: NO_FACETS, countMax: 10 };
      const expected = search([whole], request).results;
      const merged = search(split, request).results;
      assert.equal(merged.length, expected.length, `seed ${seed}`);
      for (const [place, { score }] of merged.entries()) {
        const gap = Math.abs((expected[place]?.score ?? 0) - score);
        assert.ok(gap <= 1e-9, `seed ${seed}, place ${place}: ${gap}`);
      }
    }
    for (const { index } of [whole, ...split]) index[Symbol.dispose]();
  }
});

test("the weight of a term falls with the number of pages that have it, and is never zero", () => {
  assert.ok(rarityOf(1, 1000) > rarityOf(10, 1000));
  assert.ok(rarityOf(900, 1000) > 0);
});

test("pages handed to the thread are found when it is closed, and only one process may write", async (t) => {
  const folder = folderFor(t);
  const troubles: string[] = [];
  const onTrouble = (what: string): void => void troubles.push(what);
  const lock = lockIndex(folder);
  assert.ok(lock !== undefined);
  const index = openIndex({ crawlFolder: folder, ...STEMMING, onTrouble }, lock);
  assert.equal(lockIndex(folder), undefined);
  for (let id = 1; id <= 3000; id++) {
    await index.take(pageOf(id, "", { text: Buffer.from(`weir &amp; number${id}`) }));
    if (id % 100 === 0) index.committed(id);
  }
  // Taken, but never committed by the store.
  await index.take(pageOf(3001, "weir number3001"));
  await index.close();
  using reader = new IndexReader(folder);
  assert.deepEqual([reader.pages, reader.cursor], [3000, 3000]);
  assert.deepEqual(found([{ folder, index: reader }], "number2999"), [2999]);
  assert.deepEqual(found([{ folder, index: reader }], "number3001"), []);
  assert.deepEqual(found([{ folder, index: reader }], "amp"), []);
  assert.deepEqual(troubles, []);
  lockIndex(folder)?.release();
  eraseIndex(folder);
  assert.equal(hasIndex(folder), false);
});

test("with stored texts a page is in the index before take resolves", async (t) => {
  const folder = folderFor(t);
  const lock = lockIndex(folder);
  assert.ok(lock !== undefined);
  const index = openIndex(
    { crawlFolder: folder, ...STEMMING, keepsText: true, onTrouble: () => {} },
    lock,
  );
  await Promise.all([1, 2, 3].map((id) => index.take(pageOf(id, `weir number${id}`))));
  using reader = new IndexReader(folder);
  assert.deepEqual(found([{ folder, index: reader }], "number2"), [2]);
  assert.equal(reader.keptText(3), "weir number3");
  index.committed(3);
  await index.close();
});
