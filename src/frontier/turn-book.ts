/**
 * Says whose turn it is: for every site and address that several processes ask, one at a time.
 *
 * A turn goes to whoever wanted it first, stays there while nobody else wants it, and is called back
 * after a few requests' time when somebody does. A holder whose licence has ended has lost all its turns,
 * and whoever is next waits as if a request had gone out at that very moment.
 *
 * Everything said may be lost or repeated: wishes and recalls are told again until they show an
 * effect, grants whenever a wish is repeated.
 *
 * Memory follows the turns that are held or wanted. O(1) a wish.
 */

import type { TurnGiven, TurnWish } from "./shared-turns.ts";

interface Entry {
  delayMs: number;
  holder: string | undefined;
  wish: number;
  /** Its holder has not been told, or did not hear. */
  isNew: boolean;
  grantedAtMs: number;
  /** Nobody may ask before. */
  freeFromMs: number;
  /** Who waits, with the number of the wish, first come first served. */
  readonly queue: Map<string, number>;
}

export interface TurnGrants {
  readonly granted: readonly TurnGiven[];
  readonly recalled: readonly TurnWish[];
}

/** A turn is left alone for this long, and for a few requests, before it is called back. */
const HOLD_MIN_MS = 500;
const HOLD_REQUESTS = 4;

export class TurnBook {
  readonly #startedAtMs: number;
  readonly #entries = new Map<string, Entry>();
  /** What each process is to be told: granted and recalled keys. */
  readonly #news = new Map<string, Set<string>>();

  /** Whose turns were given by an earlier book has none any more, and may have used them until now. */
  constructor(nowMs: number) {
    this.#startedAtMs = nowMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  wanted(nowMs: number, who: string, { key, wish, delayMs }: TurnWish): void {
    const entry = this.#entries.get(key) ?? this.#open(nowMs, key);
    entry.delayMs = Math.max(entry.delayMs, delayMs);
    entry.freeFromMs = Math.max(entry.freeFromMs, this.#startedAtMs + delayMs);
    if (entry.holder === who && entry.wish !== wish) {
      if (wish < entry.wish) return;
      // It wants again what it must have given back, which was not heard.
      this.#free(nowMs, entry, entry.delayMs);
    }
    if (entry.holder === who) {
      entry.isNew = true;
      return this.#tell(who, key);
    }
    entry.queue.set(who, wish);
    this.#pass(nowMs, key, entry);
  }

  given(nowMs: number, who: string, { key, wish, afterMs }: TurnGiven): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.holder !== who || entry.wish !== wish) return;
    this.#free(nowMs, entry, afterMs);
    this.#pass(nowMs, key, entry);
  }

  /** Its licence has ended, or it has left. */
  lapsed(nowMs: number, who: string): void {
    this.#news.delete(who);
    for (const [key, entry] of this.#entries) {
      entry.queue.delete(who);
      if (entry.holder === who) this.#free(nowMs, entry, entry.delayMs);
      this.#pass(nowMs, key, entry);
    }
  }

  /** Forgets what nobody holds, wants or has to wait for. */
  sweep(nowMs: number): void {
    for (const [key, entry] of this.#entries) this.#pass(nowMs, key, entry);
  }

  /** What a process is to be told now. */
  newsFor(nowMs: number, who: string, countMax: number): TurnGrants {
    const granted: TurnGiven[] = [];
    const recalled: TurnWish[] = [];
    const keys = this.#news.get(who);
    for (const key of keys ?? []) {
      if (granted.length + recalled.length >= countMax) break;
      const entry = this.#entries.get(key);
      const isHeld = entry?.holder === who;
      if (isHeld && entry.isNew) {
        granted.push({ key, wish: entry.wish, afterMs: Math.max(0, entry.freeFromMs - nowMs) });
        entry.isNew = false;
      }
      if (!isHeld || entry.queue.size === 0) keys?.delete(key);
      // Until it is given back it is recalled again and again.
      else if (nowMs >= recallAtMs(entry))
        recalled.push({ key, wish: entry.wish, delayMs: entry.delayMs });
    }
    return { granted, recalled };
  }

  #open(nowMs: number, key: string): Entry {
    const entry: Entry = {
      delayMs: 0,
      holder: undefined,
      wish: 0,
      isNew: false,
      grantedAtMs: nowMs,
      freeFromMs: nowMs,
      queue: new Map(),
    };
    this.#entries.set(key, entry);
    return entry;
  }

  #free(nowMs: number, entry: Entry, afterMs: number): void {
    entry.holder = undefined;
    entry.freeFromMs = Math.max(entry.freeFromMs, nowMs + afterMs);
  }

  #pass(nowMs: number, key: string, entry: Entry): void {
    if (entry.holder !== undefined) {
      if (entry.queue.size > 0) this.#tell(entry.holder, key);
      return;
    }
    const [next] = entry.queue;
    if (next === undefined) {
      if (nowMs >= entry.freeFromMs) this.#entries.delete(key);
      return;
    }
    const [who, wish] = next;
    entry.queue.delete(who);
    entry.holder = who;
    entry.wish = wish;
    entry.isNew = true;
    entry.grantedAtMs = nowMs;
    this.#tell(who, key);
  }

  #tell(who: string, key: string): void {
    const keys = this.#news.get(who);
    if (keys === undefined) this.#news.set(who, new Set([key]));
    else keys.add(key);
  }
}

function recallAtMs({ grantedAtMs, freeFromMs, delayMs }: Entry): number {
  return Math.max(grantedAtMs, freeFromMs) + Math.max(HOLD_MIN_MS, HOLD_REQUESTS * delayMs);
}
