/** The bus over a real nats-server: the suite of every bus, and what a server can do to it. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { below, randomFrom } from "../../src/base/random.ts";
import { openJetStreamBus } from "../../src/exchange/nats/bus-jetstream.ts";
import { busSuite } from "../../src/exchange/bus.suite.ts";
import { PARCEL_BYTES_MAX } from "../../src/exchange/bus.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { noise, Post, until } from "./nats-post.ts";
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

  test("names that mean something in a subject reach only the node of that name", async () => {
    await using post = new Post(`a.b *> ${crawls++}`);
    const names = ["*", ">", "a.b", "a", "b", "a_2eb", "ä", "x".repeat(300)];
    for (const name of names) await post.join(name, server.url);
    for (const name of names) post.write("a", name, Buffer.from(name));
    await post.delivered();
    for (const name of names) assert.deepEqual(post.bodiesAt(name), [name]);
  });

  test("crawls of different names share a server and do not meet", async () => {
    await using one = new Post(`one ${crawls}`);
    await using other = new Post(`other ${crawls++}`);
    for (const post of [one, other]) {
      await post.join("a", server.url);
      post.write("a", "a", Buffer.from(post.crawl));
      await post.delivered();
    }
    assert.deepEqual(one.bodiesAt("a"), [one.crawl]);
    assert.deepEqual(other.bodiesAt("a"), [other.crawl]);
  });

  test("parcels larger than a message travel in pieces, and arrive as they were", async () => {
    await using small = await NatsServer.start({ config: "max_payload: 128KB" });
    for (const { url } of [small, server]) {
      await using post = new Post(`pieces ${crawls++}`);
      await post.join("a", url);
      const random = randomFrom(1);
      for (const bytes of [0, 1, 100_000, 112 * 1024, 120_000, PARCEL_BYTES_MAX])
        post.write("a", "a", noise(random, bytes));
      await post.delivered();
    }
  });

  test("kills, wipes, cuts and stalls lose nothing of what is sent until its receipt", async () => {
    await using doomed = await NatsServer.start();
    await using proxy = await FaultProxy.start(doomed.port);
    await using post = new Post("faults");
    await post.join("a", doomed.url);
    await post.join("b", proxy.url);
    const random = randomFrom(1);
    const disturbances: (() => Promise<void> | void)[] = [
      () => doomed.restart(),
      () => doomed.wipe(),
      () => proxy.cut(),
      () => proxy.heal(),
      () => proxy.stall(),
      () => proxy.heal(),
      () => doomed.restart(),
      () => doomed.wipe(),
    ];
    for (const disturb of disturbances) {
      for (let count = 0; count < 50; count++) {
        const bytes = below(random, 20_000);
        post.write("a", "b", noise(random, bytes));
        post.write("b", "a", noise(random, bytes));
      }
      await wait(100);
      await disturb();
      await wait(200);
    }
    await post.delivered();
  });

  test("a server away is said at once by refusing, and no memory is spent on it", async () => {
    await using doomed = await NatsServer.start();
    await using post = new Post("away");
    const member = await post.join("a", doomed.url);
    await doomed.kill();
    await until(() => !member.send({ id: "p", to: "a", body: new Uint8Array(1) }));
    const before = process.memoryUsage().rss;
    const body = new Uint8Array(PARCEL_BYTES_MAX);
    const control = { text: "x".repeat(60_000) };
    for (let count = 0; count < 20_000; count++) {
      assert.equal(member.send({ id: `p${count}`, to: "a", body }), false);
      member.tell("a", control);
      if (count % 1_000 === 0) await wait(1);
    }
    assert.ok(process.memoryUsage().rss - before < 200_000_000);
    await doomed.restart();
    post.write("a", "a", Buffer.from("back"));
    await post.delivered();
  });

  test("a parcel for a node that is away waits for it", async () => {
    await using post = new Post(`away ${crawls++}`);
    const sender = await post.join("a", server.url);
    await post.join("b", server.url);
    await post.leave("b");
    await until(() => sender.send({ id: "p", to: "b", body: new Uint8Array([1]) }));
    await wait(300);
    await post.join("b", server.url);
    await until(() => post.bodiesAt("b").length > 0);
    assert.deepEqual(post.bodiesAt("b"), ["\u0001"]);
  });
}
