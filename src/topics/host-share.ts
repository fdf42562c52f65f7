/**
 * Notices hosts that take too much of a crawl: more than 0.2 % of what was done in the last hour, in X4,
 * whereupon their URLs are put back and others go first.
 *
 * The hour is twelve parts of five minutes; the oldest is forgotten as a new one begins. Each part counts hosts
 * by Misra and Gries's rule (1982): when there is no room for another host, all are counted down by one. So a part
 * never holds more than 4,096 hosts, and a count is too low by at most a 4,096th of what happened in it: a
 * tenth of the share that matters. It speaks only when enough has happened for the share to mean more than a few
 * pages. Whoever asks goes on with such a host all the same when there is no other.
 */

import { assert } from "../base/assert.ts";

export const SHARE_OF_THE_PAPER = 0.002;
const PARTS = 12;
const PART_MS = 300_000;
const HOSTS_PER_PART_MAX = 4096;
/** A host has to have this many pages at least before anybody minds. */
const PAGES_MIN = 5;

interface Part {
  /** Which five minutes, counted from 1970. */
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
  note(host: string, nowMs: number): void {
    const part = this.#partAt(nowMs);
    part.events += 1;
    const count = part.counts.get(host);
    if (count !== undefined) part.counts.set(host, count + 1);
    else if (part.counts.size < HOSTS_PER_PART_MAX) part.counts.set(host, 1);
    else countDown(part.counts);
  }

  /** Whether this host took more than its share of the last hour. */
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
