/**
 * What an operator can change of a crawl by several processes while it runs, and the limit in force for all together.
 *
 * Limit, calendar, quota, pages, pause and stop act here, on what the coordinator shares out. Every process makes the
 * other changes for itself: see `isMadeByEach` in `change-list.ts`.
 */

import type { Calendar } from "../bandwidth/clock/calendar.ts";
import type { Quota } from "../bandwidth/clock/quota.ts";
import type { Clock } from "../base/clock.ts";
import type { Settings } from "../config/schema.ts";
import { Changes, type Changing } from "../control/live-settings.ts";
import type { Coordinator } from "./coordinator.ts";
import { SharedLimit } from "./shared-limit.ts";

interface SharedSettingsParts {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly coordinator: () => Coordinator | undefined;
  /** Ends the crawl of all processes. */
  readonly onStop: (why: string) => void;
}

export class SharedSettings implements Changing {
  readonly line: SharedLimit;
  readonly #parts: SharedSettingsParts;
  readonly #changes: Changes;
  readonly #holds = new Set<string>();
  #inForceBps: number | undefined;

  constructor(parts: SharedSettingsParts) {
    this.#parts = parts;
    this.line = new SharedLimit(parts.clock, parts.settings);
    this.#changes = new Changes(this, parts.settings);
  }

  /** 0 while nothing may be fetched; undefined for no limit. */
  get limitBps(): number | undefined {
    return this.#inForceBps;
  }

  /** Why all processes are paused; empty when they are not. */
  get because(): string {
    return [...this.#holds].join("; ");
  }

  /** Takes a new coordinator into use. */
  attach(): void {
    for (const why of this.#holds) this.#parts.coordinator()?.hold(why, true);
  }

  /** Throws what a person can read when the key or the value is none. */
  apply(key: string, value: string): string {
    return this.#changes.apply(key, value);
  }

  /** Puts the limit of this moment in force. */
  look(): void {
    const limitBps = this.line.agreedBps();
    if (limitBps === this.#inForceBps) return;
    const isNothing = limitBps === 0;
    if (isNothing !== (this.#inForceBps === 0))
      this.hold("the calendar allows nothing now", isNothing);
    this.#inForceBps = limitBps;
    const nowMs = this.#parts.clock.nowMs();
    this.line.meter.setLimit(nowMs, isNothing ? undefined : limitBps);
    if (!isNothing) this.#parts.coordinator()?.setLimit(limitBps);
  }

  hold(why: string, isHeld: boolean): void {
    if (isHeld) this.#holds.add(why);
    else this.#holds.delete(why);
    this.#parts.coordinator()?.hold(why, isHeld);
  }

  stop(why: string): void {
    this.#parts.onStop(why);
  }

  setLimit(limitBps: number | undefined): void {
    this.line.limitBps = limitBps;
    this.line.calendar = undefined;
    this.look();
  }

  setCalendar(calendar: Calendar | undefined): void {
    this.line.calendar = calendar;
    this.look();
  }

  setQuota(quota: Quota | undefined): void {
    this.line.quota = quota;
  }

  setPages(pagesMax: number): void {
    this.#parts.coordinator()?.setPages(pagesMax);
  }

  // Every process makes these changes for itself.
  setConnections(): void {}
  setDelay(): void {}
  setSiteLimit(): void {}
  setDeadline(): void {}
  setPriority(): void {}
}
