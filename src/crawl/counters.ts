/**
 * The sums of the whole crawl, current after every change: invariant 4, known = done + failed + skipped + pending,
 * holds after each call.
 */

import { Books, Ledger } from "../bandwidth/history/ledger.ts";
import { assert } from "../base/assert.ts";
import type { RefusedSeeds, Trouble } from "../control/snapshot.ts";
import { type Reason, settlementOf } from "../page/outcome.ts";
import type { PageRecord } from "../page/page.ts";
import type { Totals } from "../store/store.ts";

const FAILURES_KEPT = 20;
const REFUSED_SEEDS_KEPT = 10;

export class Counters {
  /** Received bytes by purpose; updated together with the books of the site. */
  readonly ledger: Ledger;
  /** Returns the usage that counts towards the quota, for the next commit. */
  usage: () => string;
  /** URLs that ended in the last seconds. */
  readonly pace = new Pace();
  readonly #failures: Trouble[] = [];
  readonly #refusedSeeds: Trouble[] = [];
  #refusedSeedCount = 0;
  #known: number;
  #done: number;
  #failed: number;
  #skipped: number;
  #pages: number;
  #pagesRecrawled: number | undefined;
  #duplicatesExact: number;
  #duplicatesNear: number;
  readonly #crawledBeforeMs: number;
  readonly #outcomes: Map<string, number>;
  readonly #refusedLinks: Map<string, number>;
  readonly #remarks: Map<string, number>;

  constructor(totals: Totals) {
    this.#known = totals.known;
    this.#done = totals.done;
    this.#failed = totals.failed;
    this.#skipped = totals.skipped;
    this.#pages = totals.pages;
    this.#pagesRecrawled = totals.pagesRecrawled;
    this.ledger = new Ledger(Books.restore(totals));
    // A store of an earlier version has no usage.
    this.usage = () => totals.usage ?? "";
    this.#duplicatesExact = totals.duplicatesExact;
    this.#duplicatesNear = totals.duplicatesNear;
    this.#crawledBeforeMs = totals.crawledMs;
    this.#outcomes = new Map(Object.entries(totals.outcomes));
    this.#refusedLinks = new Map(Object.entries(totals.refusedLinks));
    this.#remarks = new Map(Object.entries(totals.remarks));
  }

  get pending(): number {
    return this.#known - this.#done - this.#failed - this.#skipped;
  }

  /** Pages that count towards --pages: those of the current recrawl, or all before the first. */
  get pagesCounted(): number {
    return this.#pagesRecrawled ?? this.#pages;
  }

  get known(): number {
    return this.#known;
  }

  /** URLs that have ended in this way. */
  outcome(reason: Reason): number {
    return this.#outcomes.get(reason) ?? 0;
  }

  /** The last failures, newest last. */
  get failures(): readonly Trouble[] {
    return this.#failures;
  }

  /** Seeds, and targets of their redirects, that a rule refused after they were admitted. */
  get refusedSeeds(): RefusedSeeds {
    return { count: this.#refusedSeedCount, first: this.#refusedSeeds };
  }

  failed(failure: Trouble): void {
    this.#failures.push(failure);
    if (this.#failures.length > FAILURES_KEPT) this.#failures.shift();
  }

  seedRefused(seed: Trouble): void {
    this.#refusedSeedCount += 1;
    if (this.#refusedSeeds.length < REFUSED_SEEDS_KEPT) this.#refusedSeeds.push(seed);
  }

  found(): void {
    this.#known += 1;
  }

  settled(reason: Reason): void {
    const settlement = settlementOf(reason);
    if (settlement === "done") this.#done += 1;
    else if (settlement === "failed") this.#failed += 1;
    else this.#skipped += 1;
    increase(this.#outcomes, reason);
    assert(this.pending >= 0, "invariant 4: no more URLs end than are known");
  }

  /** A URL that had ended waits again. */
  reopened(reason: Reason): void {
    const settlement = settlementOf(reason);
    if (settlement === "done") this.#done -= 1;
    else if (settlement === "failed") this.#failed -= 1;
    else this.#skipped -= 1;
    decrease(this.#outcomes, reason);
  }

  recrawlBegins(): void {
    this.#pagesRecrawled = 0;
  }

  /** The server has answered that a page has not changed. */
  confirmed(): void {
    if (this.#pagesRecrawled !== undefined) this.#pagesRecrawled += 1;
  }

  /** `earlier` is the record of an earlier round, which is replaced. */
  stored(page: PageRecord, earlier: PageRecord | undefined): void {
    if (earlier === undefined) this.#pages += 1;
    else this.#count(earlier, -1);
    this.#count(page, 1);
    if (this.#pagesRecrawled !== undefined) this.#pagesRecrawled += 1;
  }

  /** The rules are a closed list, so this cannot grow with the web. */
  refused(rule: string, count = 1): void {
    if (count > 0) increase(this.#refusedLinks, rule, count);
  }

  #count(page: PageRecord, by: 1 | -1): void {
    if (page.likeness?.kind === "exact") this.#duplicatesExact += by;
    if (page.likeness?.kind === "near") this.#duplicatesNear += by;
    for (const remark of page.remarks) {
      if (by > 0) increase(this.#remarks, remark);
      else decrease(this.#remarks, remark);
    }
  }

  totals(elapsedMs: number): Totals {
    return {
      known: this.#known,
      done: this.#done,
      failed: this.#failed,
      skipped: this.#skipped,
      pages: this.#pages,
      pagesRecrawled: this.#pagesRecrawled,
      ...this.ledger.stored(),
      crawledMs: this.#crawledBeforeMs + elapsedMs,
      usage: this.usage(),
      duplicatesExact: this.#duplicatesExact,
      duplicatesNear: this.#duplicatesNear,
      outcomes: Object.fromEntries(this.#outcomes),
      refusedLinks: Object.fromEntries(this.#refusedLinks),
      remarks: Object.fromEntries(this.#remarks),
    };
  }
}

/** Zero is not listed. */
function decrease(counts: Map<string, number>, key: string): void {
  const left = (counts.get(key) ?? 0) - 1;
  assert(left >= 0, "only what was counted is taken back");
  if (left === 0) counts.delete(key);
  else counts.set(key, left);
}

function increase(counts: Map<string, number>, key: string, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

const KEPT_SECONDS = 64;

/** URLs that ended in each of the last seconds, to estimate the time for the rest. */
export class Pace {
  readonly #counts = new Uint32Array(KEPT_SECONDS);
  readonly #seconds = new Float64Array(KEPT_SECONDS).fill(-1);
  #firstMs: number | undefined;

  count(nowMs: number): void {
    this.#firstMs ??= nowMs;
    const second = Math.floor(nowMs / 1000);
    const slot = second % KEPT_SECONDS;
    if (this.#seconds[slot] !== second) {
      this.#seconds[slot] = second;
      this.#counts[slot] = 0;
    }
    this.#counts[slot] = (this.#counts[slot] as number) + 1;
  }

  /** The mean over the last `seconds`, or since the first URL ended. */
  perSecond(nowMs: number, seconds: number): number {
    if (this.#firstMs === undefined || nowMs <= this.#firstMs) return 0;
    const present = Math.floor(nowMs / 1000);
    let sum = 0;
    for (let second = present - seconds; second <= present; second++) {
      const slot = ((second % KEPT_SECONDS) + KEPT_SECONDS) % KEPT_SECONDS;
      if (this.#seconds[slot] === second) sum += this.#counts[slot] as number;
    }
    const windowMs = nowMs - Math.max(this.#firstMs, (present - seconds) * 1000);
    return sum / Math.max(0.1, windowMs / 1000);
  }
}
