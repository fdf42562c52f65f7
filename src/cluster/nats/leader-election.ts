/**
 * A node's candidacy for the lead: while the registry gives it the lease, it coordinates all nodes.
 *
 * Leaders on the same node follow each other: each has left the bus before the next one joins it.
 */

import { type Clock, sleep } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { Division } from "../../crawl/ownership.ts";
import type { Registry } from "../../exchange/registry.ts";
import type { Change } from "../change-list.ts";
import { Leader, type LeaderParts } from "../leader.ts";
import { CrawlRecord } from "./crawl-record.ts";
import { Lease } from "./lease.ts";

interface LeaderElectionParts extends Omit<
  LeaderParts,
  "term" | "record" | "isLeading" | "nodeTimeoutMs"
> {
  readonly clock: Clock;
  readonly registry: Registry;
  readonly node: string;
  readonly leaseMs: number;
  readonly random?: Random;
  /** The last division of this node, and the changes that it has made. */
  readonly known: () => Division;
  readonly knownChanges: () => readonly Change[];
  /** Whether it has taken part in this run. */
  readonly hasTakenPart: () => boolean;
  /** This node has just begun the crawl, which did not exist before. */
  readonly isBeginning: boolean;
}

/** How long a leader waits at the end for the last reports of the other nodes. */
const FAREWELL_MS_MAX = 8_000;
const LOOK_MS = 100;

export class LeaderElection {
  readonly #parts: LeaderElectionParts;
  readonly #lease: Lease;
  #leader: Leader | undefined;
  /** Settles when all earlier leaders on this node have stopped. */
  #before: Promise<void> = Promise.resolve();

  constructor(parts: LeaderElectionParts) {
    this.#parts = parts;
    const { registry, clock, node, leaseMs, random } = parts;
    this.#lease = new Lease({
      registry,
      clock,
      node,
      leaseMs,
      ...(random === undefined ? {} : { random }),
      onGained: (term) => this.#onGained(term),
      onLost: () => this.#onLost(),
    });
    this.#lease.start();
  }

  /** undefined while this node does not lead. */
  get leader(): Leader | undefined {
    return this.#leader;
  }

  /** This node's own part has ended: it leads until that is recorded, at most `FAREWELL_MS_MAX`. */
  async farewell(): Promise<void> {
    const { clock, node } = this.#parts;
    const untilMs = clock.nowMs() + FAREWELL_MS_MAX;
    const never = new AbortController().signal;
    while (this.#leader?.mayGo(node) === false && clock.nowMs() < untilMs)
      await sleep(clock, LOOK_MS, never);
  }

  async stop(): Promise<void> {
    this.#onLost();
    await this.#before;
    await this.#lease.stop();
  }

  #onGained(term: number): void {
    const { log, onFault, known, knownChanges, hasTakenPart, settings } = this.#parts;
    log.write({ level: "info", message: "this node leads", values: { term } });
    const isLeading = (): boolean => this.#lease.term === term;
    const record = new CrawlRecord({
      ...this.#parts,
      term,
      known: known(),
      knownChanges: knownChanges(),
      hasTakenPart: hasTakenPart(),
      isLeading,
    });
    const { nodeTimeoutMs } = settings;
    const leader = new Leader({ ...this.#parts, term, record, isLeading, nodeTimeoutMs });
    this.#leader = leader;
    this.#before = this.#before.then(() => leader.start()).catch(onFault);
  }

  #onLost(): void {
    const leader = this.#leader;
    if (leader === undefined) return;
    this.#leader = undefined;
    this.#parts.log.write({ level: "info", message: "this node no longer leads", values: {} });
    const stopped = leader.stop();
    this.#before = this.#before.then(() => stopped).then(() => leader.stop());
  }
}
