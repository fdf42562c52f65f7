/**
 * The sums of several processes as those of one crawl.
 *
 * A URL that was sent, is dealt with elsewhere or has moved away is known to several and counts with whoever
 * has it; so does one that several fetched, where it is told which of its rows are left out. What came
 * over the line came, and is never taken out: bytes and ledgers are plain sums.
 */

import { OWNED_ELSEWHERE, type Reason, settlementOf } from "../page/outcome.ts";
import type { PageRecord } from "../page/page.ts";
import type { Totals } from "./store.ts";

/** What is not counted, besides URLs that another has. */
export interface LeftOut {
  /** URLs that several have and that are counted where they are listed, by how they ended here. */
  readonly repeats: ReadonlyMap<Reason | undefined, number>;
  /** Pages of URLs left out, whatever for. */
  readonly pages: number;
  readonly duplicatesExact: number;
  readonly duplicatesNear: number;
  readonly remarks: Readonly<Record<string, number>>;
}

export function joinedTotals(all: readonly Totals[], leftOut: readonly LeftOut[] = []): Totals {
  const outcomes = sumOf(all.map((totals) => totals.outcomes));
  const sum = (of: (totals: Totals) => number): number =>
    all.reduce((so, totals) => so + of(totals), 0);
  const less = (of: (out: LeftOut) => number): number =>
    leftOut.reduce((so, out) => so + of(out), 0);
  const ended = { done: 0, failed: 0, skipped: 0 };
  let unlisted = 0;
  const leave = (reason: Reason | undefined, count: number): void => {
    unlisted += count;
    if (reason === undefined) return;
    ended[settlementOf(reason)] += count;
    take(outcomes, reason, count);
  };
  for (const reason of OWNED_ELSEWHERE) leave(reason, outcomes[reason] ?? 0);
  for (const { repeats } of leftOut) for (const [reason, count] of repeats) leave(reason, count);
  const remarks = sumOf(all.map((totals) => totals.remarks));
  for (const out of leftOut)
    for (const [remark, count] of Object.entries(out.remarks)) take(remarks, remark, count);
  return {
    known: sum(({ known }) => known) - unlisted,
    done: sum(({ done }) => done) - ended.done,
    failed: sum(({ failed }) => failed) - ended.failed,
    skipped: sum(({ skipped }) => skipped) - ended.skipped,
    pages: sum(({ pages }) => pages) - less(({ pages }) => pages),
    bytes: sum(({ bytes }) => bytes),
    ledger: sumOf(all.map(({ ledger }) => ledger)),
    // They crawl at the same time.
    crawledMs: Math.max(0, ...all.map(({ crawledMs }) => crawledMs)),
    usage: "",
    duplicatesExact: sum((one) => one.duplicatesExact) - less((out) => out.duplicatesExact),
    duplicatesNear: sum((one) => one.duplicatesNear) - less((out) => out.duplicatesNear),
    outcomes,
    refusedLinks: sumOf(all.map(({ refusedLinks }) => refusedLinks)),
    remarks,
  };
}

/** Counts under the same name added up. */
export function sumOf<Key extends string>(
  all: readonly Readonly<Record<Key, number>>[],
): Record<Key, number> {
  const sum: Partial<Record<string, number>> = {};
  for (const one of all)
    for (const [key, value] of Object.entries<number>(one)) sum[key] = (sum[key] ?? 0) + value;
  return sum as Record<Key, number>;
}

/** What is left out, counted as it is met. */
export class LeftOutCount implements LeftOut {
  readonly repeats = new Map<Reason | undefined, number>();
  pages = 0;
  duplicatesExact = 0;
  duplicatesNear = 0;
  readonly remarks: Record<string, number> = {};

  addRepeat(reason: Reason | undefined): void {
    this.repeats.set(reason, (this.repeats.get(reason) ?? 0) + 1);
  }

  addPage({ likeness, remarks }: PageRecord): void {
    this.pages += 1;
    if (likeness?.kind === "exact") this.duplicatesExact += 1;
    if (likeness?.kind === "near") this.duplicatesNear += 1;
    for (const remark of remarks) this.remarks[remark] = (this.remarks[remark] ?? 0) + 1;
  }
}

/** What there is none of is not listed. */
function take(counts: Record<string, number>, key: string, count: number): void {
  const left = (counts[key] ?? 0) - count;
  if (left > 0) counts[key] = left;
  else delete counts[key];
}
