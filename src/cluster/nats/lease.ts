/**
 * Leader election by a lease in the registry.
 *
 * A leader renews its lease repeatedly. It relies on it only while no other node can have taken it: for the lease's
 * duration less a margin, counted from the *beginning* of its last successful write, by its own clocks, so a node that
 * slept continues without it. Other nodes take over when they have seen the same revision for a whole lease, each by its
 * own clock; clocks are never compared. If several try, the registry accepts one. An absent lease, as after the loss of
 * the table, is first written as vacant and then treated like that of a dead leader, because a leader that cannot be seen
 * may still rely on it. A leader that stops releases the lease, and is succeeded at once.
 *
 * Each lease has a term, higher than any before: a node ignores messages of a lower term than it has seen. After the loss
 * of the table terms continue from the wall clock, in case no node knows the last one.
 *
 * Promises, over seeds in `lease.test.ts`:
 *   1. two nodes never hold the lease at once, whatever is lost, late, wiped or asleep, while clock rates differ by at most
 *      a tenth;
 *   2. terms rise;
 *   3. where most requests to the registry are answered, some node leads within three leases.
 */

import { assert } from "../../base/assert.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { below, type Random, systemRandom } from "../../base/random.ts";
import { type Registry, RegistryAway } from "../../exchange/registry.ts";
import type { RegistryEntry } from "../../exchange/registry.ts";

interface LeaseOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly node: string;
  readonly leaseMs: number;
  readonly onGained: (term: number) => void;
  readonly onLost: () => void;
  /** The registry's key. */
  readonly key?: string;
  readonly random?: Random;
}

/** The record in the registry; without an owner it is vacant. */
interface LeaseRecord {
  readonly term: number;
  readonly node?: string;
  /** Distinguishes two processes of one name. */
  readonly owner?: number;
  readonly beat?: number;
  /** Released: no node relies on it, so none has to wait. */
  readonly isFree?: true;
}

interface Moment {
  readonly ms: number;
  readonly wallMs: number;
}

const MARGIN_SHARE = 0.2;
const BEATS_PER_LEASE = 3;
/** Writes with unknown outcome, by their beats. */
const OPEN_MAX = 64;

export class Lease {
  readonly #options: LeaseOptions;
  readonly #key: string;
  readonly #owner: number;
  readonly #stopping = new AbortController();
  readonly #open = new Map<number, Moment>();
  #running: Promise<void> | undefined;
  #beat = 0;
  #term: number | undefined;
  #termSeen = 0;
  #revision = 0;
  #renewedAt: Moment = { ms: -Infinity, wallMs: -Infinity };
  #seen: { readonly revision: number; readonly sinceMs: number } | undefined;
  #leader: { readonly node: string; readonly term: number } | undefined;
  #cancelEnd = (): void => {};

  constructor(options: LeaseOptions) {
    assert(options.leaseMs > 0, "a lease lasts");
    this.#options = options;
    this.#key = options.key ?? "leader";
    this.#owner = below(options.random ?? systemRandom, 2 ** 48);
  }

  start(): void {
    assert(this.#running === undefined, "it is started once");
    this.#running = this.#run();
  }

  /** The term of this node's lease; undefined when it has none. */
  get term(): number | undefined {
    return this.#isBelieving() ? this.#term : undefined;
  }

  /** The last leader seen, which may be this node; its lease may be over. */
  get leader(): { readonly node: string; readonly term: number } | undefined {
    return this.#leader;
  }

  /** Stops taking part, and releases the lease if this node has it. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    this.#lose();
    if (this.#revision === 0) return;
    const free: LeaseRecord = { term: this.#termSeen, isFree: true };
    await this.#asking(() =>
      this.#options.registry.put(this.#key, JSON.stringify(free), this.#revision),
    );
  }

  async #run(): Promise<void> {
    const { clock, leaseMs } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const beganMs = clock.nowMs();
      if (!this.#isBelieving()) this.#lose();
      await this.#asking(() => (this.#term === undefined ? this.#look() : this.#renew()));
      const nextMs = Math.min(beganMs + leaseMs / BEATS_PER_LEASE, this.#mayTakeFromMs());
      const pauseMs = Math.max(nextMs - clock.nowMs(), leaseMs / 100);
      await sleep(clock, pauseMs, signal);
    }
  }

  /** What cannot be asked now is asked at the next beat. */
  async #asking(question: () => Promise<unknown>): Promise<void> {
    try {
      await question();
    } catch (error) {
      if (!(error instanceof RegistryAway)) throw error;
    }
  }

  /** When the wait of a node that does not lead is over. */
  #mayTakeFromMs(): number {
    if (this.#term !== undefined || this.#seen === undefined) return Infinity;
    return this.#seen.sinceMs + this.#options.leaseMs;
  }

  async #renew(): Promise<void> {
    const isWritten = await this.#write(this.#term ?? 0, this.#revision);
    if (!isWritten) await this.#look();
  }

  async #look(): Promise<void> {
    const { registry, clock, leaseMs } = this.#options;
    const entry = await registry.get(this.#key);
    if (entry === undefined) return this.#onAbsent();
    const lease = leaseOf(entry);
    this.#termSeen = Math.max(this.#termSeen, lease.term);
    if (lease.node !== undefined) this.#leader = { node: lease.node, term: lease.term };
    if (lease.owner === this.#owner) return this.#onOwn(lease, entry);
    // The table was lost and another node noticed first; no node can lead yet, so this one still does.
    if (lease.owner === undefined && lease.isFree !== true && this.#isBelieving())
      return void (await this.#write(this.#term ?? 0, entry.revision));
    // Another node has it: a lease of this node ended before that.
    this.#lose();
    if (this.#seen?.revision !== entry.revision)
      this.#seen = { revision: entry.revision, sinceMs: clock.nowMs() };
    const isOver = clock.nowMs() >= this.#seen.sinceMs + leaseMs;
    if (isOver || lease.isFree === true) await this.#take(entry);
  }

  /** The table was lost. A leader may write its lease again; other nodes begin to wait. */
  async #onAbsent(): Promise<void> {
    if (this.#isBelieving()) return void (await this.#write(this.#term ?? 0, 0));
    const vacant: LeaseRecord = { term: this.#termSeen };
    const revision = await this.#options.registry.put(this.#key, JSON.stringify(vacant), 0);
    if (revision !== undefined) this.#seen = { revision, sinceMs: this.#options.clock.nowMs() };
  }

  /** This node's own lease, from a write whose answer was lost, or from an earlier time. */
  async #onOwn(lease: LeaseRecord, entry: RegistryEntry): Promise<void> {
    const began = this.#open.get(lease.beat ?? -1);
    if (began !== undefined && lease.term === this.#term) this.#renewed(began, entry.revision);
    // No node can have led since it was written, so there is no wait.
    if (!this.#isBelieving()) await this.#take(entry);
  }

  async #take(entry: RegistryEntry): Promise<void> {
    this.#lose();
    // One more than the last known term, or from the wall clock when none is known.
    const term = Math.max(this.#termSeen + 1, Math.floor(this.#options.clock.wallMs()));
    const isWritten = await this.#write(term, entry.revision);
    if (!isWritten || this.#stopping.signal.aborted || !this.#isWithin(this.#renewedAt)) return;
    this.#term = term;
    this.#options.onGained(term);
  }

  /** False when the registry has another revision than expected. */
  async #write(term: number, expectedRevision: number): Promise<boolean> {
    const { registry, node } = this.#options;
    const began = this.#now();
    const beat = ++this.#beat;
    this.#remember(beat, began);
    this.#termSeen = Math.max(this.#termSeen, term);
    const lease: LeaseRecord = { term, node, owner: this.#owner, beat };
    const revision = await registry.put(this.#key, JSON.stringify(lease), expectedRevision);
    if (revision === undefined) return false;
    this.#leader = { node, term };
    this.#renewed(began, revision);
    return true;
  }

  #renewed(began: Moment, revision: number): void {
    const { clock, leaseMs } = this.#options;
    this.#revision = revision;
    this.#renewedAt = began;
    this.#seen = undefined;
    this.#open.clear();
    this.#cancelEnd();
    const leftMs = began.ms + leaseMs * (1 - MARGIN_SHARE) - clock.nowMs();
    this.#cancelEnd = clock.after(Math.max(0, leftMs), () => {
      if (!this.#isBelieving()) this.#lose();
    });
  }

  #lose(): void {
    this.#cancelEnd();
    if (this.#term === undefined) return;
    this.#term = undefined;
    this.#options.onLost();
  }

  #isBelieving(): boolean {
    return this.#term !== undefined && this.#isWithin(this.#renewedAt);
  }

  /** By both clocks: one stops while the machine sleeps, the other can be set. */
  #isWithin(began: Moment): boolean {
    const lastsMs = this.#options.leaseMs * (1 - MARGIN_SHARE);
    const now = this.#now();
    return now.ms < began.ms + lastsMs && now.wallMs < began.wallMs + lastsMs;
  }

  #now(): Moment {
    const { clock } = this.#options;
    return { ms: clock.nowMs(), wallMs: clock.wallMs() };
  }

  #remember(beat: number, began: Moment): void {
    this.#open.set(beat, began);
    const [oldest] = this.#open.keys();
    if (this.#open.size > OPEN_MAX && oldest !== undefined) this.#open.delete(oldest);
  }
}

/** A value that is no lease counts as a vacant one. */
function leaseOf({ value }: RegistryEntry): LeaseRecord {
  try {
    const lease = JSON.parse(value) as Partial<LeaseRecord> | null;
    if (Number.isSafeInteger(lease?.term)) return lease as LeaseRecord;
  } catch {
    // Handled below.
  }
  return { term: 0 };
}
