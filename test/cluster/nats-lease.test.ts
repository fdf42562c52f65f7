/** Lease over a real nats-server that is killed, wiped and cut off. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "../../src/base/clock.ts";
import { Lease } from "../../src/cluster/nats/lease.ts";
import { openJetStreamRegistry } from "../../src/exchange/nats/registry-jetstream.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { NATS_MISSING, NatsServer } from "./nats-server.ts";

const LEASE_MS = 1_500;
const WAIT_MS_MAX = 300_000;
const WHERE_NATS = { skip: NATS_MISSING };

interface Candidate {
  readonly name: string;
  readonly proxy: FaultProxy;
  readonly lease: Lease;
  readonly end: () => Promise<void>;
}

/** Nodes that each reach the server by a way of their own, and a witness of who led when. */
class Candidates implements AsyncDisposable {
  readonly all: Candidate[] = [];
  readonly terms: number[] = [];
  readonly #server: NatsServer;

  constructor(server: NatsServer) {
    this.#server = server;
  }

  async add(name: string): Promise<void> {
    const proxy = await FaultProxy.start(this.#server.port);
    const registry = await openJetStreamRegistry({ servers: [proxy.url], crawl: "leaders" });
    const lease = new Lease({
      registry,
      clock: systemClock,
      node: name,
      leaseMs: LEASE_MS,
      onGained: (term) => {
        this.terms.push(term);
        assert.deepEqual(this.leading(), [name], "another still leads");
      },
      onLost: () => {},
    });
    const end = async (): Promise<void> => {
      await lease.stop();
      await registry.close();
      await proxy[Symbol.asyncDispose]();
    };
    this.all.push({ name, proxy, lease, end });
    lease.start();
  }

  leading(): string[] {
    return this.all.filter(({ lease }) => lease.term !== undefined).map(({ name }) => name);
  }

  async leader(isWelcome: (candidate: Candidate) => boolean = () => true): Promise<Candidate> {
    for (const endMs = performance.now() + WAIT_MS_MAX; ; await wait(10)) {
      const leading = this.leading();
      assert.ok(leading.length <= 1, `${leading.join()} lead at once`);
      const leader = this.all.find(({ name }) => name === leading[0]);
      if (leader !== undefined && isWelcome(leader)) return leader;
      assert.ok(performance.now() < endMs, "nobody leads");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { proxy, end } of this.all) {
      proxy.heal();
      await end();
    }
  }
}

test(
  "somebody leads, never two, through kills, wipes and cuts of a real server",
  WHERE_NATS,
  async () => {
    await using server = await NatsServer.start();
    await using candidates = new Candidates(server);
    for (const name of ["a", "b", "c"]) await candidates.add(name);
    const first = await candidates.leader();

    await server.restart();
    await server.wipe();
    const second = await candidates.leader();
    second.proxy.cut();
    const third = await candidates.leader((candidate) => candidate !== second);
    second.proxy.heal();
    third.proxy.stall();
    await candidates.leader((candidate) => candidate !== third);
    third.proxy.heal();
    await server.wipe();
    const last = await candidates.leader();
    await last.lease.stop();
    await candidates.leader((candidate) => candidate !== last);

    assert.ok(first.lease.leader !== undefined);
    assert.deepEqual(
      candidates.terms,
      [...new Set(candidates.terms)].toSorted((a, b) => a - b),
    );
  },
);
