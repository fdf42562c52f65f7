/**
 * A pipe to try controllers on: servers that answer after a while and at their own speed, kernels
 * that hold a window for each connection, and a counter on the wire, in steps of a millisecond.
 *
 * It is cruder than the lab's network, on purpose: whatever holds here rests on no code of ours but
 * the controller's.
 */

import type { Random } from "../../base/random.ts";
import type { Candidate, Controller, Flow } from "../controller.ts";

export interface Server {
  readonly siteId: number;
  readonly speedBps: number;
  readonly waitMs: () => number;
  /** How long its header comes before its body; they come together when it is not said. */
  readonly bodyWaitMs?: () => number;
  readonly sizeBytes: () => number;
}

export interface PipePlan {
  readonly servers: readonly Server[];
  readonly random: Random;
  readonly connectionsMax: number;
  readonly windowBytes: number;
  /** What the controller is told about a server; the truth unless something else is tried. */
  /** Whether answers tell their length beforehand. */
  readonly isAnnounced: boolean;
  readonly guess?: (server: Server) => Partial<Candidate>;
  /** Milliseconds that our own program stands still, at the given one. */
  readonly stallMs?: (nowMs: number) => number;
}

interface Stream {
  readonly flow: Flow;
  readonly server: Server;
  readonly answersAtMs: number;
  /** When its header comes, if that is before the body. */
  headerAtMs: number | undefined;
  readonly wholeBytes: number;
  leftBytes: number;
  heldBytes: number;
  isReading: boolean;
  /** Whether anything of its body has been read. */
  isBegun: boolean;
}

const STEP_MS = 1;
const HEADER_BYTES = 200;

export class Pipe {
  readonly #plan: PipePlan;
  readonly #controller: Controller;
  readonly #streams = new Map<Flow, Stream>();
  readonly #wire: number[] = [];
  readonly #bytesBySite = new Map<number, number>();
  readonly #waitMs = new Map<number, number>();
  #sizeBytes = 16_384;
  #openMost = 0;
  #nowMs = 0;
  #standsUntilMs = 0;

  constructor(plan: PipePlan, controller: Controller) {
    this.#plan = plan;
    this.#controller = controller;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** The most downloads that were open at one time. */
  get openMost(): number {
    return this.#openMost;
  }

  bytesOf(siteId: number): number {
    return this.#bytesBySite.get(siteId) ?? 0;
  }

  run(durationMs: number): void {
    const untilMs = this.#nowMs + durationMs;
    while (this.#nowMs < untilMs) this.#step();
  }

  /** Nobody looks at anything, but time goes by: a laptop that sleeps. */
  sleep(durationMs: number): void {
    this.#nowMs += durationMs;
    for (let ms = 0; ms < durationMs; ms += STEP_MS) this.#wire.push(0);
  }

  /** Bytes in every window of a second that begins after `fromMs`, ten windows a second. */
  windows(fromMs: number, windowMs = 1000): number[] {
    const sums = [0];
    for (const bytes of this.#wire) sums.push((sums.at(-1) as number) + bytes);
    const windows: number[] = [];
    for (let at = fromMs; at + windowMs <= this.#wire.length; at += 100)
      windows.push((sums[at + windowMs] as number) - (sums[at] as number));
    return windows;
  }

  #step(): void {
    this.#nowMs += STEP_MS;
    let arrived = 0;
    for (const stream of this.#streams.values()) arrived += this.#send(stream);
    this.#wire.push(arrived);
    if (this.#nowMs < this.#standsUntilMs) return;
    this.#standsUntilMs = this.#nowMs + (this.#plan.stallMs?.(this.#nowMs) ?? 0);
    for (const stream of this.#streams.values()) this.#read(stream);
    for (let flow = this.#next(); flow !== undefined; flow = this.#next()) {
      const stream = this.#streams.get(flow) as Stream;
      stream.isReading = true;
      this.#read(stream);
    }
    this.#start();
  }

  #next(): Flow | undefined {
    return this.#controller.next(this.#nowMs);
  }

  /** A header that comes before its body is read at once. */
  #header(stream: Stream): number {
    const { headerAtMs, flow, wholeBytes } = stream;
    if (headerAtMs === undefined || this.#nowMs < headerAtMs) return 0;
    stream.headerAtMs = undefined;
    this.#controller.came(this.#nowMs, flow, HEADER_BYTES);
    this.#controller.announce(this.#nowMs, flow, HEADER_BYTES + wholeBytes);
    return HEADER_BYTES;
  }

  #send(stream: Stream): number {
    const headerBytes = this.#header(stream);
    if (headerBytes > 0) return headerBytes;
    if (this.#nowMs < stream.answersAtMs) return 0;
    const bytes = Math.min(
      stream.leftBytes,
      Math.ceil((stream.server.speedBps * STEP_MS) / 1000),
      this.#plan.windowBytes - stream.heldBytes,
    );
    stream.leftBytes -= bytes;
    stream.heldBytes += bytes;
    const { siteId } = stream.server;
    this.#bytesBySite.set(siteId, this.bytesOf(siteId) + bytes);
    return bytes;
  }

  #read(stream: Stream): void {
    if (!stream.isReading || stream.heldBytes === 0) return;
    if (this.#nowMs >= stream.answersAtMs && !stream.isBegun) {
      stream.isBegun = true;
      const meanMs = this.#waitMs.get(stream.server.siteId) ?? 0;
      const tookMs = this.#nowMs - stream.flow.startedAtMs;
      this.#waitMs.set(stream.server.siteId, meanMs + (tookMs - meanMs) / 4);
    }
    const isFirst = stream.flow.receivedBytes === 0;
    stream.isReading = this.#controller.came(this.#nowMs, stream.flow, stream.heldBytes);
    stream.heldBytes = 0;
    // The header is in what has just come.
    if (isFirst && stream.server.bodyWaitMs === undefined) {
      const bytes = this.#plan.isAnnounced ? stream.wholeBytes : undefined;
      this.#controller.announce(this.#nowMs, stream.flow, bytes);
    }
    if (stream.leftBytes > 0) return;
    this.#sizeBytes *= (stream.wholeBytes / this.#sizeBytes) ** 0.05;
    this.#controller.end(this.#nowMs, stream.flow);
    this.#streams.delete(stream.flow);
  }

  #start(): void {
    const { servers, random, connectionsMax, guess } = this.#plan;
    while (this.#streams.size < connectionsMax) {
      const server = servers[Math.floor(random.next() * servers.length)] as Server;
      const candidate = {
        siteId: server.siteId,
        predictedBps: server.speedBps,
        expectedBytes: this.#sizeBytes,
        expectedWaitMs: this.#waitMs.get(server.siteId) ?? 0,
        passedOverMs: 0,
        ...guess?.(server),
      };
      if (!this.#controller.admits(this.#nowMs, candidate)) return;
      const flow = this.#controller.begin(this.#nowMs, candidate);
      const wholeBytes = server.sizeBytes();
      const headerAtMs = this.#nowMs + server.waitMs();
      const bodyWaitMs = server.bodyWaitMs?.();
      this.#streams.set(flow, {
        flow,
        server,
        answersAtMs: headerAtMs + (bodyWaitMs ?? 0),
        headerAtMs: bodyWaitMs === undefined ? undefined : headerAtMs,
        wholeBytes,
        leftBytes: wholeBytes,
        heldBytes: 0,
        isReading: true,
        isBegun: false,
      });
      this.#openMost = Math.max(this.#openMost, this.#streams.size);
    }
  }
}

export interface Spread {
  readonly mean: number;
  readonly most: number;
  readonly deviation: number;
}

/** How windows lie around the limit, as shares of it. */
export function spreadOf(windows: readonly number[], limitBps: number): Spread {
  const mean = windows.reduce((sum, bytes) => sum + bytes, 0) / windows.length;
  const variance = windows.reduce((sum, bytes) => sum + (bytes - mean) ** 2, 0) / windows.length;
  return {
    mean: mean / limitBps,
    most: Math.max(...windows) / limitBps,
    deviation: Math.sqrt(variance) / limitBps,
  };
}
