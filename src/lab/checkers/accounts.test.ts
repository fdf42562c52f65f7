import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reason } from "../../page/outcome.ts";
import { settlementOf } from "../../page/outcome.ts";
import type { PageRecord } from "../../page/page.ts";
import { NO_TOTALS, type SiteRow, type StoredUrl, type Totals } from "../../store/store.ts";
import { makePage, makeSite } from "../../store/store.suite.ts";
import { digestOf, groundTruth } from "../ground-truth.ts";
import { respond } from "../world.ts";
import { makeWorld } from "../world/plan.ts";
import { type Books, checkAccounts, checkTruth } from "./accounts.ts";

const WORLD = makeWorld({ seed: 21, siteCount: 5, pagesMax: 120 });

test("the books of a complete crawl have no violations", () => {
  const books = completeBooks();
  assert.deepEqual(checkAccounts(books), []);
  assert.deepEqual(checkTruth(books, WORLD), []);
});

test("planted: a lost URL breaks the identity", () => {
  const books = completeBooks();
  const totals = { ...books.totals, known: books.totals.known + 1 };
  assert.deepEqual(rulesOf(checkAccounts({ ...books, totals })), ["identity", "rows"]);
});

test("planted: an outcome counted twice is caught", () => {
  const books = completeBooks();
  const outcomes = { ...books.totals.outcomes, ok: (books.totals.outcomes["ok"] ?? 0) + 1 };
  const totals = { ...books.totals, outcomes };
  assert.deepEqual(rulesOf(checkAccounts({ ...books, totals })), ["outcomes"]);
});

test("planted: an outcome missing from the totals is caught", () => {
  const books = completeBooks();
  const { ok: _, ...outcomes } = books.totals.outcomes;
  const totals = { ...books.totals, outcomes };
  assert.deepEqual(rulesOf(checkAccounts({ ...books, totals })), ["outcomes"]);
});

test("planted: a page that was recorded but not counted is caught", () => {
  const books = completeBooks();
  const totals = { ...books.totals, pages: books.totals.pages - 1 };
  assert.deepEqual(rulesOf(checkAccounts({ ...books, totals })), ["rows"]);
});

test("planted: a site's counts that differ from its rows are caught", () => {
  const books = completeBooks();
  const [site, ...others] = books.sites();
  assert.ok(site !== undefined);
  const sites = [{ ...site, pending: site.pending + 1 }, ...others];
  assert.deepEqual(rulesOf(checkAccounts({ ...books, sites: () => sites })), ["sites"]);
});

test("planted: a URL admitted twice is caught", () => {
  const books = completeBooks();
  const rows = [...books.urls()];
  const first = rows[0] as StoredUrl;
  const urls = (): StoredUrl[] => [...rows, { ...first, id: 9999, reason: undefined }];
  assert.ok(rulesOf(checkAccounts({ ...books, urls })).includes("url-twice"));
});

test("planted: a page that is missing, waiting, wrongly settled or changed is caught", () => {
  const books = completeBooks();
  const rows = [...books.urls()];
  const at = rows.findIndex(({ reason }) => reason === "ok");
  const row = rows[at] as StoredUrl;
  const withRows = (urls: StoredUrl[]): string[] =>
    rulesOf(checkTruth({ ...books, urls: () => urls }, WORLD));
  assert.deepEqual(withRows(rows.toSpliced(at, 1)), ["missing"]);
  assert.deepEqual(withRows(rows.with(at, { ...row, reason: undefined })), ["wrong-end"]);
  assert.deepEqual(withRows(rows.with(at, { ...row, reason: "conn_reset" })), ["wrong-end"]);
  const page = (id: number): PageRecord | undefined => {
    const stored = books.page(id);
    return id === row.id && stored !== undefined
      ? { ...stored, digest: new Uint8Array(32) }
      : stored;
  };
  assert.deepEqual(rulesOf(checkTruth({ ...books, page }, WORLD)), ["wrong-content"]);
});

test("planted: a forbidden page recorded as fetched is caught", () => {
  const books = completeBooks();
  const rows = [...books.urls()];
  const at = rows.findIndex(({ reason }) => reason === "robots_denied");
  const urls = rows.with(at, { ...(rows[at] as StoredUrl), reason: "ok" });
  assert.ok(rulesOf(checkTruth({ ...books, urls: () => urls }, WORLD)).includes("wrong-end"));
});

/** The books that a perfect crawl of the world would leave. */
function completeBooks(): Books {
  const urls: StoredUrl[] = [];
  const sites: SiteRow[] = [];
  const pages = new Map<number, PageRecord>();
  const outcomes: Record<string, number> = {};
  const totals = { ...NO_TOTALS, outcomes };
  for (const truth of groundTruth(WORLD)) {
    const id = urls.length + 1;
    const siteId = truth.site.index + 1;
    const { status } = respond(WORLD, truth.site, truth.page.path);
    const reasons = { stored: "ok", redirected: "redirect", forbidden: "robots_denied" } as const;
    const reason: Reason = truth.fate === "error" ? `http_${status}` : reasons[truth.fate];
    urls.push(urlRow(id, truth.url, siteId, reason));
    if (truth.fate === "stored")
      pages.set(id, { ...makePage(id, id), digest: digestOf(WORLD, truth) });
    count(totals, reason);
    const site = (sites[truth.site.index] ??= makeSite(siteId, { key: truth.site.origin }));
    const stored = truth.fate === "stored" ? 1 : 0;
    sites[truth.site.index] = { ...site, known: site.known + 1, pages: site.pages + stored };
  }
  return {
    totals: { ...totals, known: urls.length, pages: pages.size },
    urls: () => urls,
    sites: () => sites,
    page: (id) => pages.get(id),
  };
}

function count(totals: { -readonly [key in keyof Totals]: Totals[key] }, reason: Reason): void {
  totals[settlementOf(reason)]++;
  totals.outcomes = { ...totals.outcomes, [reason]: (totals.outcomes[reason] ?? 0) + 1 };
}

function urlRow(id: number, url: string, siteId: number, reason: Reason): StoredUrl {
  const blank = { depth: 0, score: 0, attempts: 1, redirectedFromId: 0, redirects: 0 };
  return { ...blank, id, url, written: undefined, siteId, reason };
}

function rulesOf(violations: readonly { readonly rule: string }[]): string[] {
  return [...new Set(violations.map(({ rule }) => rule))].sort();
}
