/**
 * How long a crawl waits when all that is left is with sites that cannot be reached: `--patience`, counted
 * from the last URL that had a definitive response, of whatever site.
 */

import type { CrawlContext } from "../context.ts";
import type { Deadlines } from "./deadlines.ts";

/** Longer than a reboot, or than a short loss of the own link. */
const PATIENCE_MS = 15 * 60_000;

export class Patience {
  readonly #context: CrawlContext;
  readonly #deadlines: Deadlines;
  #sinceMs: number;

  constructor(context: CrawlContext, deadlines: Deadlines) {
    this.#context = context;
    this.#deadlines = deadlines;
    this.#sinceMs = context.clock.nowMs();
  }

  /** A URL has ended or was charged for a failure of its own, or the crawl may go on after a pause. */
  renew(): void {
    this.#sinceMs = this.#context.clock.nowMs();
  }

  /** When it ends, unless a site responds before. Without the setting, not before an open deadline. */
  get endsAtMs(): number {
    const { settings, sites, clock } = this.#context;
    if (settings.patienceMs !== undefined) return this.#sinceMs + settings.patienceMs;
    const nowMs = clock.nowMs();
    let endsAtMs = this.#sinceMs + PATIENCE_MS;
    for (const site of sites.inMemory())
      if (site.pending > 0)
        endsAtMs = Math.max(endsAtMs, nowMs + (this.#deadlines.deadlineInMs(site) ?? 0));
    return endsAtMs;
  }

  get isOver(): boolean {
    const { settings, clock } = this.#context;
    // Cheap, because it is asked ten times a second: the rest is looked at only when it may be over.
    if (clock.nowMs() < this.#sinceMs + (settings.patienceMs ?? PATIENCE_MS)) return false;
    return clock.nowMs() >= this.endsAtMs && this.waits;
  }

  /** Whether everything that is left is with sites that cannot be reached. */
  get waits(): boolean {
    const { sites, batch, counters } = this.#context;
    if (sites.outages.size === 0 || counters.pending === 0 || !batch.isEmpty) return false;
    for (const { key, awake, isOpening, uses } of sites.inMemory())
      if ((awake || isOpening || uses > 0) && !sites.outages.has(key)) return false;
    return true;
  }
}
