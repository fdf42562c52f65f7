/**
 * Joins the totals of several processes.
 *
 * A URL that was sent, is handled elsewhere or has moved away counts only at its owner. A URL fetched by several
 * processes counts once, when its unlisted rows are given in `leftOut`. Bytes and ledgers are plain sums, because
 * all of them were received.
 */

import { OWNED_ELSEWHERE, type Reason, settlementOf } from "../../page/outcome.ts";
import type { PageRecord } from "../../page/page.ts";
import type { Totals } from "../store.ts";

/** Rows that are not counted, besides URLs owned by another process. */
interface LeftOut {
  /** Unlisted rows of URLs that several processes have, by outcome. */
  readonly repeats: ReadonlyMap<Reason | undefined, number>;
  /** Pages of all unlisted URLs. */
  readonly pages: number;
  readonly duplicatesExact: number;
  readonly duplicatesNear: number;
  readonly remarks: Readonly<Record<string, number>>;
}

export function joinedTotals(all: readonly Totals[], leftOut: readonly LeftOut[] = []): Totals {
  const outcomes = sumOf(all.map((totals) => totals.outcomes));
  const sum = (of: (totals: Totals) => number): number =>
    all.reduce((total, totals) => total + of(totals), 0);
  const less = (of: (out: LeftOut) => number): number =>
    leftOut.reduce((total, out) => total + of(out), 0);
  const ended = { done: 0, failed: 0, skipped: 0 };
  let unlisted = 0;
  const leaveOut = (reason: Reason | undefined, count: number): void => {
    unlisted += count;
    if (reason === undefined) return;
    ended[settlementOf(reason)] += count;
    subtract(outcomes, reason, count);
  };
  for (const reason of OWNED_ELSEWHERE) leaveOut(reason, outcomes[reason] ?? 0);
  for (const { repeats } of leftOut) for (const [reason, count] of repeats) leaveOut(reason, count);
  const remarks = sumOf(all.map((totals) => totals.remarks));
  for (const out of leftOut)
    for (const [remark, count] of Object.entries(out.remarks)) subtract(remarks, remark, count);
  return {
    known: sum(({ known }) => known) - unlisted,
    done: sum(({ done }) => done) - ended.done,
    failed: sum(({ failed }) => failed) - ended.failed,
    skipped: sum(({ skipped }) => skipped) - ended.skipped,
    pages: sum(({ pages }) => pages) - less(({ pages }) => pages),
    bytes: sum(({ bytes }) => bytes),
    ledger: sumOf(all.map(({ ledger }) => ledger)),
    // The processes crawl concurrently, so times are not added.
    crawledMs: Math.max(0, ...all.map(({ crawledMs }) => crawledMs)),
    usage: "",
    duplicatesExact: sum((one) => one.duplicatesExact) - less((out) => out.duplicatesExact),
    duplicatesNear: sum((one) => one.duplicatesNear) - less((out) => out.duplicatesNear),
    outcomes,
    refusedLinks: sumOf(all.map(({ refusedLinks }) => refusedLinks)),
    remarks,
  };
}

/** Sums of the counts by name. */
export function sumOf<Key extends string>(
  all: readonly Readonly<Record<Key, number>>[],
): Record<Key, number> {
  const sum: Partial<Record<string, number>> = {};
  for (const one of all)
    for (const [key, value] of Object.entries<number>(one)) sum[key] = (sum[key] ?? 0) + value;
  return sum as Record<Key, number>;
}

/** Counts the rows that are left out. */
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

/** Subtracts a count, and removes it at 0. */
function subtract(counts: Record<string, number>, key: string, count: number): void {
  const left = (counts[key] ?? 0) - count;
  if (left > 0) counts[key] = left;
  else delete counts[key];
}
