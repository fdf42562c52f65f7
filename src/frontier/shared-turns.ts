/**
 * What a process may ask, where several processes could ask the same site or address.
 *
 * Each such site and address has a turn, and one process at a time holds it; whoever holds it keeps
 * the manners there as if it were alone. A turn is wanted from an arbiter (`turn-book.ts`), kept as long
 * as nobody else wants it, and given back when asked for: with what is under way finished, and with
 * the time that has to pass before the next request. Times are told as durations, since clocks differ.
 *
 * Promises, held together with the arbiter's by a test in `turn-book.test.ts`:
 *   1. nothing is begun without its turns, nor before the time they came with;
 *   2. a turn that has been given back is not used again, however late or often it is granted.
 */

import { assert } from "../base/assert.ts";

export interface SharedTurn {
  readonly key: string;
  /** Between two requests, whoever makes them. */
  readonly delayMs: number;
}

/** Numbered, so that an answer to an earlier wish is known as such. */
export interface TurnWish extends SharedTurn {
  readonly wish: number;
}

export interface TurnGiven {
  readonly key: string;
  readonly wish: number;
  /** How long nobody may ask. */
  readonly afterMs: number;
}

interface Held {
  readonly wish: number;
  delayMs: number;
  state: "wanted" | "held" | "recalled";
  /** Held: nothing begins before. */
  fromMs: number;
  lastAtMs: number;
  underWay: number;
  /** Sites to be offered again once it is there. */
  readonly waiting: Set<number>;
}

/** A turn that was not used for so long is given back unasked. */
const UNUSED_MS = 30_000;

export class SharedTurns {
  readonly #turns = new Map<string, Held>();
  #given: TurnGiven[] = [];
  #wishes = 0;

  /** When the turn lets a request begin; Infinity while it is not here, and then it is wanted. */
  readyAtMs({ key, delayMs }: SharedTurn, siteId: number): number {
    const held = this.#turns.get(key) ?? this.#want(key, delayMs);
    // A site may ask for more time once its robots.txt is known.
    held.delayMs = Math.max(held.delayMs, delayMs);
    if (held.state === "held") return held.fromMs;
    held.waiting.add(siteId);
    return Infinity;
  }

  began(nowMs: number, key: string): void {
    const held = this.#turns.get(key);
    assert(held?.state === "held", "invariant 2: what is shared is asked in turn");
    held.underWay += 1;
    held.lastAtMs = nowMs;
  }

  sent(nowMs: number, key: string): void {
    const held = this.#turns.get(key);
    if (held !== undefined) held.lastAtMs = Math.max(held.lastAtMs, nowMs);
  }

  ended(nowMs: number, key: string): void {
    const held = this.#turns.get(key);
    // All turns may have lapsed while the request was under way.
    if (held === undefined || held.underWay === 0) return;
    held.underWay -= 1;
    if (held.state === "recalled") this.#giveIfFree(nowMs, key, held);
  }

  /** Answers the sites that may go on now. */
  granted(nowMs: number, { key, wish, afterMs }: TurnGiven): readonly number[] {
    const held = this.#turns.get(key);
    if (held === undefined || held.wish !== wish || held.state !== "wanted") return [];
    held.state = "held";
    held.fromMs = nowMs + afterMs;
    held.lastAtMs = nowMs;
    const waiting = [...held.waiting];
    held.waiting.clear();
    return waiting;
  }

  /** Somebody else wants it. Answers the sites that have to wait for it again, if they still want to. */
  recalled(nowMs: number, { key, wish, delayMs }: TurnWish): readonly number[] {
    const held = this.#turns.get(key);
    if (held === undefined || held.wish !== wish) {
      // Given back already, which was not heard: by now the last request is as old as that.
      this.#given.push({ key, wish, afterMs: delayMs });
      return [];
    }
    if (held.state === "wanted") return [];
    held.state = "recalled";
    return this.#giveIfFree(nowMs, key, held);
  }

  /** What is to be told to the arbiter: told again until it has an effect. */
  wishes(countMax: number): TurnWish[] {
    const wishes: TurnWish[] = [];
    for (const [key, { state, wish, delayMs }] of this.#turns) {
      if (wishes.length >= countMax) break;
      if (state === "wanted") wishes.push({ key, wish, delayMs });
    }
    return wishes;
  }

  takeGiven(countMax: number): TurnGiven[] {
    return this.#given.splice(0, countMax);
  }

  /** Gives back what nobody here has used for a while. */
  sweep(nowMs: number): void {
    for (const [key, held] of this.#turns) {
      const isUnused = held.underWay === 0 && nowMs - held.lastAtMs >= UNUSED_MS;
      if (!isUnused) continue;
      if (held.state === "wanted" && held.waiting.size > 0) continue;
      this.#turns.delete(key);
      if (held.state !== "wanted") this.#given.push({ key, wish: held.wish, afterMs: 0 });
    }
  }

  /** The licence to act has ended, and every turn with it. Answers the sites that wait for one. */
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

  #want(key: string, delayMs: number): Held {
    this.#wishes += 1;
    const held: Held = {
      wish: this.#wishes,
      delayMs,
      state: "wanted",
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
