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
import { joinStores } from "../store/joined-view.ts";

export function judgeTeam(report: TeamReport): Violation[] {
  const { books, archived, log, settings, world, disturbedAtMs } = report;
  const together = joinStores(books.map((store, index) => ({ name: String(index + 1), store })));
  return [
    ...books.flatMap((one) => checkAccounts(one)),
    ...checkAccounts(together),
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
