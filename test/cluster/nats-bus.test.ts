/** The bus over a real nats-server: the suite of every bus, and what a server can do to it. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { openJetStreamBus } from "../../src/exchange/bus-jetstream.ts";
import { busSuite } from "../../src/exchange/bus.suite.ts";
import { type Bus, type Membership, type Parcel, PARCEL_BYTES_MAX } from "../../src/exchange/bus.ts";
import { NATS_MISSING, NatsServer } from "./nats-server.ts";

if (NATS_MISSING !== false) test("the bus over NATS", { skip: NATS_MISSING }, () => {});
else {
  let server: NatsServer;
  let crawls = 0;
  before(async () => {
    server = await NatsServer.start();
  });
  after(() => server[Symbol.asyncDispose]());

  busSuite("JetStream", async () => {
    const bus = await openJetStreamBus({ servers: [server.url], crawl: `suite ${crawls++}` });
    return { bus, settle: () => wait(20) };
  });
}
