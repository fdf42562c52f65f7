/** Servers that are more than one: behind a leaf node, and three that keep copies. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { openJetStreamRegistry } from "../../src/exchange/nats/registry-jetstream.ts";
import { type Registry, RegistryAway } from "../../src/exchange/registry.ts";
import { Post } from "./nats-post.ts";
import { freePort, NATS_MISSING, NatsServer } from "./nats-server.ts";

const WHERE_NATS = { skip: NATS_MISSING };
const START_MS_MAX = 300_000;

/** A cluster of servers takes a while to agree on who stores what. */
async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (const endMs = performance.now() + START_MS_MAX; ; await wait(200)) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
  }
}

test("a distant node meets the others through a leaf node", WHERE_NATS, async () => {
  const port = await freePort();
  await using hub = await NatsServer.start({
    config: `leafnodes { listen: "127.0.0.1:${port}" }`,
  });
  await hub.configure((text) => text.replace("jetstream {", "jetstream { domain: hub,"));
  await hub.restart();
  await using leaf = await NatsServer.start({
    jetstream: false,
    config: `leafnodes { remotes: [{ url: "nats://127.0.0.1:${port}" }] }`,
  });
  const options = { crawl: "distant", domain: "hub" };
  await using post = new Post("distant");
  await eventually(() => post.join("far", leaf.url, options));
  await post.join("near", hub.url, options);
  post.write("far", "near", Buffer.from("from far"));
  post.write("near", "far", Buffer.alloc(1_000_000, "near"));
  await post.delivered();

  const far = await openJetStreamRegistry({ ...options, servers: [leaf.url] });
  const near = await openJetStreamRegistry({ ...options, servers: [hub.url] });
  const revision = (await near.put("key", "1", 0)) ?? 0;
  assert.equal((await far.get("key"))?.value, "1");
  assert.ok((await far.put("key", "2", revision)) !== undefined);
  assert.equal((await near.get("key"))?.value, "2");
  await far.close();
  await near.close();
});

test(
  "of three servers with copies one may die, and nothing written is lost",
  WHERE_NATS,
  async () => {
    const ports = [await freePort(), await freePort(), await freePort()];
    const routes = ports.map((port) => `"nats://127.0.0.1:${port}"`).join(", ");
    const servers = await Promise.all(
      ports.map((port, index) =>
        NatsServer.start({
          config: `server_name: s${index}
          cluster { name: c, listen: "127.0.0.1:${port}", routes: [${routes}] }`,
        }),
      ),
    );
    await using stack = new AsyncDisposableStack();
    for (const server of servers) stack.use(server);
    const options = { crawl: "copies", replicas: 3, servers: servers.map(({ url }) => url) };
    const registry = await eventually(() => openJetStreamRegistry(options));
    await using post = new Post("copies");
    await eventually(() => post.join("a", servers[0]?.url ?? "", options));
    await post.join("b", servers[1]?.url ?? "", options);
    const revision = (await eventually(() => registry.put("key", "with", 0))) ?? 0;
    await servers[0]?.kill();
    post.write("a", "b", Buffer.from("without"));
    post.write("b", "a", Buffer.from("without"));
    await post.delivered();
    const later = await written(registry, revision, "without");
    await servers[0]?.restart();
    assert.deepEqual(await eventually(() => registry.get("key")), {
      value: "without",
      revision: later,
    });
    await registry.close();
  },
);

/** Writes, although it may not be known at first whether it was written. */
async function written(registry: Registry, expected: number, value: string): Promise<number> {
  return eventually(async () => {
    const entry = await registry.get("key");
    if (entry?.value === value) return entry.revision;
    assert.equal(entry?.revision, expected, "what was written is not lost");
    const revision = await registry.put("key", value, expected);
    if (revision === undefined) throw new RegistryAway("not yet");
    return revision;
  });
}
