/**
 * The paper's way of holding the limit, `predict`: Diligenti, Maggini, Pucci and Scarselli, *Design
 * of a Crawler with Bounded Bandwidth*, WWW 2004, section 2.
 *
 * CB is the sum of B(u) over running downloads; u may start when CB + B(u) <= L. Nothing is paced
 * but the fastest servers, those with B(u) > L: they never fit, so they are let in when they have
 * been passed over too long, and read at the rate that the others leave. The caller searches the queue, down to max_d, and on until nothing more fits: the step 5 that was printed would
 * stop at once.
 */

import { assert } from "../../base/assert.ts";
import { Account } from "../paced/account.ts";
import type { Candidate, Controller, Flow } from "../controller.ts";

/** What a starved server gets at least: without it a full pipe would starve it for ever. */
const STARVED_SHARE = 0.25;
const STEP_SHARE = 0.02;

interface PredictedFlow extends Flow {
  receivedBytes: number;
  announcedBytes: number | undefined;
  /** Its part of CB. */
  readonly countedBps: number;
  /** Its own rate, when it has to be held back. */
  readonly account: Account | undefined;
}

export class Admission implements Controller {
  readonly #passedOverMaxMs: number;
  readonly #waiting = new Set<PredictedFlow>();
  #limitBps: number | undefined;
  #predictedBps = 0;
  #underWay = 0;

  constructor(limitBps: number | undefined, passedOverMaxMs: number) {
    this.#limitBps = limitBps;
    this.#passedOverMaxMs = passedOverMaxMs;
  }

  get predictedBps(): number {
    return this.#predictedBps;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  setLimit(_nowMs: number, limitBps: number | undefined): void {
    this.#limitBps = limitBps;
  }

  setWindow(): void {}

  /** Windows are the system's here, and cannot be too narrow. */
  isHungry(): boolean {
    return false;
  }

  /** Only beginnings are decided here, and these are asked about in the order of the queue. */
  setOrder(): void {}

  /** The paper knows one limit for all. */
  setSiteLimit(): void {}

  siteHasRoom(): boolean {
    return true;
  }

  admits(_nowMs: number, { predictedBps, passedOverMs }: Candidate): boolean {
    if (this.#limitBps === undefined || passedOverMs >= this.#passedOverMaxMs) return true;
    // Alone, even the fastest is no danger: it is read at the limit.
    if (this.#underWay === 0) return true;
    return this.#predictedBps + predictedBps <= this.#limitBps;
  }

  begin(nowMs: number, candidate: Candidate): Flow {
    const limitBps = this.#limitBps ?? Infinity;
    const leftBps = Math.max(limitBps - this.#predictedBps, limitBps * STARVED_SHARE);
    const isHeld = candidate.predictedBps > limitBps;
    const flow: PredictedFlow = {
      ...candidate,
      startedAtMs: nowMs,
      receivedBytes: 0,
      announcedBytes: undefined,
      countedBps: isHeld ? leftBps : candidate.predictedBps,
      account: isHeld ? new Account(nowMs, leftBps, leftBps * STEP_SHARE) : undefined,
    };
    this.#predictedBps += flow.countedBps;
    this.#underWay += 1;
    return flow;
  }

  came(nowMs: number, flow: Flow, bytes: number): boolean {
    const own = flow as PredictedFlow;
    own.receivedBytes += bytes;
    own.account?.spend(bytes);
    if (own.account === undefined || own.account.balanceBytes(nowMs) > 0) return true;
    this.#waiting.add(own);
    return false;
  }

  announce(_nowMs: number, flow: Flow, bytes: number | undefined): void {
    (flow as PredictedFlow).announcedBytes = bytes;
  }

  next(nowMs: number): Flow | undefined {
    for (const flow of this.#waiting) {
      if ((flow.account?.balanceBytes(nowMs) ?? 1) <= 0) continue;
      this.#waiting.delete(flow);
      return flow;
    }
    return undefined;
  }

  end(_nowMs: number, flow: Flow): void {
    const own = flow as PredictedFlow;
    this.#waiting.delete(own);
    this.#underWay -= 1;
    assert(this.#underWay >= 0, "a download ends once");
    // Sums of many fractions drift; an empty pipe is the moment to forget that.
    this.#predictedBps = this.#underWay === 0 ? 0 : this.#predictedBps - own.countedBps;
  }

  nextAtMs(nowMs: number): number {
    let atMs = Infinity;
    for (const flow of this.#waiting) atMs = Math.min(atMs, flow.account?.hasAtMs(1) ?? nowMs);
    return Math.max(nowMs, atMs);
  }
}
