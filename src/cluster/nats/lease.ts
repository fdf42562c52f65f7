/**
 * One leader among the nodes, by a lease in the registry.
 *
 * A leader writes its lease again and again. It believes in it only as long as nobody else can have
 * taken it: a lease's time less a margin, counted from when its last successful writing *began*, by its
 * own clocks, so a node that slept wakes up without it. The others take over when they have seen the
 * very same revision for a whole lease, each by its own clock; nobody compares clocks. Of several who
 * try, the registry lets one. An absent lease, as after the loss of the table, is first written as
 * vacant and then treated like that of a leader who is gone, because a leader nobody can see may still
 * believe. Who stops says so, and is followed at once.
 *
 * Each leadership has a term, higher than any before it: whoever acts on a leader's word refuses the
 * word of a lower term than it has heard. After the loss of the table terms go on from the wall clock, in
 * case nobody is left who knew the last.
 *
 * Promises, over seeds in `leadership.test.ts`:
 *   1. no two believe at once, whatever is lost, late, wiped or asleep, while clocks run alike
 *      within a tenth;
 *   2. terms rise;
 *   3. where most questions to the registry are answered, somebody leads within three leases.
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
  /** Where in the registry. */
  readonly key?: string;
  readonly random?: Random;
}

/** What stands in the registry; without an owner it is vacant. */
interface LeaseRecord {
  readonly term: number;
  readonly node?: string;
  /** Tells apart two processes of one name. */
  readonly owner?: number;
  readonly beat?: number;
  /** Nobody believes in it any more, so nobody need wait. */
  readonly isFree?: true;
}

interface Moment {
  readonly ms: number;
  readonly wallMs: number;
}

const MARGIN_SHARE = 0.2;
const BEATS_PER_LEASE = 3;
/** Writings whose outcome is not known, remembered by their beats. */
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

  /** The term in which this node leads at this moment. */
  get term(): number | undefined {
    return this.#isBelieving() ? this.#term : undefined;
  }

  /** Who was seen to lead last, ourselves included; it may be over. */
  get leader(): { readonly node: string; readonly term: number } | undefined {
    return this.#leader;
  }

  /** Stops taking part; a leader's lease becomes free for the others. */
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

  /** When waiting is over for somebody who does not lead. */
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
    // The table was lost and another noticed first; nobody can lead yet, so we still do.
    if (lease.owner === undefined && lease.isFree !== true && this.#isBelieving())
      return void (await this.#write(this.#term ?? 0, entry.revision));
    // Somebody has it: if we had, that is over, and was over before they took it.
    this.#lose();
    if (this.#seen?.revision !== entry.revision)
      this.#seen = { revision: entry.revision, sinceMs: clock.nowMs() };
    const isOver = clock.nowMs() >= this.#seen.sinceMs + leaseMs;
    if (isOver || lease.isFree === true) await this.#take(entry);
  }

  /** The table was lost. A leader may write its lease again; the others begin to wait. */
  async #onAbsent(): Promise<void> {
    if (this.#isBelieving()) return void (await this.#write(this.#term ?? 0, 0));
    const vacant: LeaseRecord = { term: this.#termSeen };
    const revision = await this.#options.registry.put(this.#key, JSON.stringify(vacant), 0);
    if (revision !== undefined) this.#seen = { revision, sinceMs: this.#options.clock.nowMs() };
  }

  /** Our own lease, from a writing whose answer was lost, or from a time that is over. */
  async #onOwn(lease: LeaseRecord, entry: RegistryEntry): Promise<void> {
    const began = this.#open.get(lease.beat ?? -1);
    if (began !== undefined && lease.term === this.#term) this.#renewed(began, entry.revision);
    // Nobody can have led since it was written, so nobody is waited for.
    if (!this.#isBelieving()) await this.#take(entry);
  }

  async #take(entry: RegistryEntry): Promise<void> {
    this.#lose();
    // Counts up from the last term known, or from the time where that is gone.
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

  /** By both clocks: one stands still while the machine sleeps, the other can be set. */
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

/** What is not a lease, whoever wrote it, is a vacant one. */
function leaseOf({ value }: RegistryEntry): LeaseRecord {
  try {
    const lease = JSON.parse(value) as Partial<LeaseRecord> | null;
    if (Number.isSafeInteger(lease?.term)) return lease as LeaseRecord;
  } catch {
    // Said below.
  }
  return { term: 0 };
}
