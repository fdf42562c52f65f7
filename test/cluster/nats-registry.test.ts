/** The registry over a real nats-server: the suite of every registry, with a store that is wiped. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connectNats } from "../../src/exchange/nats/connection.ts";
import { openJetStreamRegistry } from "../../src/exchange/nats/registry-jetstream.ts";
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
    };
  });
}

test(
  "what others write into the table is replaced by the next writer, and nothing else is lost",
  {
    skip: NATS_MISSING,
  },
  async () => {
    await using server = await NatsServer.start();
    const options = { servers: [server.url], crawl: "junk" };
    await using stack = new AsyncDisposableStack();
    const opened = async <T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T> =>
      stack.adopt(await opening, (one) => one.close());
    const registry = await opened(openJetStreamRegistry(options));
    const other = await opened(openJetStreamRegistry(options));
    const link = await opened(connectNats(options));
    const revision = (await registry.put("kept", "1", 0)) ?? 0;
    const written = (value: unknown): string => JSON.stringify({ key: "life", value });
    const junk = [
      "",
      "null",
      "rubbish",
      written("x"),
      written(7),
      written("-1"),
      written("99999999"),
    ];
    for (const text of junk) {
      await link.client.publish("$KV.weir-junk.life", text);
      assert.deepEqual(await registry.get("kept"), { value: "1", revision }, text);
      assert.deepEqual(await other.get("kept"), { value: "1", revision }, text);
    }
    const { subjects = {} } = (
      await link.manager.streams.info("KV_weir-junk", { subjects_filter: ">" })
    ).state;
    const [subject = ""] = Object.keys(subjects).filter((one) => one.endsWith(".kept"));
    await link.client.publish(subject, "rubbish");
    assert.equal(await registry.get("kept"), undefined);
    assert.equal(await registry.put("kept", "2", revision), undefined, "compare-and-set is kept");
    const after = await other.put("kept", "2", 0);
    assert.deepEqual(await registry.get("kept"), { value: "2", revision: after });
  },
);
