/**
 * Finds hosts that take too much of a crawl: more than 0.2 % of the pages of the last hour in X4, where the URLs of
 * such hosts are deferred and others go first.
 *
 * The hour is twelve parts of five minutes; a new part replaces the oldest. Each part counts hosts by the rule of
 * Misra and Gries (1982): when the table is full, a new host decreases all counts by one. So a part never holds
 * more than 4,096 hosts, and a count is too low by at most 1/4,096 of the part's pages: a tenth of the share that
 * matters. A host is over its share only after a minimum of pages. Its URLs are still fetched if there are no others.
 */

import { assert } from "../base/assert.ts";

const SHARE_OF_THE_PAPER = 0.002;
const PARTS = 12;
const PART_MS = 300_000;
const HOSTS_PER_PART_MAX = 4096;
/** Below this many pages in the last hour a host is never over its share. */
const PAGES_MIN = 5;

interface Part {
  /** Index of these five minutes, counted from 1970. */
  number: number;
  events: number;
  readonly counts: Map<string, number>;
}

export class HostShare {
  readonly #shareMax: number;
  readonly #parts: Part[] = Array.from({ length: PARTS }, () => ({
    number: -1,
    events: 0,
    counts: new Map<string, number>(),
  }));

  constructor(shareMax: number = SHARE_OF_THE_PAPER) {
    assert(shareMax > 0 && shareMax <= 1, "a share is above 0 and at most 1");
    this.#shareMax = shareMax;
  }

  /** Counts one page of a host. */
  count(host: string, nowMs: number): void {
    const part = this.#partAt(nowMs);
    part.events += 1;
    const before = part.counts.get(host);
    if (before !== undefined) part.counts.set(host, before + 1);
    else if (part.counts.size < HOSTS_PER_PART_MAX) part.counts.set(host, 1);
    else countDown(part.counts);
  }

  /** True if this host has more than its share of the pages of the last hour. */
  isOver(host: string, nowMs: number): boolean {
    const newest = Math.floor(nowMs / PART_MS);
    let events = 0;
    let own = 0;
    for (const part of this.#parts) {
      if (part.number <= newest - PARTS || part.number > newest) continue;
      events += part.events;
      own += part.counts.get(host) ?? 0;
    }
    return own >= PAGES_MIN && own > this.#shareMax * events;
  }

  #partAt(nowMs: number): Part {
    const number = Math.floor(nowMs / PART_MS);
    const part = this.#parts[number % PARTS] as Part;
    if (part.number !== number) {
      part.number = number;
      part.events = 0;
      part.counts.clear();
    }
    return part;
  }
}

function countDown(counts: Map<string, number>): void {
  for (const [host, count] of counts) {
    if (count === 1) counts.delete(host);
    else counts.set(host, count - 1);
  }
}
