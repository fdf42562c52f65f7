/** The registry over a real nats-server: the suite of every registry, with a store that is wiped. */

import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { openJetStreamRegistry } from "../../src/exchange/registry-jetstream.ts";
import { registrySuite } from "../../src/exchange/registry.suite.ts";
import { NATS_MISSING, NatsServer } from "./nats-server.ts";

if (NATS_MISSING !== false) test("the registry over NATS", { skip: NATS_MISSING }, () => {});
else {
  let server: NatsServer;
  let crawls = 0;
  before(async () => {
    server = await NatsServer.start();
  });
  after(() => server[Symbol.asyncDispose]());

  registrySuite("JetStream", async () => {
    const options = { servers: [server.url], crawl: `suite ${crawls++}` };
    return {
      ours: await openJetStreamRegistry(options),
      theirs: await openJetStreamRegistry(options),
      wipe: () => server.wipe(),
      settle: () => wait(100),
    };
  });
}
