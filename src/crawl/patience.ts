/**
 * How long a crawl waits when all that is left is with sites that cannot be reached: `--patience`, counted
 * from the last URL that had a definitive response, of whatever site.
 */

import type { Clock } from "../base/clock.ts";
import type { Settings } from "../config/schema.ts";
import type { Batch } from "./batch.ts";
import type { Promised } from "./deadlines/deadlines.ts";
import type { Roster } from "./sites.ts";
import type { Tally } from "./counters.ts";
import type { Unreachable } from "./unreachable.ts";

export interface PatienceParts {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly roster: Roster;
  readonly batch: Batch;
  readonly tally: Tally;
  readonly promised: Promised;
  readonly unreachable: Unreachable;
}

/** Longer than a reboot, or than a short loss of the own link. */
const PATIENCE_MS = 15 * 60_000;

export class Patience {
  readonly #parts: PatienceParts;
  #sinceMs: number;

  constructor(parts: PatienceParts) {
    this.#parts = parts;
    this.#sinceMs = parts.clock.nowMs();
  }

  /** A URL has ended or was charged for a failure of its own, or the crawl may go on after a pause. */
  renew(): void {
    this.#sinceMs = this.#parts.clock.nowMs();
  }

  /** When it ends, unless a site responds before. Without the setting, not before an open deadline. */
  get endsAtMs(): number {
    const { settings, promised, roster, clock } = this.#parts;
    if (settings.patienceMs !== undefined) return this.#sinceMs + settings.patienceMs;
    const nowMs = clock.nowMs();
    let endsAtMs = this.#sinceMs + PATIENCE_MS;
    for (const site of roster.inMemory())
      if (site.pending > 0)
        endsAtMs = Math.max(endsAtMs, nowMs + (promised.deadlineInMs(site) ?? 0));
    return endsAtMs;
  }

  get isOver(): boolean {
    const { settings, clock } = this.#parts;
    // Cheap, because it is asked ten times a second: the rest is looked at only when it may be over.
    if (clock.nowMs() < this.#sinceMs + (settings.patienceMs ?? PATIENCE_MS)) return false;
    return clock.nowMs() >= this.endsAtMs && this.waits;
  }

  /** Whether everything that is left is with sites that cannot be reached. */
  get waits(): boolean {
    const { roster, batch, tally, unreachable } = this.#parts;
    if (unreachable.size === 0 || tally.pending === 0 || !batch.isEmpty) return false;
    for (const { key, awake, isOpening, uses } of roster.inMemory())
      if ((awake || isOpening || uses > 0) && !unreachable.has(key)) return false;
    return true;
  }
}

/** Why a crawl ends that has run out of patience. */
export function couldNotBeReached(sites: number): string {
  return sites === 1 ? "1 site could not be reached" : `${sites} sites could not be reached`;
}
