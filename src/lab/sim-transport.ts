/**
 * Simulates the network in virtual time: answers have the latency and the speed of their server, and
 * all limits of a real transport apply.
 *
 * With a shared link, pieces queue in the order they were sent, as at a bottleneck. With a wire, every
 * byte is counted on arrival, read or not.
 */

import type { Clock } from "../base/clock.ts";
import type { Transport, TransportRequest } from "../fetch/transport.ts";
import type { Conduct } from "./faults.ts";
import { type Ending, SimExchange } from "./sim-exchange.ts";
import { ServerCrowd, SharedLink, type SimLine } from "./sim-stream.ts";
import type { SimWire } from "./sim-wire.ts";

export interface SimNetwork {
  readonly clock: Clock;
  readonly conductOf: (request: TransportRequest) => Conduct;
  /** Called at the start of every request; the returned function is called at its end. */
  readonly watch?: (request: TransportRequest) => (ending: Ending) => void;
  /** The rate that all requests share; undefined when only the servers are slow. */
  readonly linkBps?: number;
  /** Counts arriving bytes. */
  readonly wire?: SimWire;
}

export class SimTransport implements Transport {
  readonly #network: SimNetwork;
  readonly #line: SimLine;
  readonly #open = new Set<SimExchange>();
  /** Number of idle connections by origin and address. */
  readonly #idle = new Map<string, number>();
  #isClosed = false;

  constructor(network: SimNetwork) {
    this.#network = network;
    this.#line = {
      clock: network.clock,
      link: new SharedLink(network.linkBps),
      servers: new ServerCrowd(),
      wire: network.wire,
      windowBytes: undefined,
    };
  }

  exchange(request: TransportRequest): Promise<Ending> {
    return new Promise((resolve) => {
      const watched = this.#network.watch?.(request);
      const key = `${request.scheme}://${request.host}:${request.port} ${request.address}`;
      const exchange = new SimExchange({
        request,
        conduct: this.#network.conductOf(request),
        line: this.#line,
        isConnected: this.#takeConnection(key),
        onEnd: (ending) => {
          this.#open.delete(exchange);
          if (ending.kind === "answer" && ending.truncated === undefined) this.#release(key);
          watched?.(ending);
          resolve(ending);
        },
      });
      this.#open.add(exchange);
      if (this.#isClosed) exchange.fail("conn_reset", "the transport is closed");
      else {
        // Servers of a world log a request when it starts, so it counts as sent now.
        request.onSent?.();
        exchange.begin();
      }
    });
  }

  /** Applies to all connections at once, open ones included. Like real systems, it offers half of the buffer. */
  setWindow(bytes: number | undefined): void {
    this.#line.windowBytes = bytes === undefined ? undefined : Math.ceil(bytes / 2);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const exchange of this.#open) exchange.fail("conn_reset", "the transport was closed");
  }

  #takeConnection(key: string): boolean {
    const count = this.#idle.get(key) ?? 0;
    if (count > 1) this.#idle.set(key, count - 1);
    else this.#idle.delete(key);
    return count > 0;
  }

  #release(key: string): void {
    this.#idle.set(key, (this.#idle.get(key) ?? 0) + 1);
  }
}
