/**
 * Judges that the archive holds what the store says it holds: a page's place has that page's record.
 *
 * Rules: `archive` (another record, or none, is at the place), `unarchived` (a page has no place).
 */

import type { ArchivePlace } from "../../page/page.ts";
import type { Books } from "./accounts.ts";
import type { Violation } from "./violation.ts";

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
      const found = urlAt(page.archived) ?? "nothing";
      violations.push({ rule: "archive", detail: `${url}: ${found} is in its place` });
    }
  }
  return violations;
}
