/** The one place where a URL ends: in the batch, the sums, its site and the workbench, together. */

import type { Clock } from "../base/clock.ts";
import type { Workbench } from "../frontier/workbench.ts";
import type { Reason } from "../page/outcome.ts";
import { isOwnedElsewhere, settlementOf } from "../page/outcome.ts";
import type { WaitingUrl } from "../store/store.ts";
import { writtenOf } from "../url/url.ts";
import type { Job } from "./job.ts";
import type { Batch } from "./batch.ts";
import type { Roster, Site } from "./sites.ts";
import type { RefusedSeeds, Trouble } from "../control/snapshot.ts";
import type { Tally } from "./counters.ts";
import { noteVisit } from "./visits.ts";

const TROUBLES_KEPT = 20;
const REFUSED_SEEDS_KEPT = 10;

export interface SettlerParts {
  readonly clock: Clock;
  readonly batch: Batch;
  readonly tally: Tally;
  readonly roster: Roster;
  readonly workbench: Workbench<Job>;
  /** Nothing of the site waits any more. */
  readonly onSiteDone: () => void;
  readonly onSettled: (url: string, reason: Reason, detail: string) => void;
}

export class Settler {
  readonly #parts: SettlerParts;
  readonly #troubles: Trouble[] = [];
  readonly #refusedSeeds: Trouble[] = [];
  #refusedSeedCount = 0;

  constructor(parts: SettlerParts) {
    this.#parts = parts;
  }

  get troubles(): readonly Trouble[] {
    return this.#troubles;
  }

  /** Seeds, and targets of their redirects, that a rule refused after they were admitted. */
  get refusedSeeds(): RefusedSeeds {
    return { count: this.#refusedSeedCount, first: this.#refusedSeeds };
  }

  settle(site: Site, row: WaitingUrl, reason: Reason, detail = ""): void {
    const { clock, batch, tally, roster, workbench, onSiteDone, onSettled } = this.#parts;
    batch.endUrl(site.id, { id: row.id, reason, attempts: row.attempts });
    tally.settled(reason);
    // Of pages it was noted together with what they brought.
    if (reason !== "ok" && reason !== "not_modified")
      noteVisit(this.#parts, site, { id: row.id, reason, hasChanged: undefined });
    site.trials.delete(row.id);
    site.pending -= 1;
    if (site.pending === 0) {
      site.finishedAtMs = clock.nowMs();
      onSiteDone();
    }
    roster.changed(site);
    workbench.release(site.id, row.id);
    const settlement = settlementOf(reason);
    const url = writtenOf(row);
    if (settlement === "failed") this.#remember({ url, reason, detail });
    if (settlement === "skipped" && row.depth === 0 && !isOwnedElsewhere(reason))
      this.#refuseSeed({ url, reason, detail });
    onSettled(url, reason, detail);
  }

  #refuseSeed(trouble: Trouble): void {
    this.#refusedSeedCount += 1;
    if (this.#refusedSeeds.length < REFUSED_SEEDS_KEPT) this.#refusedSeeds.push(trouble);
  }

  #remember(trouble: Trouble): void {
    this.#troubles.push(trouble);
    if (this.#troubles.length > TROUBLES_KEPT) this.#troubles.shift();
  }
}
