/**
 * A TCP way through loopback that can be cut, stalled and slowed, to make a partition of one node.
 *
 * `cut` ends all connections and refuses new ones, like a pulled cable with a switch that says so;
 * `stall` lets connections stand and carries nothing, like a cable pulled far away; `delayMs`
 * holds every chunk back. `heal` undoes all of it, and what was stalled is carried then.
 */

import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

interface Way {
  readonly from: Socket;
  readonly to: Socket;
  /** What is held back, oldest first, so that bytes keep their order when the delay changes. */
  readonly held: { readonly dueMs: number; readonly chunk: Buffer }[];
}

export class FaultProxy implements AsyncDisposable {
  /** Added to every chunk, each way. */
  delayMs = 0;
  readonly #server: Server;
  readonly #targetPort: number;
  readonly #ways = new Set<Way>();
  #state: "open" | "cut" | "stalled" = "open";

  constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async start(targetPort: number): Promise<FaultProxy> {
    const proxy = new FaultProxy(targetPort);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `nats://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(): void {
    this.#state = "cut";
    for (const { from, to } of this.#ways) {
      from.destroy();
      to.destroy();
    }
  }

  stall(): void {
    this.#state = "stalled";
    for (const { from } of this.#ways) from.pause();
  }

  heal(): void {
    this.#state = "open";
    this.delayMs = 0;
    for (const { from } of this.#ways) from.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    if (this.#state === "cut") return void client.destroy();
    const server = connect(this.#targetPort, "127.0.0.1");
    this.#carry({ from: client, to: server, held: [] });
    this.#carry({ from: server, to: client, held: [] });
  }

  #carry(way: Way): void {
    const { from, to } = way;
    this.#ways.add(way);
    from.on("data", (chunk: Buffer) => {
      way.held.push({ dueMs: performance.now() + this.delayMs, chunk });
      if (way.held.length === 1) release(way);
    });
    const end = (): void => {
      this.#ways.delete(way);
      from.destroy();
      to.destroy();
    };
    from.on("error", end).on("close", end);
    if (this.#state === "stalled") from.pause();
  }
}

function release(way: Way): void {
  for (let next = way.held[0]; next !== undefined; next = way.held[0]) {
    const waitMs = next.dueMs - performance.now();
    if (waitMs > 0) return void setTimeout(() => release(way), waitMs);
    if (!way.to.destroyed) way.to.write(next.chunk);
    way.held.shift();
  }
}
