/**
 * Reports a crawl's progress in lines: for logs, pipes and terminals without a cursor.
 *
 * The first line appears with the first page, to show that the crawl works; then one every few
 * seconds, and none while nothing changes.
 */

import { showBytes, showDuration } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import type { Snapshot } from "../control/snapshot.ts";
import { plural, showCount, showPace, showRate, showRemaining } from "./amounts.ts";
import type { View } from "./view.ts";

const LOOK_MS = 50;
const LINE_EVERY_MS = 5000;

export class PlainView implements View {
  readonly #write: (line: string) => void;
  readonly #snapshot: () => Snapshot;
  readonly #timer: NodeJS.Timeout;
  #nextAtMs = 0;
  #lastCounts = "";
  #lastState: Snapshot["state"] = "running";

  constructor(write: (line: string) => void, snapshot: () => Snapshot) {
    this.#write = write;
    this.#snapshot = snapshot;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  note(line: string): void {
    this.#write(line);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const snapshot = this.#snapshot();
    // That it waits, for a recrawl or for sites to respond, or goes on, is shown at once.
    const hasTurned = isWaiting(snapshot.state) || isWaiting(this.#lastState);
    const isNews = hasTurned && snapshot.state !== this.#lastState;
    if (snapshot.elapsedMs < this.#nextAtMs && !isNews) return;
    const hasBegun = this.#nextAtMs > 0 || snapshot.totals.done + snapshot.totals.failed > 0;
    if (!hasBegun && !isNews) return;
    this.#nextAtMs = snapshot.elapsedMs + LINE_EVERY_MS;
    const counts = plainCounts(snapshot);
    if (counts !== this.#lastCounts || isNews)
      this.#write(`${showDuration(snapshot.elapsedMs)}: ${plainLine(snapshot)}`);
    this.#lastCounts = counts;
    this.#lastState = snapshot.state;
  }
}

function isWaiting(state: Snapshot["state"]): boolean {
  return state === "waiting" || state === "paused";
}

export function plainLine(snapshot: Snapshot): string {
  const rate = showRate(snapshot.rateBps, snapshot.limitBps);
  const pace = `${showPace(snapshot.pagesPerSecond)} pages/s, rate ${rate}`;
  const why = snapshot.because === "" ? "" : ` (${visible(snapshot.because, 120)})`;
  const state = snapshot.state === "running" ? "" : `${snapshot.state}${why}, `;
  const remaining = snapshot.pending > 0 ? showRemaining(snapshot.remainingMs) : "";
  return `${state}${plainCounts(snapshot)}; ${pace}${remaining === "" ? "" : `; ${remaining}`}`;
}

function plainCounts({ totals, pending }: Snapshot): string {
  return [
    plural(totals.pages, "page"),
    showBytes(totals.bytes),
    `${showCount(pending)} waiting`,
    `${showCount(totals.failed)} failed`,
    `${showCount(totals.skipped)} skipped`,
  ].join(", ");
}
