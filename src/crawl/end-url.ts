/** The one place where a URL ends: in the batch, the counters, its site and the workbench, in one tick. */

import { isGone, visitsAfter } from "../frontier/revisit.ts";
import { isOwnedElsewhere, type Reason, settlementOf } from "../page/outcome.ts";
import type { WaitingUrl } from "../store/store.ts";
import { writtenOf } from "../url/url.ts";
import type { CrawlContext } from "./context.ts";
import type { Site } from "./site.ts";

/** How a URL ends, and the cause as text. */
export interface UrlEnd {
  readonly reason: Reason;
  readonly detail?: string;
  /** Whether its page differs from the stored one; undefined when there is no page. */
  readonly hasChanged?: boolean | undefined;
}

export function endUrl(context: CrawlContext, site: Site, row: WaitingUrl, end: UrlEnd): void {
  const { clock, batch, counters, workbench, emit } = context;
  const { reason, detail = "" } = end;
  batch.endUrl(site.id, { id: row.id, reason, attempts: row.attempts });
  counters.settled(reason);
  recordVisit(context, site, row.id, end);
  if (site.ended(row.id, clock.nowMs())) emit({ kind: "siteDone", site });
  workbench.release(site.id, row.id);
  const settlement = settlementOf(reason);
  const url = writtenOf(row);
  if (settlement === "failed") counters.failed({ url, reason, detail });
  if (settlement === "skipped" && row.depth === 0 && !isOwnedElsewhere(reason))
    counters.seedRefused({ url, reason, detail });
  counters.pace.count(clock.nowMs());
  emit({ kind: "urlEnded", url, reason, detail });
}

/** Records the visit of a URL that was also requested in an earlier round, and what has changed on its site. */
function recordVisit(
  { clock, batch }: CrawlContext,
  site: Site,
  id: number,
  { reason, hasChanged }: UrlEnd,
): void {
  if (site.round.number === 1) return;
  const before = batch.visits(id);
  // Found in this round: there is no earlier visit to compare with.
  if (before === undefined) return;
  const isAnother = hasChanged ?? reason !== before.was;
  batch.setVisits(id, visitsAfter(before, clock.wallMs(), isAnother));
  if (hasChanged !== undefined) site.countNews(hasChanged ? "changed" : "unchanged");
  else if (isGone(reason) && !isGone(before.was)) site.countNews("gone");
}
