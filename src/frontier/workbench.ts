/**
 * The sites at work: a heap by the time each may next be asked, with a few waiting URLs each.
 *
 * The rest of a site's URLs lie in the store; the part that feeds the workbench keeps the queues short.
 * A site has one slot in the heap that counts, or is parked: because it has nothing in memory, or because it or its
 * address has as many requests under way as allowed. What ends un-parks what waited for it.
 *
 * Promises, each held by a test in `workbench.test.ts`:
 *   1. a URL is given out only when `Politeness` lets its site and its address be asked;
 *   2. of a site's URLs in memory the best score goes first, then the lowest id; retries go behind all others;
 *   3. whatever may be asked now is found, however sites and addresses are parked;
 *   4. sites that were never asked and the others have the same part, where both may be asked (`new-and-known.ts`).
 *
 * An address has one delay: sites that share it must be opened with the same.
 *
 * O(log sites + log queue) a take.
 */

import { assert } from "../base/assert.ts";
import { Heap } from "../base/heap.ts";
import { NewAndKnown, type Timed } from "./new-and-known.ts";
import type { Addressee, Politeness, Ending, Turn } from "./politeness.ts";

/** What the workbench must know of a waiting URL; callers hang the rest on it. */
export interface Waiting {
  readonly id: number;
  readonly score: number;
  /** Not before this time: a retry waits on its own. */
  readonly notBeforeMs: number;
  /** It has failed before: it goes behind the others of its site, so that each probe is another URL. */
  readonly isRetry?: boolean;
}

interface Bench<T> {
  readonly siteId: number;
  to: Addressee;
  readonly ready: Heap<T>;
  readonly deferred: Heap<T>;
  /** Ids in the queues and under way: what must not be read from the store again. */
  readonly held: Set<number>;
  /** Retries in the queues. */
  retries: number;
  /** The heap slot that counts, and its time; earlier ones of the same site are stale. */
  ticket: number;
  slotAtMs: number;
  closed: boolean;
  /** Since when others have gone before it although it was its turn. */
  passedOverAtMs: number | undefined;
  /** Whether anything was ever asked of it. */
  isKnown: boolean;
}

interface Slot<T> extends Timed {
  readonly bench: Bench<T>;
}

export interface Taken<T> {
  readonly entry: T;
  readonly turn: Turn;
  /** How many it went before, although it was their turn, and how long it was passed over itself. */
  readonly overtaken: number;
  readonly passedOverMs: number;
}

/** How far to look down the queue, and for what. */
export interface Search<T> {
  readonly depthMax: number;
  /** Who of those whose time has come goes first: the lowest. Without it, who has waited longest. */
  readonly rank?: ((entry: T, to: Addressee) => number) | undefined;
  /** "not now": it is not its turn, for a reason of its own, and so does not count as passed over. */
  fits(entry: T, to: Addressee, passedOverMs: number): boolean | "not now";
  /** What it is expected to bring; without it, all are taken to bring the same. */
  expectedBytes?: ((entry: T, to: Addressee) => number) | undefined;
}

/** Most sites that are looked at in one search, whatever their reasons. */
const LOOKED_AT_MAX = 256;

export class Workbench<T extends Waiting> {
  readonly #politeness: Politeness;
  readonly #benches = new Map<number, Bench<T>>();
  readonly #slots = new NewAndKnown<Slot<T>>();
  readonly #parkedByAddress = new Map<string, Set<Bench<T>>>();
  /** Taken off the heap because their time has come, while others rank before them. */
  readonly #due = new Set<Slot<T>>();
  #entries = 0;
  #tickets = 0;

  constructor(politeness: Politeness) {
    this.#politeness = politeness;
  }

  /** URLs waiting in memory, over all sites. */
  get entries(): number {
    return this.#entries;
  }

  get siteCount(): number {
    return this.#benches.size;
  }

  /** Opens a site, or changes its address or pace. */
  open(to: Addressee): void {
    const bench = this.#benches.get(to.siteId);
    if (bench !== undefined) {
      bench.to = to;
      this.#offer(bench);
      return;
    }
    this.#benches.set(to.siteId, {
      siteId: to.siteId,
      to,
      ready: new Heap<T>(byScore),
      deferred: new Heap<T>((a, b) => a.notBeforeMs - b.notBeforeMs),
      held: new Set(),
      retries: 0,
      ticket: 0,
      slotAtMs: Infinity,
      closed: false,
      passedOverAtMs: undefined,
      isKnown: false,
    });
  }

  /** A turn that others shared has come: the site may be asked after all. */
  offerAgain(siteId: number): void {
    const bench = this.#benches.get(siteId);
    if (bench !== undefined) this.#offer(bench);
  }

  has(siteId: number): boolean {
    return this.#benches.has(siteId);
  }

  /** Ids of the site's URLs that are in memory or under way. */
  held(siteId: number): ReadonlySet<number> {
    return this.#bench(siteId).held;
  }

  /** URLs of the site waiting in memory. */
  queued(siteId: number): number {
    const bench = this.#bench(siteId);
    return bench.ready.size + bench.deferred.size;
  }

  /** Of these, URLs that have failed before. */
  retries(siteId: number): number {
    return this.#bench(siteId).retries;
  }

  /** The best score in memory; -Infinity when nothing or only retries are there. */
  bestScore(siteId: number): number {
    const best = this.#bench(siteId).ready.peek();
    return best === undefined || best.isRetry === true ? -Infinity : best.score;
  }

  put(siteId: number, entry: T): void {
    const bench = this.#bench(siteId);
    assert(!bench.held.has(entry.id), "a URL waits in memory once");
    bench.held.add(entry.id);
    this.#queue(bench, entry);
  }

  /** Gives a URL back that was taken and must be requested again; its site may have been closed since. */
  putBack(siteId: number, entry: T): void {
    const bench = this.#bench(siteId);
    bench.held.add(entry.id);
    this.#queue(bench, entry);
  }

  /**
   * The next URL that may be asked for now, with its turn begun. A search passes over what does not
   * fit, down to its depth; what is passed over keeps its place.
   */
  take(nowMs: number, search?: Search<T>): Taken<T> | undefined {
    const passed: Slot<T>[] = [];
    this.#slots.beginSearch();
    const found =
      search?.rank === undefined
        ? this.#findOldest(nowMs, search, passed)
        : this.#findFirst(nowMs, { ...search, rank: search.rank }, passed);
    if (found === undefined) return undefined;
    for (const { bench } of passed) bench.passedOverAtMs ??= nowMs;
    const { bench } = found;
    const entry = bench.ready.pop();
    assert(entry !== undefined, "what was found is there");
    this.#entries -= 1;
    if (entry.isRetry === true) bench.retries -= 1;
    const passedOverMs = nowMs - (bench.passedOverAtMs ?? nowMs);
    bench.passedOverAtMs = undefined;
    bench.slotAtMs = Infinity;
    this.#slots.took(nowMs, bench.isKnown, search?.expectedBytes?.(entry, bench.to) ?? 1);
    bench.isKnown = true;
    const turn = this.#politeness.begin(nowMs, bench.to);
    this.#offer(bench);
    return { entry, turn, overtaken: passed.length, passedOverMs };
  }

  /** Takes the first slot off the heap whose site may be asked and whose URL fits. */
  #findOldest(
    nowMs: number,
    search: Search<T> | undefined,
    passed: Slot<T>[],
  ): Slot<T> | undefined {
    for (const slot of this.#due) this.#push(slot);
    this.#due.clear();
    const aside: Slot<T>[] = [];
    let found: Slot<T> | undefined;
    while (found === undefined) {
      const slot = this.#popDue(nowMs);
      if (slot === undefined) break;
      const verdict = search === undefined || this.#fits(nowMs, slot, search);
      if (verdict === true) found = slot;
      else (verdict === "not now" ? aside : passed).push(slot);
      if (passed.length >= (search?.depthMax ?? Infinity) || aside.length >= LOOKED_AT_MAX) break;
    }
    for (const slot of passed) this.#push(slot);
    for (const slot of aside) this.#push(slot);
    return found;
  }

  /** Of all whose time has come, the one of lowest rank whose URL fits. */
  #findFirst(
    nowMs: number,
    search: Search<T> & { readonly rank: (entry: T, to: Addressee) => number },
    passed: Slot<T>[],
  ): Slot<T> | undefined {
    for (let slot = this.#popDue(nowMs); slot !== undefined; slot = this.#popDue(nowMs))
      this.#due.add(slot);
    const ranked: { readonly slot: Slot<T>; readonly rank: number }[] = [];
    for (const slot of this.#due) {
      if (!this.#mayAsk(nowMs, slot)) this.#due.delete(slot);
      else ranked.push({ slot, rank: search.rank(slot.bench.ready.peek() as T, slot.bench.to) });
    }
    ranked.sort((a, b) => a.rank - b.rank || a.slot.ticket - b.slot.ticket);
    for (const { slot } of ranked) {
      const verdict = this.#fits(nowMs, slot, search);
      if (verdict === true) {
        this.#due.delete(slot);
        return slot;
      }
      if (verdict === false && passed.push(slot) >= search.depthMax) return undefined;
    }
    return undefined;
  }

  #fits(nowMs: number, { bench }: Slot<T>, search: Search<T>): boolean | "not now" {
    const passedOverMs = nowMs - (bench.passedOverAtMs ?? nowMs);
    return search.fits(bench.ready.peek() as T, bench.to, passedOverMs);
  }

  /** The next slot whose site may be asked now. */
  #popDue(nowMs: number): Slot<T> | undefined {
    for (;;) {
      const slot = this.#slots.popDue(nowMs);
      if (slot === undefined || this.#mayAsk(nowMs, slot)) return slot;
    }
  }

  #push(slot: Slot<T>): void {
    this.#slots.push(slot, slot.bench.isKnown);
  }

  /** Whether a slot whose time has come is still valid; otherwise its site is offered again. */
  #mayAsk(nowMs: number, { ticket, bench }: Slot<T>): boolean {
    if (ticket !== bench.ticket) return false;
    this.#promote(bench, nowMs);
    const isEmpty = bench.closed || bench.ready.size === 0;
    const isRetry = bench.ready.peek()?.isRetry === true;
    if (!isEmpty && this.#politeness.maySend(nowMs, bench.to, isRetry)) return true;
    bench.slotAtMs = Infinity;
    // It leaves a place at its address unused that another may be parked for.
    if (isEmpty) this.#unpark(nowMs, bench.to.address);
    this.#offer(bench);
    return false;
  }

  /**
   * When `take` may next succeed; Infinity when only an ending or a new URL can change that. What has
   * been ranked and passed over waits for such a change, not for the time.
   */
  nextAtMs(): number {
    return this.#slots.nextAtMs();
  }

  /** The request of a turn was sent: sites that waited for that may be next. */
  sent(nowMs: number, turn: Turn): void {
    this.#politeness.sent(nowMs, turn);
    const bench = this.#benches.get(turn.to.siteId);
    if (bench !== undefined) this.#offer(bench);
    this.#unpark(nowMs, turn.to.address);
  }

  end(nowMs: number, turn: Turn, ending: Ending): void {
    this.#politeness.end(nowMs, turn, ending);
    const bench = this.#benches.get(turn.to.siteId);
    if (bench !== undefined) this.#offer(bench);
    this.#unpark(nowMs, turn.to.address);
  }

  /** Takes a waiting URL off the site's queue; one under way stays. O(queue). */
  withdraw(siteId: number, id: number): void {
    const bench = this.#benches.get(siteId);
    if (bench?.held.has(id) !== true) return;
    for (const queue of [bench.ready, bench.deferred]) {
      const entry = queue.remove((one) => one.id === id);
      if (entry === undefined) continue;
      bench.held.delete(id);
      if (entry.isRetry === true) bench.retries -= 1;
      this.#entries -= 1;
      return;
    }
  }

  /** Takes the waiting URLs off the site's queue that are meant; O(queue) for each. */
  withdrawAll(siteId: number, isMeant: (entry: T) => boolean): T[] {
    const taken: T[] = [];
    const bench = this.#benches.get(siteId);
    for (const queue of bench === undefined ? [] : [bench.ready, bench.deferred])
      for (let next = queue.remove(isMeant); next !== undefined; next = queue.remove(isMeant))
        taken.push(next);
    for (const { id, isRetry } of taken) {
      bench?.held.delete(id);
      if (bench !== undefined && isRetry === true) bench.retries -= 1;
      this.#entries -= 1;
    }
    return taken;
  }

  /** The URL has been settled: it no longer belongs to the workbench. */
  release(siteId: number, id: number): void {
    this.#benches.get(siteId)?.held.delete(id);
  }

  /** Takes a site off the workbench and gives back what waited there. */
  close(siteId: number): T[] {
    const bench = this.#bench(siteId);
    bench.closed = true;
    this.#benches.delete(siteId);
    const left: T[] = [];
    for (const queue of [bench.ready, bench.deferred])
      for (let entry = queue.pop(); entry !== undefined; entry = queue.pop()) left.push(entry);
    this.#entries -= left.length;
    return left;
  }

  #bench(siteId: number): Bench<T> {
    const bench = this.#benches.get(siteId);
    assert(bench !== undefined, "the site is on the workbench");
    return bench;
  }

  #queue(bench: Bench<T>, entry: T): void {
    this.#entries += 1;
    if (entry.isRetry === true) bench.retries += 1;
    (entry.notBeforeMs > 0 ? bench.deferred : bench.ready).push(entry);
    this.#offer(bench);
  }

  #promote(bench: Bench<T>, nowMs: number): void {
    for (let next = bench.deferred.peek(); next !== undefined; next = bench.deferred.peek()) {
      if (next.notBeforeMs > nowMs) return;
      bench.ready.push(bench.deferred.pop() as T);
    }
  }

  /** Puts a site into the heap at its time, or parks it when only an ending can tell that time. */
  #offer(bench: Bench<T>): void {
    if (bench.closed) return;
    const next = bench.ready.peek() ?? bench.deferred.peek();
    if (next === undefined) return;
    const urlAtMs = bench.ready.size > 0 ? 0 : next.notBeforeMs;
    const atMs = Math.max(urlAtMs, this.#politeness.readyAtMs(bench.to, next.isRetry === true));
    if (atMs === Infinity) return this.#park(bench);
    if (atMs >= bench.slotAtMs) return;
    bench.slotAtMs = atMs;
    bench.ticket = this.#tickets += 1;
    this.#push({ atMs, ticket: bench.ticket, bench });
  }

  /** A site that is full itself is offered again by its own ending; only a full address parks it. */
  #park(bench: Bench<T>): void {
    const { address } = bench.to;
    if (address === undefined) return;
    if (this.#politeness.readyAtMs({ ...bench.to, address: undefined }) === Infinity) return;
    const parked = this.#parkedByAddress.get(address);
    if (parked === undefined) this.#parkedByAddress.set(address, new Set([bench]));
    else parked.add(bench);
  }

  /** A free place is offered until some site can use it now; the rest stay parked. */
  #unpark(nowMs: number, address: string | undefined): void {
    if (address === undefined) return;
    const parked = this.#parkedByAddress.get(address);
    if (parked === undefined) return;
    for (const bench of parked) {
      parked.delete(bench);
      this.#offer(bench);
      if (bench.slotAtMs <= nowMs || parked.has(bench)) break;
    }
    if (parked.size === 0) this.#parkedByAddress.delete(address);
  }
}

function byScore(a: Waiting, b: Waiting): number {
  const isLater = Number(a.isRetry === true) - Number(b.isRetry === true);
  return isLater || b.score - a.score || a.id - b.id;
}
