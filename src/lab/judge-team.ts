/**
 * Runs all checkers on a finished crawl of several processes: on the servers' logs of all processes,
 * on each store, and on all stores joined.
 */

import { ownsContents } from "../config/processes.ts";
import { checkAccounts, checkTruth } from "./checkers/accounts.ts";
import { checkArchive } from "./checkers/archive.ts";
import { checkOnce } from "./checkers/once.ts";
import { checkOwnership } from "./checkers/ownership.ts";
import { checkPoliteness } from "./checkers/politeness.ts";
import type { Violation } from "./violation.ts";
import { politenessRulesOf } from "./judge.ts";
import type { TeamReport } from "./run-team.ts";
import { worldModel } from "./world-model.ts";
import { joinStores } from "../store/joined/joined-view.ts";

export function judgeTeam(report: TeamReport): Violation[] {
  const { books, archived, log, settings, world } = report;
  const joined = joinStores(books.map((store, index) => ({ name: String(index + 1), store })));
  const { contents } = report;
  const places = contents && { world, settings, books, model: worldModel(), ...contents };
  return [
    ...(places === undefined ? [] : checkOwnership(places)),
    ...books.flatMap((one) => checkAccounts(one)),
    ...checkAccounts(joined),
    ...books.flatMap((one, index) => checkArchive(one, ({ offset }) => archived[index]?.[offset])),
    ...checkPoliteness(log, politenessRulesOf({ world, settings, toleranceMs: 0 })),
    ...checkTruth(joined, world),
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
  // Several processes may find and fetch a URL, each of them once.
  const fetched = [...Map.groupBy(log, ({ by }) => by).values()].flatMap((own) =>
    checkOnce({ ...rules, log: own, stored: [] }),
  );
  // With the boundary "page", exactly one process stores the page in the end.
  const isMoved = settings.boundary === "page";
  return [...fetched, ...(isMoved ? checkOnce({ ...rules, log: [], stored }) : [])];
}
