/**
 * The gate of the line as it would be if there were no limits: it counts bytes and admits everything.
 *
 * Not part of the program. `bandwidth-price.ts` puts it in the place of `src/crawl/limit/limiter.ts` in a copy of a
 * checkout, so that what being able to limit costs can be measured against the same program without it.
 */

import type { Purpose } from "../src/bandwidth/history/ledger.ts";
import type { Taken } from "../src/frontier/workbench.ts";
import type { OnBytes, Traffic } from "../src/fetch/transport.ts";
import type { Job } from "../src/crawl/job.ts";
import type { Roster, Site } from "../src/crawl/sites.ts";
import type { Counters } from "../src/crawl/counters.ts";

interface Parts {
  readonly roster: Roster;
  readonly tally: Counters;
}

export class Sluice {
  readonly search = undefined;
  readonly isHolding = false;
  readonly isWarm = false;
  readonly orderKept = { begun: 0, overtaken: 0, passedOverMaxMs: 0 };
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  hold(): void {}

  stop(): void {}

  share(): void {}

  wake(): void {}

  goOn(): void {}

  isShut(): boolean {
    return false;
  }

  begin(site: Site, { entry }: Taken<Job>): Passage {
    return new Passage(this, site, entry);
  }

  came({ site, purpose }: Passage, bytes: number): boolean {
    const { tally, roster } = this.#parts;
    tally.ledger.receive(site.books, bytes);
    roster.changed(site);
    if (purpose !== undefined) tally.ledger.book(site.books, bytes, purpose);
    return true;
  }

  end({ site }: Passage, { receivedBytes }: Traffic): void {
    if (receivedBytes > 0) this.#parts.roster.changed(site);
  }
}

export class Passage {
  readonly site: Site;
  readonly job: Job;
  readonly flow = undefined;
  readonly onBytes: OnBytes;
  readonly onLength = undefined;
  readonly #sluice: Sluice;

  constructor(sluice: Sluice, site: Site, job: Job) {
    this.#sluice = sluice;
    this.site = site;
    this.job = job;
    this.onBytes = (bytes) => sluice.came(this, bytes);
  }

  get purpose(): Purpose | undefined {
    return this.job.errand?.kind;
  }

  end(traffic: Traffic): void {
    this.#sluice.end(this, traffic);
  }
}
