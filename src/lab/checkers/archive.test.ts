import assert from "node:assert/strict";
import { test } from "node:test";
import type { ArchivePlace, PageRecord } from "../../page/page.ts";
import { makePage } from "../../store/store.suite.ts";
import { NO_TOTALS, type StoredUrl } from "../../store/store.ts";
import type { Books } from "./accounts.ts";
import { checkArchive } from "./archive.ts";

const URLS = ["http://a.test/1", "http://a.test/2", "http://a.test/3"];

test("an archive with every page at its place has no violations", () => {
  assert.deepEqual(checkArchive(booksOf(placed), urlAt), []);
});

test("planted: a page with a missing record, or with another page's record, is caught", () => {
  const books = booksOf(placed);
  const cutOff = checkArchive(books, (place) => (place.offset < 2 ? urlAt(place) : undefined));
  assert.deepEqual(cutOff, [
    { rule: "archive", detail: "http://a.test/3: its place has no record" },
  ]);
  assert.equal(checkArchive(books, ({ offset }) => URLS[2 - offset]).length, 2);
});

test("planted: a page that was never written is caught", () => {
  const books = booksOf((id) => (id === 2 ? undefined : placed(id)));
  assert.deepEqual(checkArchive(books, urlAt), [{ rule: "unarchived", detail: "http://a.test/2" }]);
});

function placed(id: number): ArchivePlace {
  return { file: "archive", offset: id - 1, length: 1 };
}

function urlAt({ offset }: ArchivePlace): string | undefined {
  return URLS[offset];
}

function booksOf(placeOf: (id: number) => ArchivePlace | undefined): Books {
  const blank = { siteId: 1, depth: 0, score: 0, attempts: 1, redirectedFromId: 0, redirects: 0 };
  const rows = URLS.map((url, at): StoredUrl =>
    Object.assign({ id: at + 1, url, written: undefined, reason: "ok" as const }, blank),
  );
  const page = (id: number): PageRecord => ({ ...makePage(id, id), archived: placeOf(id) });
  return { totals: NO_TOTALS, urls: () => rows, sites: () => [], page };
}
