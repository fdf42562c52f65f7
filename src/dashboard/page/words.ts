/** Numbers and states for users; needs no document. */

import { showBytes, showDuration, showSlowed } from "../../base/units.ts";
import type { SiteLine } from "../shapes.ts";

export { plural, showBytes, showCount, showDuration, showPace } from "../../base/units.ts";

export function showRate(rateBps: number): string {
  return `${showBytes(rateBps)}/s`;
}

export function showPercent(share: number): string {
  const percent = 100 * share;
  return `${percent > 0 && percent < 9.95 ? percent.toFixed(1) : Math.round(percent)}\u202f%`;
}

/** A time of day in the reader's time zone. */
export function showClock(atMs: number): string {
  return new Date(atMs).toLocaleTimeString([], { hour12: false });
}

export function showMoment(atMs: number): string {
  return new Date(atMs).toLocaleString([], { hour12: false });
}

export function withoutScheme(site: string): string {
  return site.replace(/^https?:\/\//, "");
}

/** Ended URLs of a site, as a share of all known ones. */
export function shareDone({
  known,
  pending,
}: {
  readonly known: number;
  readonly pending: number;
}): number {
  return known === 0 ? 0 : (known - pending) / known;
}

export type Mood = "good" | "calm" | "late" | "held";

/** The state of a site's deadline, in words. */
export function promiseOf(live: SiteLine["live"]): { readonly words: string; readonly mood: Mood } {
  if (live?.deadlineMs === undefined) return { words: "", mood: "calm" };
  const { deadlineMs, finishedMs, forecast } = live;
  if (finishedMs !== undefined) {
    const isMet = finishedMs <= deadlineMs;
    const apart = showDuration(Math.abs(deadlineMs - finishedMs));
    const words = isMet ? `met, ${apart} to spare` : `missed by ${apart}`;
    return { words, mood: isMet ? "good" : "late" };
  }
  if (forecast?.deadlineInMs === undefined)
    return { words: `due after ${showDuration(deadlineMs)}`, mood: "calm" };
  const { deadlineInMs, finishInMs, isLate } = forecast;
  if (isLate) {
    const lateMs = Math.max(0, finishInMs - deadlineInMs);
    return { words: `late by ${showDuration(lateMs)}`, mood: "late" };
  }
  return { words: `due in ${showDuration(Math.max(0, deadlineInMs))}`, mood: "good" };
}

/** The state of a site, in words. */
export function stateOf({ live, pending }: SiteLine): {
  readonly words: string;
  readonly mood: Mood;
} {
  if (pending === 0) return { words: "done", mood: "calm" };
  if (live === undefined) return { words: "waiting", mood: "calm" };
  const wait = live.nextInMs >= 100 ? ` ${showDuration(live.nextInMs)}` : "";
  const isPaused = ["back-off", "unreachable", "robots"].includes(live.state);
  if (live.slowed !== undefined && !isPaused)
    return { words: showSlowed(live.slowed), mood: "held" };
  switch (live.state) {
    case "fetching":
      return { words: live.inFlight > 1 ? `fetching ${live.inFlight}` : "fetching", mood: "good" };
    case "polite delay":
      return { words: `polite delay${wait}`, mood: "calm" };
    case "back-off":
      return { words: `back-off${wait}`, mood: "held" };
    case "unreachable":
      return { words: `unreachable, probed${wait === "" ? " now" : ` in${wait}`}`, mood: "late" };
    case "locating":
      return { words: "resolving its name", mood: "held" };
    case "robots":
      return { words: "reading robots.txt", mood: "held" };
    case "opening":
      return { words: "choosing pages to recrawl", mood: "calm" };
    case "ready":
      return { words: "ready", mood: "calm" };
    default:
      return { words: "waiting", mood: "calm" };
  }
}
