/** The bus over a real nats-server: the suite of every bus, and what a server can do to it. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { below, type Random, randomFrom } from "../../src/base/random.ts";
import { openJetStreamBus } from "../../src/exchange/bus-jetstream.ts";
import { busSuite } from "../../src/exchange/bus.suite.ts";
import { type Bus, type Membership, PARCEL_BYTES_MAX } from "../../src/exchange/bus.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { NATS_MISSING, NatsServer } from "./nats-server.ts";

const DONE_MS_MAX = 60_000;

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
    const note = { text: "x".repeat(60_000) };
    for (let count = 0; count < 20_000; count++) {
      assert.equal(member.send({ id: `p${count}`, to: "a", body }), false);
      member.tell("a", note);
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

/** Nodes with outboxes: what one writes is sent again every quarter second until its receipt. */
class Post implements AsyncDisposable {
  readonly crawl: string;
  readonly #buses = new Map<string, Bus>();
  readonly #members = new Map<string, Membership>();
  readonly #arrived = new Map<string, Map<string, Buffer>>();
  readonly #outbox = new Map<string, { from: string; to: string; body: Uint8Array }>();
  readonly #timer = setInterval(() => this.#resend(), 250);
  #written = 0;

  constructor(crawl: string) {
    this.crawl = crawl;
  }

  async join(name: string, url: string): Promise<Membership> {
    const bus = await openJetStreamBus({ servers: [url], crawl: this.crawl });
    const arrived = this.#arrived.get(name) ?? new Map<string, Buffer>();
    this.#arrived.set(name, arrived);
    const member = await bus.join(name, {
      onParcel: (parcel) => {
        assert.equal(parcel.to, name);
        const before = arrived.get(parcel.id);
        if (before !== undefined) assert.ok(before.equals(parcel.body), "a repeat is the same");
        arrived.set(parcel.id, Buffer.from(parcel.body));
        member.acknowledge(parcel);
      },
      onReceipt: ({ parcelId, from, to }) => {
        const sent = this.#outbox.get(parcelId);
        if (sent === undefined) return;
        assert.deepEqual([from, to], [sent.to, sent.from]);
        const came = this.#arrived.get(from)?.get(parcelId);
        assert.ok(came?.equals(sent.body), `${parcelId} arrived as it was sent`);
        this.#outbox.delete(parcelId);
      },
      onNote() {},
    });
    this.#buses.set(name, bus);
    this.#members.set(name, member);
    return member;
  }

  async leave(name: string): Promise<void> {
    await this.#members.get(name)?.leave();
    await this.#buses.get(name)?.close();
    this.#members.delete(name);
  }

  write(from: string, to: string, body: Uint8Array): void {
    const id = `p${this.#written++}`;
    this.#outbox.set(id, { from, to, body });
    this.#members.get(from)?.send({ id, to, body });
  }

  delivered(): Promise<void> {
    return until(() => this.#outbox.size === 0);
  }

  bodiesAt(name: string): string[] {
    return [...(this.#arrived.get(name)?.values() ?? [])].map(String);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    for (const bus of this.#buses.values()) await bus.close();
  }

  #resend(): void {
    for (const [id, { from, to, body }] of this.#outbox)
      this.#members.get(from)?.send({ id, to, body });
  }
}

async function until(isDone: () => boolean): Promise<void> {
  for (const endMs = performance.now() + DONE_MS_MAX; !isDone(); await wait(20))
    assert.ok(performance.now() < endMs, "a minute was not enough");
}

function noise(random: Random, bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, () => below(random, 256));
}
