/**
 * All checkers on a finished crawl of several processes: what servers saw of all of them together, each
 * store by itself, and all stores as one.
 */

import { ownsContents } from "../config/parallel-rules.ts";
import { checkAccounts, checkTruth } from "./checkers/accounts.ts";
import { checkArchive } from "./checkers/archive.ts";
import { checkOnce } from "./checkers/once.ts";
import { checkOwnership } from "./checkers/ownership.ts";
import { checkPoliteness } from "./checkers/politeness.ts";
import type { Violation } from "./checkers/violation.ts";
import { mannersOf } from "./judge.ts";
import type { TeamReport } from "./run-team.ts";
import { worldModel } from "./world-model.ts";
import { joinStores } from "../store/joined-view.ts";

export function judgeTeam(report: TeamReport): Violation[] {
  const { books, archived, log, settings, world } = report;
  const together = joinStores(books.map((store, index) => ({ name: String(index + 1), store })));
  const { contents } = report;
  const places = contents && { world, settings, books, model: worldModel(), ...contents };
  return [
    ...(places === undefined ? [] : checkOwnership(places)),
    ...books.flatMap((one) => checkAccounts(one)),
    ...checkAccounts(together),
    ...books.flatMap((one, index) => checkArchive(one, ({ offset }) => archived[index]?.[offset])),
    ...checkPoliteness(log, mannersOf({ world, settings, toleranceMs: 0 })),
    ...checkTruth(together, world),
    ...once(report),
  ];
}

function once(report: TeamReport): Violation[] {
  const { archived, log, settings, disturbedAtMs } = report;
  const rules = {
    crashedAtMs: disturbedAtMs,
    uncommittedMax: 3 * settings.connectionsMax,
    mayRepeat: (path: string) => path === "/robots.txt" || path.startsWith("/sitemap"),
  };
  const stored = archived.flat();
  if (!ownsContents(settings)) return checkOnce({ ...rules, log, stored });
  // Several may find a URL, and fetch it; each of them once.
  const fetched = [...Map.groupBy(log, ({ by }) => by).values()].flatMap((own) =>
    checkOnce({ ...rules, log: own, stored: [] }),
  );
  // Where pages go to their owners one of them has it in the end.
  const isMoved = settings.boundary === "page";
  return [...fetched, ...(isMoved ? checkOnce({ ...rules, log: [], stored }) : [])];
}
