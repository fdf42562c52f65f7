/**
 * The network, simulated: answers come after the latency and at the speed of their server, in
 * virtual time, and keep to every limit a real transport keeps to.
 *
 * With a shared link, pieces queue for it in the order they were sent, as they would at the narrow
 * end of a line. With a wire, every byte is counted as it arrives, read or not.
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
  /** Told of every request as it begins; the answer is called when it ends. */
  readonly watch?: (request: TransportRequest) => (ending: Ending) => void;
  /** The rate that all requests share; undefined when only the servers are slow. */
  readonly linkBps?: number;
  /** Counts what arrives. */
  readonly wire?: SimWire;
}

export class SimTransport implements Transport {
  readonly #network: SimNetwork;
  readonly #line: SimLine;
  readonly #underWay = new Set<SimExchange>();
  /** Open connections that rest, by where they lead. */
  readonly #resting = new Map<string, number>();
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
          this.#underWay.delete(exchange);
          if (ending.kind === "answer" && ending.truncated === undefined) this.#rest(key);
          watched?.(ending);
          resolve(ending);
        },
      });
      this.#underWay.add(exchange);
      if (this.#isClosed) exchange.fail("conn_reset", "the transport is closed");
      else {
        // Servers of a world log a request when it is begun, so that is when it goes out.
        request.onSent?.();
        exchange.begin();
      }
    });
  }

  /** Holds at once for every connection, also for those that are open. As real systems do, it offers half. */
  setWindow(bytes: number | undefined): void {
    this.#line.windowBytes = bytes === undefined ? undefined : Math.ceil(bytes / 2);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const exchange of this.#underWay) exchange.fail("conn_reset", "the transport was closed");
  }

  #takeConnection(key: string): boolean {
    const count = this.#resting.get(key) ?? 0;
    if (count > 1) this.#resting.set(key, count - 1);
    else this.#resting.delete(key);
    return count > 0;
  }

  #rest(key: string): void {
    this.#resting.set(key, (this.#resting.get(key) ?? 0) + 1);
  }
}
