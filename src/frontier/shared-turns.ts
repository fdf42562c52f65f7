/**
 * Permission for requests where several processes could send them to the same site or IP address.
 *
 * Each such site and address has a turn, held by one process at a time; the holder is polite there
 * as if it were alone. A process requests a turn from an arbiter (`turn-book.ts`), keeps it until another
 * process wants it, and gives it back when it is recalled: after its running requests, with
 * the time that must pass before the next one. Times are sent as durations, since clocks differ.
 *
 * Promises, held together with the arbiter's by a test in `turn-book.test.ts`:
 *   1. no request begins without its turns, nor before the time sent with them;
 *   2. a turn that has been given back is not used again, for any late or repeated grant.
 */

import { assert } from "../base/assert.ts";

export interface SharedTurn {
  readonly key: string;
  /** Minimum time between two requests of any processes. */
  readonly delayMs: number;
}

/** Numbered, so that an answer to an earlier wish is recognised. */
export interface TurnWish extends SharedTurn {
  readonly wish: number;
}

export interface TurnGiven {
  readonly key: string;
  readonly wish: number;
  /** How long no process may send a request. */
  readonly afterMs: number;
}

interface Held {
  readonly wish: number;
  delayMs: number;
  state: "wanted" | "held" | "recalled";
  /** Held from an earlier arbiter, and not known to the present one. */
  isUndeclared: boolean;
  /** Earliest time of a request while held. */
  fromMs: number;
  lastAtMs: number;
  underWay: number;
  /** Sites to try again once the turn is held. */
  readonly waiting: Set<number>;
}

/** A turn unused for this long is given back without a recall. */
const UNUSED_MS = 30_000;

export class SharedTurns {
  readonly #turns = new Map<string, Held>();
  #given: TurnGiven[] = [];
  #wishes = 0;

  /** Earliest time of a request under this turn; Infinity while it is not held, and then it is requested. */
  readyAtMs({ key, delayMs }: SharedTurn, siteId: number): number {
    const held = this.#turns.get(key) ?? this.#request(key, delayMs);
    // A site may have a longer delay once its robots.txt is known.
    held.delayMs = Math.max(held.delayMs, delayMs);
    if (held.state === "held") return held.fromMs;
    held.waiting.add(siteId);
    return Infinity;
  }

  began(nowMs: number, key: string): void {
    const held = this.#turns.get(key);
    assert(held?.state === "held", "invariant 2: a shared site or address is requested in turn");
    held.underWay += 1;
    held.lastAtMs = nowMs;
  }

  sent(nowMs: number, key: string): void {
    const held = this.#turns.get(key);
    if (held !== undefined) held.lastAtMs = Math.max(held.lastAtMs, nowMs);
  }

  ended(nowMs: number, key: string): void {
    const held = this.#turns.get(key);
    // All turns may have lapsed while the request was running.
    if (held === undefined || held.underWay === 0) return;
    held.underWay -= 1;
    if (held.state === "recalled") this.#giveIfFree(nowMs, key, held);
  }

  /** Returns the sites that may continue now. */
  granted(nowMs: number, { key, wish, afterMs }: TurnGiven): readonly number[] {
    const held = this.#turns.get(key);
    if (held?.wish === wish) held.isUndeclared = false;
    if (held === undefined || held.wish !== wish || held.state !== "wanted") return [];
    held.state = "held";
    held.fromMs = nowMs + afterMs;
    held.lastAtMs = nowMs;
    const waiting = [...held.waiting];
    held.waiting.clear();
    return waiting;
  }

  /** Another process wants the turn. Returns the sites that have to wait for it again. */
  recalled(nowMs: number, { key, wish, delayMs }: TurnWish): readonly number[] {
    const held = this.#turns.get(key);
    if (held === undefined || held.wish !== wish) {
      // Given back already, but the message was lost: since then at least the delay counts again.
      this.#given.push({ key, wish, afterMs: delayMs });
      return [];
    }
    if (held.state === "wanted") return [];
    held.state = "recalled";
    return this.#giveIfFree(nowMs, key, held);
  }

  /** Messages for the arbiter, repeated until they have an effect. */
  wishes(countMax: number): TurnWish[] {
    const wishes: TurnWish[] = [];
    for (const [key, { state, wish, delayMs }] of this.#turns) {
      if (wishes.length >= countMax) break;
      if (state === "wanted") wishes.push({ key, wish, delayMs });
    }
    return wishes;
  }

  /** After a change of arbiter: reports all held turns again, until the new one confirms them. */
  declareAll(): void {
    for (const held of this.#turns.values()) held.isUndeclared = held.state !== "wanted";
  }

  /** The turns to declare, in the same form as wishes. */
  undeclared(countMax: number): TurnWish[] {
    const turns: TurnWish[] = [];
    for (const [key, { isUndeclared, wish, delayMs }] of this.#turns) {
      if (turns.length >= countMax) break;
      if (isUndeclared) turns.push({ key, wish, delayMs });
    }
    return turns;
  }

  takeGiven(countMax: number): TurnGiven[] {
    return this.#given.splice(0, countMax);
  }

  /** Gives back turns unused for `UNUSED_MS`. */
  sweep(nowMs: number): void {
    for (const [key, held] of this.#turns) {
      const isUnused = held.underWay === 0 && nowMs - held.lastAtMs >= UNUSED_MS;
      if (!isUnused) continue;
      if (held.state === "wanted" && held.waiting.size > 0) continue;
      this.#turns.delete(key);
      if (held.state !== "wanted") this.#given.push({ key, wish: held.wish, afterMs: 0 });
    }
  }

  /** The process's licence has ended, and every turn with it. Returns the sites waiting for a turn. */
  lapse(): readonly number[] {
    const waiting = new Set<number>();
    for (const held of this.#turns.values()) for (const site of held.waiting) waiting.add(site);
    this.#turns.clear();
    this.#given = [];
    return [...waiting];
  }

  get size(): number {
    return this.#turns.size;
  }

  #request(key: string, delayMs: number): Held {
    this.#wishes += 1;
    const held: Held = {
      wish: this.#wishes,
      delayMs,
      state: "wanted",
      isUndeclared: false,
      fromMs: Infinity,
      lastAtMs: -Infinity,
      underWay: 0,
      waiting: new Set(),
    };
    this.#turns.set(key, held);
    return held;
  }

  #giveIfFree(nowMs: number, key: string, held: Held): readonly number[] {
    if (held.underWay > 0) return [];
    this.#turns.delete(key);
    const untilMs = Math.max(held.fromMs, held.lastAtMs + held.delayMs);
    this.#given.push({ key, wish: held.wish, afterMs: Math.max(0, untilMs - nowMs) });
    return [...held.waiting];
  }
}
