/**
 * All checkers on a finished crawl of several processes: what servers saw of all of them together, each
 * store by itself, and all stores as one.
 */

import { checkAccounts, checkTruth } from "./checkers/accounts.ts";
import { checkArchive } from "./checkers/archive.ts";
import { checkOnce } from "./checkers/once.ts";
import { checkPoliteness } from "./checkers/politeness.ts";
import type { Violation } from "./checkers/violation.ts";
import { mannersOf } from "./judge.ts";
import type { TeamReport } from "./run-team.ts";
import type { PageRecord } from "../page/page.ts";
import { NO_TOTALS, type Store, type StoredUrl } from "../store/store.ts";

export function judgeTeam(report: TeamReport): Violation[] {
  const { books, archived, log, settings, world, disturbedAtMs } = report;
  const together = asOne(books);
  return [
    ...books.flatMap((one) => checkAccounts(one)),
    ...books.flatMap((one, index) => checkArchive(one, ({ offset }) => archived[index]?.[offset])),
    ...checkPoliteness(log, mannersOf({ world, settings, toleranceMs: 0 })),
    ...checkTruth(together, world),
    ...checkOnce({
      log,
      stored: archived.flat(),
      crashedAtMs: disturbedAtMs,
      uncommittedMax: 3 * settings.connectionsMax,
      mayRepeat: (path) => path === "/robots.txt" || path.startsWith("/sitemap"),
    }),
  ];
}

/** All stores as the books of one crawl: of a URL that several know, the row of who dealt with it. */
function asOne(books: readonly Store[]): Pick<Store, "totals" | "urls" | "sites" | "page"> {
  const rows = new Map<string, StoredUrl>();
  const pages = new Map<number, PageRecord>();
  for (const one of books)
    for (const row of one.urls()) {
      const isMirror = row.reason === "sent" || row.reason === "elsewhere";
      if (isMirror || row.reason === "moved_away") continue;
      const id = rows.size + 1;
      if (rows.has(row.url)) continue;
      rows.set(row.url, { ...row, id });
      const page = one.page(row.id);
      if (page !== undefined) pages.set(id, page);
    }
  return {
    totals: NO_TOTALS,
    urls: () => rows.values(),
    sites: () => [],
    page: (id) => pages.get(id),
  };
}
