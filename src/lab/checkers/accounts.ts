/**
 * Checks the books of a store: its totals must add up, equal its rows, and match the ground truth.
 *
 * Rules:
 *   `identity`: known = done + failed + skipped + pending;
 *   `outcomes`: the counts by reason add up to done, failed and skipped, and equal the rows;
 *   `rows`: the totals are the numbers of rows;
 *   `sites`: each site's known, pending and pages are the numbers of its rows;
 *   `url-twice`: a URL has two rows;
 *   `missing`, `wrong-end`, `wrong-content`: a page of the ground truth has no row, has a wrong
 *   outcome, or was stored with different bytes.
 */

import { type Reason, settlementOf } from "../../page/outcome.ts";
import type { PageRecord } from "../../page/page.ts";
import type { SiteRow, StoredUrl, Totals } from "../../store/store.ts";
import { digestOf, type Fate, groundTruth, type TruePage } from "../ground-truth.ts";
import type { World } from "../world/plan.ts";
import type { Violation } from "../violation.ts";

/** The part of a store that is checked. */
export interface Books {
  readonly totals: Totals;
  urls(): Iterable<StoredUrl>;
  sites(): Iterable<SiteRow>;
  page(id: number): PageRecord | undefined;
}

interface Count {
  known: number;
  pending: number;
  pages: number;
}

/**
 * Checks that the totals of a store add up and equal its rows.
 *
 * @example
 * import { type Books, checkAccounts } from "weir/lab";
 *
 * export const isConsistent = (books: Books): boolean => checkAccounts(books).length === 0;
 */
export function checkAccounts(books: Books): Violation[] {
  const violations: Violation[] = [];
  const { totals } = books;
  const expect = (rule: string, name: string, counted: number, recorded: number): void => {
    if (counted === recorded) return;
    violations.push({ rule, detail: `${name}: counted ${counted}, recorded ${recorded}` });
  };

  const rows = readRows(books, violations);
  expect("rows", "known", rows.all.known, totals.known);
  expect("rows", "pages", rows.all.pages, totals.pages);
  const settled = totals.done + totals.failed + totals.skipped;
  expect("identity", "known", settled + rows.all.pending, totals.known);

  const bySettlement = { done: 0, failed: 0, skipped: 0 };
  for (const [reason, count] of Object.entries(totals.outcomes)) {
    bySettlement[settlementOf(reason as Reason)] += count;
    expect("outcomes", reason, rows.outcomes.get(reason) ?? 0, count);
  }
  for (const reason of rows.outcomes.keys()) {
    if (totals.outcomes[reason] === undefined) expect("outcomes", reason, 1, 0);
  }
  for (const settlement of ["done", "failed", "skipped"] as const) {
    expect("outcomes", settlement, bySettlement[settlement], totals[settlement]);
  }
  for (const site of books.sites()) {
    const counted = rows.bySite.get(site.id) ?? emptyCount();
    expect("sites", `${site.key} known`, counted.known, site.known);
    expect("sites", `${site.key} pending`, counted.pending, site.pending);
    expect("sites", `${site.key} pages`, counted.pages, site.pages);
  }
  return violations;
}

/**
 * Compares a finished crawl of the whole world with its ground truth: missing pages, wrong outcomes, wrong bodies.
 *
 * @example
 * import { type Books, checkTruth, type World } from "weir/lab";
 *
 * export const isComplete = (books: Books, world: World): boolean => checkTruth(books, world).length === 0;
 */
export function checkTruth(books: Books, world: World): Violation[] {
  const byUrl = new Map<string, StoredUrl>();
  for (const row of books.urls()) byUrl.set(row.url, row);
  const violations: Violation[] = [];
  for (const truth of groundTruth(world)) {
    const violation = compare(books, world, truth, byUrl.get(truth.url));
    if (violation !== undefined) violations.push(violation);
  }
  return violations;
}

function compare(
  books: Books,
  world: World,
  truth: TruePage,
  row: StoredUrl | undefined,
): Violation | undefined {
  // The crawler may record a forbidden URL as skipped, or not admit it at all.
  if (row === undefined) {
    return truth.fate === "forbidden" ? undefined : { rule: "missing", detail: truth.url };
  }
  if (!isRightEnd(truth.fate, row.reason)) {
    const detail = `${truth.url} is ${truth.fate}, not ${row.reason ?? "waiting"}`;
    return { rule: "wrong-end", detail };
  }
  if (truth.fate !== "stored") return undefined;
  const stored = books.page(row.id);
  const same = stored !== undefined && Buffer.compare(stored.digest, digestOf(world, truth)) === 0;
  return same ? undefined : { rule: "wrong-content", detail: truth.url };
}

function isRightEnd(fate: Fate, reason: Reason | undefined): boolean {
  if (reason === undefined) return false;
  if (fate === "stored") return reason === "ok" || reason === "not_modified";
  if (fate === "redirected") return reason === "redirect";
  if (fate === "forbidden") return reason === "robots_denied";
  return /^http_[45]/.test(reason);
}

interface Rows {
  readonly all: Count;
  readonly bySite: ReadonlyMap<number, Count>;
  readonly outcomes: ReadonlyMap<string, number>;
}

function readRows(books: Books, violations: Violation[]): Rows {
  const all = emptyCount();
  const bySite = new Map<number, Count>();
  const outcomes = new Map<string, number>();
  const urls = new Set<string>();
  for (const row of books.urls()) {
    if (urls.has(row.url)) violations.push({ rule: "url-twice", detail: row.url });
    urls.add(row.url);
    const ofSite = bySite.get(row.siteId) ?? emptyCount();
    bySite.set(row.siteId, ofSite);
    const page = books.page(row.id) === undefined ? 0 : 1;
    for (const count of [all, ofSite]) {
      count.known++;
      count.pages += page;
      if (row.reason === undefined) count.pending++;
    }
    if (row.reason !== undefined) outcomes.set(row.reason, (outcomes.get(row.reason) ?? 0) + 1);
  }
  return { all, bySite, outcomes };
}

function emptyCount(): Count {
  return { known: 0, pending: 0, pages: 0 };
}
