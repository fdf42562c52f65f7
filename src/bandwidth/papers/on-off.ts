/**
 * The way of holding the limit that the paper compares itself with, `onoff`: Shkapenyuk and Suel,
 * *Design and Implementation of a High-Performance Distributed Web Crawler*, ICDE 2002.
 *
 * Every second the rate of the last one is looked at: below the limit one more download may run,
 * above it one is stopped, the youngest first; stopped means that its reading waits. It oscillates,
 * and is here to be compared with.
 */

import type { Candidate, Controller, Flow } from "../controller.ts";

const LOOK_EVERY_MS = 1000;

interface CountedFlow extends Flow {
  receivedBytes: number;
  announcedBytes: number | undefined;
}

export class OnOff implements Controller {
  #limitBps: number | undefined;
  #runningMax = 1;
  #lookedAtMs: number;
  #bytesSince = 0;
  #lastBps = 0;
  /** In the order in which they began. */
  readonly #flows = new Set<CountedFlow>();
  readonly #stopped = new Set<CountedFlow>();

  constructor(nowMs: number, limitBps: number | undefined) {
    this.#limitBps = limitBps;
    this.#lookedAtMs = nowMs;
  }

  /** It predicts nothing: the next second is expected to be like the last. */
  get predictedBps(): number {
    return this.#lastBps;
  }

  get waiting(): number {
    return this.#stopped.size;
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

  setSiteLimit(): void {}

  siteHasRoom(): boolean {
    return true;
  }

  admits(nowMs: number): boolean {
    this.#look(nowMs);
    return this.#limitBps === undefined || this.#flows.size < this.#runningMax;
  }

  begin(nowMs: number, candidate: Candidate): Flow {
    const flow: CountedFlow = {
      ...candidate,
      startedAtMs: nowMs,
      receivedBytes: 0,
      announcedBytes: undefined,
    };
    this.#flows.add(flow);
    return flow;
  }

  came(nowMs: number, flow: Flow, bytes: number): boolean {
    const own = flow as CountedFlow;
    own.receivedBytes += bytes;
    this.#look(nowMs);
    this.#bytesSince += bytes;
    if (this.#mayRun(own)) return true;
    this.#stopped.add(own);
    return false;
  }

  announce(_nowMs: number, flow: Flow, bytes: number | undefined): void {
    (flow as CountedFlow).announcedBytes = bytes;
  }

  next(nowMs: number): Flow | undefined {
    this.#look(nowMs);
    for (const flow of this.#stopped) {
      if (!this.#mayRun(flow)) continue;
      this.#stopped.delete(flow);
      return flow;
    }
    return undefined;
  }

  end(_nowMs: number, flow: Flow): void {
    this.#flows.delete(flow as CountedFlow);
    this.#stopped.delete(flow as CountedFlow);
  }

  nextAtMs(): number {
    return this.#limitBps === undefined ? Infinity : this.#lookedAtMs + LOOK_EVERY_MS;
  }

  #mayRun(flow: CountedFlow): boolean {
    if (this.#limitBps === undefined || this.#flows.size <= this.#runningMax) return true;
    let rank = 0;
    for (const other of this.#flows) {
      if (other === flow) return rank < this.#runningMax;
      rank += 1;
    }
    return true;
  }

  #look(nowMs: number): void {
    const elapsedMs = nowMs - this.#lookedAtMs;
    if (elapsedMs < LOOK_EVERY_MS) return;
    this.#lastBps = (this.#bytesSince * 1000) / elapsedMs;
    this.#lookedAtMs = nowMs;
    this.#bytesSince = 0;
    const step = this.#lastBps < (this.#limitBps ?? Infinity) ? 1 : -1;
    // Permits beyond what runs would all be used at once, later.
    this.#runningMax = Math.max(1, Math.min(this.#runningMax, this.#flows.size) + step);
  }
}
