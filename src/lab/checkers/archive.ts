/**
 * Checks that the archive matches the store: each page's place contains that page's record.
 *
 * Rules: `archive` (the place has a different record or none), `unarchived` (a page has no place).
 */

import type { ArchivePlace } from "../../page/page.ts";
import type { Books } from "./accounts.ts";
import type { Violation } from "../violation.ts";

/**
 * Checks that each stored page has its own record in the archive. `urlAt` reads the URL of the record at a place.
 *
 * @example
 * import { type Books, checkArchive } from "weir/lab";
 *
 * export function faultsIn(books: Books, urls: readonly string[]) {
 *   return checkArchive(books, ({ offset }) => urls[offset]);
 * }
 */
export function checkArchive(
  books: Books,
  urlAt: (place: ArchivePlace) => string | undefined,
): Violation[] {
  const violations: Violation[] = [];
  for (const { id, url } of books.urls()) {
    const page = books.page(id);
    if (page === undefined) continue;
    if (page.archived === undefined) violations.push({ rule: "unarchived", detail: url });
    else if (urlAt(page.archived) !== url) {
      const found = urlAt(page.archived) ?? "no record";
      violations.push({ rule: "archive", detail: `${url}: its place has ${found}` });
    }
  }
  return violations;
}
