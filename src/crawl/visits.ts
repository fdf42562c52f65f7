/** Notes how a URL ended that was asked for in an earlier round too, and what is news of its site. */

import type { Clock } from "../base/clock.ts";
import { isGone, visitsAfter } from "../frontier/revisit.ts";
import type { Reason } from "../page/outcome.ts";
import type { Batch } from "./batch.ts";
import type { Site } from "./sites.ts";

export interface VisitParts {
  readonly clock: Clock;
  readonly batch: Batch;
}

export interface Visit {
  readonly id: number;
  readonly reason: Reason;
  /** Whether its page is another than the one kept; undefined when it brought none. */
  readonly hasChanged: boolean | undefined;
}

export function noteVisit({ clock, batch }: VisitParts, site: Site, visit: Visit): void {
  const { id, reason, hasChanged } = visit;
  if (site.round.number === 1) return;
  const before = batch.visits(id);
  // Met in this round: there is nothing to compare with.
  if (before === undefined) return;
  const isAnother = hasChanged ?? reason !== before.was;
  batch.setVisits(id, visitsAfter(before, clock.wallMs(), isAnother));
  const { news } = site.round;
  if (hasChanged !== undefined) news[hasChanged ? "changed" : "unchanged"] += 1;
  else if (isGone(reason) && !isGone(before.was)) news.gone += 1;
}
