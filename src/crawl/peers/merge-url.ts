/**
 * Meets a URL again that is known here, and that another process tells of.
 *
 * It may have been sent away when it was another's and be ours now: then it waits here again. It may
 * wait here and have been dealt with elsewhere, before its part of the web became ours: then it ends.
 */

import type { Visits } from "../../page/visits.ts";
import type { Store, StoredUrl } from "../../store/store.ts";
import type { FoundUrl } from "./route-links.ts";
import type { Batch } from "../batch.ts";
import type { Refill } from "../queue.ts";
import type { Roster, Site } from "../sites.ts";
import type { Settler } from "../end-url.ts";
import { siteOf } from "../../url/site.ts";
import type { Tally } from "../counters.ts";

export interface ReunionParts {
  readonly store: Store;
  readonly batch: Batch;
  readonly roster: Roster;
  readonly tally: Tally;
  readonly refill: Refill;
  readonly settler: Settler;
  readonly countsBacklinks: boolean;
  readonly isUnderWay: (urlId: number) => boolean;
}

export class Reunion {
  readonly #parts: ReunionParts;

  constructor(parts: ReunionParts) {
    this.#parts = parts;
  }

  /** To be called for what is ours. */
  meet(id: number, found: FoundUrl): void {
    const { batch, roster } = this.#parts;
    const known = batch.url(id);
    if (known === undefined) return;
    const site = roster.of(siteOf(known.url));
    const { reason } = known;
    if (reason === undefined) this.#whileWaiting(site, known, found);
    else if (found.state === "counted") return;
    else if (reason === "sent" || reason === "moved_away") {
      this.#reopen(site, known, reason);
      // Known as ended from now on, and not only as told: whoever gets it next is told so, too.
      if (found.state === "ended") this.#whileWaiting(site, known, found);
    }
  }

  #whileWaiting(site: Site, known: StoredUrl, { state, links }: FoundUrl): void {
    const { batch, settler, countsBacklinks, isUnderWay, refill } = this.#parts;
    if (state === "ended" && !isUnderWay(known.id)) {
      refill.withdraw(site, known.id);
      settler.settle(site, { ...known, etag: "", lastModified: "" }, "elsewhere");
      refill.sleepIfDone(site);
    } else if (countsBacklinks) batch.setScore(known.id, known.score + links);
  }

  /** Its page is ours after all, and will be sent again: until then it waits. */
  reopen(known: StoredUrl): void {
    const { roster } = this.#parts;
    if (known.reason !== undefined) this.#reopen(roster.of(siteOf(known.url)), known, known.reason);
  }

  #reopen(site: Site, { id, score }: StoredUrl, reason: Visits["was"]): void {
    const { batch, tally, roster, refill } = this.#parts;
    const visits = { checks: 0, changes: 0, watchedMs: 0, lastAtMs: 0, was: reason };
    batch.reopenUrl(site.id, { id, score, visits });
    tally.reopened(reason);
    site.pending += 1;
    site.finishedAtMs = undefined;
    roster.changed(site);
    refill.reopened(site);
  }
}
