/**
 * The arbiter of turns: grants each site and IP address that several processes share to one process at a time.
 *
 * A turn goes to the process that wanted it first, stays there until another process wants it, and is then recalled
 * after the time of a few requests. A holder whose licence has ended has lost all its turns,
 * and the next holder waits as if a request had been sent at that moment.
 *
 * All messages may be lost or repeated: wishes and recalls are repeated until they have an
 * effect, grants whenever a wish is repeated.
 *
 * Memory grows with the turns that are held or wanted. O(1) per wish.
 */

import type { TurnGiven, TurnWish } from "./shared-turns.ts";

interface Entry {
  delayMs: number;
  holder: string | undefined;
  wish: number;
  /** The grant is not sent yet, or has to be repeated. */
  isNew: boolean;
  grantedAtMs: number;
  /** No request may be sent before. */
  freeFromMs: number;
  /** Waiting processes with the numbers of their wishes, in order of arrival. */
  readonly queue: Map<string, number>;
}

interface TurnGrants {
  readonly granted: readonly TurnGiven[];
  readonly recalled: readonly TurnWish[];
}

/** A turn is recalled at the earliest after this time, and after a few requests. */
const HOLD_MIN_MS = 500;
const HOLD_REQUESTS = 4;

export class TurnBook {
  readonly #startedAtMs: number;
  readonly #entries = new Map<string, Entry>();
  /** For each process the keys with a grant or recall to send. */
  readonly #news = new Map<string, Set<string>>();

  #isOpen: boolean;

  /** Turns granted by an earlier book are held on; a closed book grants no other until it knows them all. */
  constructor(nowMs: number, isOpen = true) {
    this.#startedAtMs = nowMs;
    this.#isOpen = isOpen;
  }

  /** All turns of an earlier book are known. */
  open(nowMs: number): void {
    this.#isOpen = true;
    this.sweep(nowMs);
  }

  /** A process declares a turn of an earlier book, which it still uses. */
  held(nowMs: number, name: string, { key, wish, delayMs }: TurnWish): void {
    const entry = this.#entries.get(key) ?? this.#open(nowMs, key);
    entry.delayMs = Math.max(entry.delayMs, delayMs);
    if (entry.holder !== undefined && entry.holder !== name) return;
    entry.queue.delete(name);
    entry.holder = name;
    entry.wish = wish;
    entry.isNew = true;
    this.#addNews(name, key);
  }

  get size(): number {
    return this.#entries.size;
  }

  wanted(nowMs: number, name: string, { key, wish, delayMs }: TurnWish): void {
    const entry = this.#entries.get(key) ?? this.#open(nowMs, key);
    entry.delayMs = Math.max(entry.delayMs, delayMs);
    entry.freeFromMs = Math.max(entry.freeFromMs, this.#startedAtMs + delayMs);
    if (entry.holder === name && entry.wish !== wish) {
      if (wish < entry.wish) return;
      // The process wants a turn again that it must have given back, but that message was lost.
      this.#free(nowMs, entry, entry.delayMs);
    }
    if (entry.holder === name) {
      entry.isNew = true;
      return this.#addNews(name, key);
    }
    entry.queue.set(name, wish);
    this.#pass(nowMs, key, entry);
  }

  given(nowMs: number, name: string, { key, wish, afterMs }: TurnGiven): void {
    const entry = this.#entries.get(key) ?? this.#open(nowMs, key);
    // A turn of an earlier book may be given back before it is declared.
    const isOwn = entry.holder === name && entry.wish === wish;
    if (!isOwn && (entry.holder !== undefined || this.#isOpen)) return;
    this.#free(nowMs, entry, afterMs);
    this.#pass(nowMs, key, entry);
  }

  /** The licence of a process has ended, or it has left. */
  lapsed(nowMs: number, name: string): void {
    this.#news.delete(name);
    for (const [key, entry] of this.#entries) {
      entry.queue.delete(name);
      if (entry.holder === name) this.#free(nowMs, entry, entry.delayMs);
      this.#pass(nowMs, key, entry);
    }
  }

  /** Drops turns that no process holds, wants or has to wait for. */
  sweep(nowMs: number): void {
    for (const [key, entry] of this.#entries) this.#pass(nowMs, key, entry);
  }

  /** The messages to send to a process now. */
  newsFor(nowMs: number, name: string, countMax: number): TurnGrants {
    const granted: TurnGiven[] = [];
    const recalled: TurnWish[] = [];
    const keys = this.#news.get(name);
    for (const key of keys ?? []) {
      if (granted.length + recalled.length >= countMax) break;
      const entry = this.#entries.get(key);
      const isHeld = entry?.holder === name;
      if (isHeld && entry.isNew) {
        granted.push({ key, wish: entry.wish, afterMs: Math.max(0, entry.freeFromMs - nowMs) });
        entry.isNew = false;
      }
      if (!isHeld || entry.queue.size === 0) keys?.delete(key);
      // The recall is repeated until the turn is given back.
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
      if (entry.queue.size > 0) this.#addNews(entry.holder, key);
      return;
    }
    const [next] = entry.queue;
    if (next !== undefined && !this.#isOpen) return;
    if (next === undefined) {
      if (nowMs >= entry.freeFromMs) this.#entries.delete(key);
      return;
    }
    const [name, wish] = next;
    entry.queue.delete(name);
    entry.holder = name;
    entry.wish = wish;
    entry.isNew = true;
    entry.grantedAtMs = nowMs;
    this.#addNews(name, key);
  }

  #addNews(name: string, key: string): void {
    const keys = this.#news.get(name);
    if (keys === undefined) this.#news.set(name, new Set([key]));
    else keys.add(key);
  }
}

function recallAtMs({ grantedAtMs, freeFromMs, delayMs }: Entry): number {
  return Math.max(grantedAtMs, freeFromMs) + Math.max(HOLD_MIN_MS, HOLD_REQUESTS * delayMs);
}
