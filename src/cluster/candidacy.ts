/**
 * A node's readiness to lead: when the registry gives it the lead it coordinates all, until it has it no more.
 *
 * One leader after the other on the same node: each has left the bus before the next one joins it.
 */

import { type Clock, sleep } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { Leader, type LeaderParts } from "./leader.ts";
import { Leadership } from "./leadership.ts";

export interface CandidacyParts extends Omit<
  LeaderParts,
  "term" | "known" | "knownChanges" | "hasTakenPart" | "isLeading"
> {
  readonly clock: Clock;
  readonly node: string;
  readonly leaseMs: number;
  readonly random?: Random;
  readonly known: () => LeaderParts["known"];
  readonly knownChanges: () => LeaderParts["knownChanges"];
  readonly hasTakenPart: () => boolean;
}

/** How long a leader waits at the end for the last words of the others. */
const FAREWELL_MS_MAX = 8_000;
const LOOK_MS = 100;

export class Candidacy {
  readonly #parts: CandidacyParts;
  readonly #leadership: Leadership;
  #leader: Leader | undefined;
  /** Settled when nothing of earlier leaders is left. */
  #before: Promise<void> = Promise.resolve();

  constructor(parts: CandidacyParts) {
    this.#parts = parts;
    const { registry, clock, node, leaseMs, random } = parts;
    this.#leadership = new Leadership({
      registry,
      clock,
      node,
      leaseMs,
      ...(random === undefined ? {} : { random }),
      onGained: (term) => this.#onGained(term),
      onLost: () => this.#onLost(),
    });
    this.#leadership.start();
  }

  /** Only while this node leads. */
  get leader(): Leader | undefined {
    return this.#leader;
  }

  /** This node's own part has ended: it leads until that is known, but not for ever. */
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
    await this.#leadership.stop();
  }

  #onGained(term: number): void {
    const { log, onFault, known, knownChanges, hasTakenPart } = this.#parts;
    log.write({ level: "info", message: "this node leads", values: { term } });
    const isLeading = (): boolean => this.#leadership.term === term;
    const leader = new Leader({
      ...this.#parts,
      term,
      known: known(),
      knownChanges: knownChanges(),
      hasTakenPart: hasTakenPart(),
      isLeading,
    });
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
