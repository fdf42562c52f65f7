/**
 * Changes the settings of a running crawl for `weir set`: reads the value like the setting of that
 * name, applies it, and returns the new state in words.
 *
 * A limit replaces the calendar from now on. A calendar must cover the whole week, or leave its
 * holes to the current limit, as at the start.
 */

import { type Calendar, holesOf } from "../bandwidth/clock/calendar.ts";
import type { Quota } from "../bandwidth/clock/quota.ts";
import { assert, unreachable } from "../base/assert.ts";
import { CrawlError } from "../base/errors.ts";
import { showBytes, showDuration } from "../base/units.ts";
import { calendarMistakes } from "../config/limit.ts";
import { CHANGEABLE, isChangeable, unchangeable } from "../config/changeable.ts";
import type { Field } from "../config/field.ts";
import { readOne } from "../config/resolve.ts";
import type { Settings } from "../config/schema.ts";

/** The changeable parts of a crawl. */
export interface Changing {
  /** Starts no new request while any reason holds it. */
  hold(why: string, isHeld: boolean): void;
  /** Ends the crawl gracefully: no new request starts, and running ones finish. */
  stop(why: string): void;
  setConnections(connectionsMax: number): void;
  setDelay(delayMs: number): void;
  setPages(pagesMax: number): void;
  /**
   * Replaces the calendar; a later calendar leaves its holes to this limit. `wholeBps` is the limit
   * of several processes, of which `limitBps` is the share of this one.
   */
  setLimit(limitBps: number | undefined, wholeBps?: number): void;
  setCalendar(calendar: Calendar | undefined): void;
  setSiteLimit(limitBps: number | undefined): void;
  setQuota(quota: Quota | undefined): void;
  /** Counted from the start of the crawl, or of the site's recrawl. */
  setDeadline(site: string, deadlineMs: number | undefined): void;
  setPriority(site: string, priority: number): void;
}

export class Changes {
  readonly #crawl: Changing;
  readonly #holidays: string | undefined;
  /** What the system has descriptors for. */
  readonly #connectionsMost: number;
  #limitBps: number | undefined;
  #limitAt: Calendar | undefined;

  constructor(
    crawl: Changing,
    { limitBps, limitAt, holidays }: Settings,
    connectionsMost = Infinity,
  ) {
    this.#crawl = crawl;
    this.#connectionsMost = connectionsMost;
    this.#limitBps = limitBps;
    this.#limitAt = limitAt;
    this.#holidays = holidays;
  }

  /** Throws a message for users when the key or the value is invalid. */
  apply(key: string, text: string): string {
    const crawl = this.#crawl;
    if (!isChangeable(key)) throw new CrawlError("USAGE", unchangeable(key));
    switch (key) {
      case "limit":
        return this.#setLimit(chosen(key, CHANGEABLE[key], text));
      case "limit-at":
        return this.#setCalendar(chosen(key, CHANGEABLE[key], text));
      case "site-limit": {
        const limitBps = chosen(key, CHANGEABLE[key], text);
        crawl.setSiteLimit(limitBps);
        return `${showLimit(limitBps)} for each site`;
      }
      case "quota": {
        const quota = chosen(key, CHANGEABLE[key], text);
        crawl.setQuota(quota);
        return quota === undefined
          ? "no quota"
          : `at most ${showBytes(quota.bytes)} a ${quota.per}, what has come counted in`;
      }
      case "pause": {
        const isHeld = given(key, CHANGEABLE[key], text);
        crawl.hold("paused by the operator", isHeld);
        return isHeld ? "paused" : "running again";
      }
      case "stop":
        given(key, CHANGEABLE[key], text);
        crawl.stop("stopped by the operator");
        return "stopping: running requests finish";
      case "connections": {
        const wanted = given(key, CHANGEABLE[key], text);
        const connections = Math.min(wanted, this.#connectionsMost);
        crawl.setConnections(connections);
        const why = connections < wanted ? "; the limit of open files allows no more" : "";
        return `at most ${connections} connections${why}`;
      }
      case "delay": {
        const delayMs = given(key, CHANGEABLE[key], text);
        crawl.setDelay(delayMs);
        return `${delayMs} ms between two requests to a site`;
      }
      case "pages": {
        const pages = given(key, CHANGEABLE[key], text);
        crawl.setPages(pages);
        return `stops after ${pages} pages`;
      }
      case "deadline": {
        const { site, value } = given(key, CHANGEABLE[key], text);
        crawl.setDeadline(site, value);
        const when = value === undefined ? "no deadline" : `done within ${showDuration(value)}`;
        return `${site}: ${when}`;
      }
      case "priority": {
        const { site, value = 1 } = given(key, CHANGEABLE[key], text);
        crawl.setPriority(site, value);
        return `${site}: priority ${value}`;
      }
      default:
        return unreachable(key);
    }
  }

  #setLimit(limitBps: number | undefined): string {
    const aside = this.#limitAt === undefined ? "" : "; the calendar is ignored";
    this.#limitBps = limitBps;
    this.#limitAt = undefined;
    this.#crawl.setLimit(limitBps);
    return `${showLimit(limitBps)} for all sites together${aside}`;
  }

  #setCalendar(limitAt: Calendar | undefined): string {
    const isWhole = limitAt !== undefined && holesOf(limitAt).length === 0;
    // A calendar without holes leaves no time to the limit.
    const limitBps = isWhole ? undefined : this.#limitBps;
    const mistakes = calendarMistakes({ limitAt, limitBps, holidays: this.#holidays });
    if (mistakes.length > 0) throw new CrawlError("USAGE", mistakes.join("\n  "));
    this.#limitAt = limitAt;
    this.#crawl.setCalendar(limitAt);
    if (limitAt === undefined) return `no calendar; ${showLimit(limitBps)} for all sites together`;
    return isWhole ? limitAt.text : `${limitAt.text}, else ${showLimit(limitBps)}`;
  }
}

function chosen<T>(key: string, field: Field<T>, text: string): T | undefined {
  const { value, mistakes } = readOne(key, field, text);
  if (mistakes.length > 0) throw new CrawlError("USAGE", mistakes.join("\n  "));
  return value;
}

/** For settings that need a value. */
function given<T>(key: string, field: Field<T>, text: string): T {
  const value = chosen(key, field, text);
  assert(value !== undefined, "only a field that may be none is read as undefined");
  return value;
}

function showLimit(limitBps: number | undefined): string {
  return limitBps === undefined ? "no limit" : `at most ${showBytes(limitBps)}/s`;
}
