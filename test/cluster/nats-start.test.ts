/** Every way a start over NATS can fail, tried on a real server that is set up that way. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { CrawlError, ErrorCode } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { natsOptionsOf } from "../../src/cluster/nats/node.ts";
import { defaultSettings } from "../../src/config/sources.ts";
import { openJetStreamBus } from "../../src/exchange/nats/bus-jetstream.ts";
import type { NatsOptions } from "../../src/exchange/nats/connection.ts";
import { openJetStreamRegistry } from "../../src/exchange/nats/registry-jetstream.ts";
import { ELSEWHERE, GOOD, KEY, ROOT } from "../hostile/certificates.ts";
import { newCredentials, newUserKey } from "./nats-keys.ts";
import { freePort, NATS_MISSING, NatsServer } from "./nats-server.ts";

const NODE = { onParcel() {}, onReceipt() {}, onMessage() {} };
const WHERE_NATS = { skip: NATS_MISSING };
/** What is promised is about five seconds; a busy machine may take longer. */
const REFUSAL_MS_MAX = 120_000;

/** How bus and registry answer alike, with a node that joins. */
async function answer(options: Partial<NatsOptions>): Promise<ErrorCode | "welcome"> {
  const all = { servers: [], crawl: "start", ...options };
  const answers = await Promise.all([
    answerOf(() => openBus(all)),
    answerOf(() => openRegistry(all)),
  ]);
  assert.equal(answers[0], answers[1], "bus and registry");
  return answers[0];
}

async function openBus(options: NatsOptions): Promise<void> {
  const bus = await openJetStreamBus(options);
  await bus.join("a", NODE).finally(() => bus.close());
}

async function openRegistry(options: NatsOptions): Promise<void> {
  const registry = await openJetStreamRegistry(options);
  await registry.put("key", "value", 0).finally(() => registry.close());
}

async function answerOf(open: () => Promise<void>): Promise<ErrorCode | "welcome"> {
  const startedMs = performance.now();
  try {
    await open();
    return "welcome";
  } catch (error) {
    assert.ok(performance.now() - startedMs < REFUSAL_MS_MAX);
    assert.equal((error as CrawlError).name, "CrawlError", String(error));
    return (error as CrawlError).code;
  }
}

test("no server, or one that does not respond, is BUS_UNREACHABLE", WHERE_NATS, async () => {
  const servers = [`nats://127.0.0.1:${await freePort()}`];
  assert.equal(await answer({ servers }), "BUS_UNREACHABLE");
  assert.equal(await answer({ servers: ["nats://nobody.invalid"] }), "BUS_UNREACHABLE");

  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const mute = `nats://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  assert.equal(await answer({ servers: [mute, ...servers] }), "BUS_UNREACHABLE");
  silent.close();
  await once(silent, "close");
});

test("one server of several is enough", WHERE_NATS, async () => {
  await using server = await NatsServer.start();
  const servers = [`nats://127.0.0.1:${await freePort()}`, server.url];
  assert.equal(await answer({ servers }), "welcome");
});

async function answerTo(
  config: string,
  credentials?: NatsOptions["credentials"],
): Promise<ErrorCode | "welcome"> {
  await using server = await NatsServer.start({ config });
  return await answer({ servers: [server.url], credentials });
}

test("a wrong password or token is BUS_DENIED, and the right one opens", WHERE_NATS, async () => {
  const byUser = "authorization { user: weir, password: right }";
  assert.equal(await answerTo(byUser), "BUS_DENIED");
  const wrong = { kind: "password", user: "weir", password: "wrong" } as const;
  assert.equal(await answerTo(byUser, wrong), "BUS_DENIED");
  assert.equal(await answerTo(byUser, { ...wrong, password: "right" }), "welcome");
  const byToken = 'authorization { token: "right" }';
  assert.equal(await answerTo(byToken, { kind: "token", token: "wrong" }), "BUS_DENIED");
  assert.equal(await answerTo(byToken, { kind: "token", token: "right" }), "welcome");
});

test(
  "user and password, or a token, in the URL open it as well, and are not in it later",
  WHERE_NATS,
  async () => {
    for (const [config, login] of [
      ["authorization { user: weir, password: right }", "weir:right"],
      ['authorization { token: "right" }', "right"],
    ] as const) {
      await using server = await NatsServer.start({ config });
      const natsServers = [server.url.replace("//", `//${login}@`)];
      const options = natsOptionsOf({ ...defaultSettings(), natsServers }, silentLog);
      assert.deepEqual(options.servers, [server.url]);
      assert.equal(await answer(options), "welcome");
    }
  },
);

function userWith(permissions: string): string {
  return `authorization { users: [{ user: weir, password: right, permissions: { ${permissions} } }] }`;
}

test("a user who may not use our subjects is BUS_DENIED", WHERE_NATS, async () => {
  const credentials = { kind: "password", user: "weir", password: "right" } as const;
  const noApi = userWith('publish: "weir.>", subscribe: ">"');
  assert.equal(await answerTo(noApi, credentials), "BUS_DENIED");
  // What docs/cluster.md says to allow.
  const enough = userWith(
    'publish: ["$JS.API.>", "$JS.ACK.>", "weir.>", "$KV.>"], subscribe: ["_INBOX.>", "weir.>"]',
  );
  assert.equal(await answerTo(enough, credentials), "welcome");
});

test("a key opens where its public half is known, and another does not", WHERE_NATS, async () => {
  const [known, stranger] = [newUserKey(), newUserKey()];
  await using server = await NatsServer.start({
    config: `authorization { users: [{ nkey: ${known.publicKey} }] }`,
  });
  const path = join(server.folder, "user.nk");
  const options = { servers: [server.url], credentials: { kind: "nkey", path } as const };
  assert.equal(await answer(options), "FILE_UNREADABLE");
  await writeFile(path, "not a key");
  assert.equal(await answer(options), "FILE_UNREADABLE");
  await writeFile(path, `${stranger.seed}\n`);
  assert.equal(await answer(options), "BUS_DENIED");
  await writeFile(path, `${known.seed}\n`);
  assert.equal(await answer(options), "welcome");
});

test("a credentials file opens where its operator is trusted", WHERE_NATS, async () => {
  const [ours, theirs] = [newCredentials(), newCredentials()];
  await using server = await NatsServer.start({ config: ours.config });
  const path = join(server.folder, "user.creds");
  const options = { servers: [server.url], credentials: { kind: "file", path } as const };
  await writeFile(path, theirs.file);
  assert.equal(await answer(options), "BUS_DENIED");
  await writeFile(path, ours.file);
  assert.equal(await answer(options), "welcome");
});

test("certificates are checked both ways, and what fails is BUS_TLS", WHERE_NATS, async () => {
  await using server = await NatsServer.start();
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(server.folder, name);
    await writeFile(path, text);
    return path;
  };
  const [caFile, keyFile] = [await write("ca.pem", ROOT), await write("key.pem", KEY)];
  const certFile = await write("cert.pem", GOOD);
  const servers = [server.url];
  assert.equal(await answer({ servers: [server.url.replace("nats:", "tls:")] }), "BUS_TLS");
  const config = (more: string): string =>
    `tls { cert_file: "${certFile}", key_file: "${keyFile}", ca_file: "${caFile}" ${more} }`;

  await server.configure((text) => `${text}\n${config("")}`);
  await server.restart();
  assert.equal(await answer({ servers }), "BUS_TLS");
  assert.equal(await answer({ servers, tls: { caFile } }), "welcome");
  await write("cert.pem", ELSEWHERE);
  await server.restart();
  assert.equal(await answer({ servers, tls: { caFile } }), "BUS_TLS");

  await write("cert.pem", GOOD);
  await server.configure((text) => text.replace(config(""), config(", verify: true")));
  await server.restart();
  assert.equal(await answer({ servers, tls: { caFile } }), "BUS_TLS");
  assert.equal(await answer({ servers, tls: { caFile, certFile, keyFile } }), "welcome");
  assert.equal(await answer({ servers, tls: { caFile: "/nowhere" } }), "FILE_UNREADABLE");
});

test(
  "a server or an account without JetStream, or without room, is BUS_NO_JETSTREAM",
  WHERE_NATS,
  async () => {
    {
      await using server = await NatsServer.start({ jetstream: false });
      assert.equal(await answer({ servers: [server.url] }), "BUS_NO_JETSTREAM");
    }
    const accounts = "accounts { A { users: [{ user: weir, password: right }] } }";
    const credentials = { kind: "password", user: "weir", password: "right" } as const;
    assert.equal(await answerTo(accounts, credentials), "BUS_NO_JETSTREAM");
    await using server = await NatsServer.start();
    await server.configure((text) => text.replace('store"', 'store", max_file_store: 1MB'));
    await server.restart();
    assert.equal(await answer({ servers: [server.url] }), "BUS_NO_JETSTREAM");
  },
);

test(
  "messages that are too small are BUS_PAYLOAD, and half the usual ones are enough",
  WHERE_NATS,
  async () => {
    assert.equal(await answerTo("max_payload: 64KB"), "BUS_PAYLOAD");
    assert.equal(await answerTo("max_payload: 512KB"), "welcome");
  },
);
