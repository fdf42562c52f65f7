import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { test } from "node:test";
import { type Clock, systemClock } from "../base/clock.ts";
import { PUBLIC_ONLY, readAllowance } from "./address-guard.ts";
import { DNS_DEFAULTS, type DnsOptions, DnsResolver, parseHosts } from "./dns.ts";

const A = 1;
const CNAME = 5;
const AAAA = 28;

/** What the little name server says to one question; undefined is silence. */
interface Said {
  readonly code?: number;
  readonly records?: readonly {
    readonly type: number;
    readonly ttl?: number;
    readonly data: Buffer;
    /** The name asked for, when there is none. */
    readonly owner?: string;
  }[];
}
type Zone = (name: string, type: number) => Said | undefined;

const NXDOMAIN: Said = { code: 3 };
const SERVFAIL: Said = { code: 2 };

test("a name is looked up once, and the answer is shared and kept", async (t) => {
  const server = await nameServer(t, () => v4("93.184.216.34"));
  const dns = resolverOn(server);
  const both = await Promise.all([dns.resolve("a.test", 80), dns.resolve("a.test", 80)]);
  assert.deepEqual(both[0], { kind: "addresses", addresses: ["93.184.216.34"] });
  assert.deepEqual(both[1], both[0]);
  await dns.resolve("a.test", 80);
  assert.equal(server.questions.length, 1);
});

test("a TTL of 0 is kept a minute, one of 68 years an hour", async (t) => {
  const server = await nameServer(t, (name) =>
    v4("93.184.216.34", name.startsWith("short") ? 0 : 2 ** 31 - 1),
  );
  const clock = movableClock();
  const dns = resolverOn(server, { clock });
  await dns.resolve("short.test", 80);
  await dns.resolve("long.test", 80);
  clock.forwardMs(59_999);
  await dns.resolve("short.test", 80);
  assert.equal(server.questions.length, 2);
  clock.forwardMs(1);
  await dns.resolve("short.test", 80);
  assert.equal(server.questions.length, 3);
  clock.forwardMs(3_540_000 - 1);
  await dns.resolve("long.test", 80);
  assert.equal(server.questions.length, 3);
  clock.forwardMs(1);
  await dns.resolve("long.test", 80);
  assert.equal(server.questions.length, 4);
});

test("a name that does not exist settles once for all its URLs", async (t) => {
  const server = await nameServer(t, () => NXDOMAIN);
  const dns = resolverOn(server);
  assert.equal(await reasonOf(dns, "none.test"), "dns_nxdomain");
  const asked = server.questions.length;
  assert.equal(await reasonOf(dns, "none.test"), "dns_nxdomain");
  assert.equal(server.questions.length, asked);
});

test("a failing server is a timeout, and is asked again", async (t) => {
  let broken = true;
  const server = await nameServer(t, () => (broken ? SERVFAIL : v4("93.184.216.34")));
  const dns = resolverOn(server);
  assert.equal(await reasonOf(dns, "a.test"), "dns_timeout");
  broken = false;
  assert.equal(await reasonOf(dns, "a.test"), "addresses");
});

test("silence ends at the timeout", async (t) => {
  const server = await nameServer(t, () => undefined);
  const dns = resolverOn(server, { timeoutMs: 200 });
  assert.equal(await reasonOf(dns, "silent.test"), "dns_timeout");
});

test("a loop of aliases is an error", async (t) => {
  const server = await nameServer(t, (name) => ({
    records: [{ type: CNAME, data: encodeName(name === "a.test" ? "b.test" : "a.test") }],
  }));
  assert.equal(await reasonOf(resolverOn(server), "a.test"), "dns_error");
});

test("an alias that leads to an address is followed", async (t) => {
  const server = await nameServer(t, () => ({
    records: [
      { type: CNAME, data: encodeName("b.test") },
      { type: A, data: quad("93.184.216.34"), owner: "b.test" },
    ],
  }));
  assert.equal(await reasonOf(resolverOn(server), "a.test"), "addresses");
});

test("of a thousand addresses eight are kept", async (t) => {
  const server = await nameServer(t, () => ({
    records: Array.from({ length: 25 }, (_, index) => ({ type: A, data: quad(`93.1.2.${index}`) })),
  }));
  const found = await resolverOn(server).resolve("many.test", 80);
  assert.equal(found.kind === "addresses" && found.addresses.length, 8);
});

test("a public name that leads inside is blocked, and only the public part of a mixed one used", async (t) => {
  const inside = ["0.0.0.0", "127.0.0.1", "10.1.2.3", "169.254.169.254"];
  const server = await nameServer(t, (name) => {
    if (name === "mixed.test")
      return {
        records: ["10.0.0.1", "93.184.216.34"].map((one) => ({ type: A, data: quad(one) })),
      };
    return v4(inside[Number(name.slice(0, 1))] ?? "");
  });
  const dns = resolverOn(server);
  for (const index of inside.keys())
    assert.equal(await reasonOf(dns, `${index}.test`), "ssrf_blocked", `${inside[index]}`);
  assert.deepEqual(await dns.resolve("mixed.test", 80), {
    kind: "addresses",
    addresses: ["93.184.216.34"],
  });
});

test("rebinding: each answer is judged by itself, and only a judged one is used", async (t) => {
  let turn = 0;
  const server = await nameServer(t, () => v4(turn++ % 2 === 0 ? "93.184.216.34" : "127.0.0.1", 0));
  const clock = movableClock();
  const dns = resolverOn(server, { clock });
  for (const expected of ["addresses", "ssrf_blocked", "addresses", "ssrf_blocked"]) {
    assert.equal(await reasonOf(dns, "rebind.test"), expected);
    assert.equal(await reasonOf(dns, "rebind.test"), expected);
    clock.forwardMs(60_000);
  }
});

test("IPv6 is asked for a name without IPv4", async (t) => {
  const server = await nameServer(t, (_, type) =>
    type === AAAA
      ? { records: [{ type: AAAA, data: Buffer.from("26064700000000000000000000001111", "hex") }] }
      : {},
  );
  assert.deepEqual(await resolverOn(server).resolve("six.test", 443), {
    kind: "addresses",
    addresses: ["2606:4700::1111"],
  });
});

test("addresses, localhost and the hosts file are answered without asking, but not unguarded", async (t) => {
  const server = await nameServer(t, () => NXDOMAIN);
  const loopback = readAllowance("127.0.0.0/8");
  assert.ok(loopback !== undefined);
  const policy = { allowed: [loopback], ownPorts: new Set([8070]) };
  const hosts = parseHosts("127.0.0.5 box Box2 # comment\n# 1.2.3.4 no\n10.9.9.9\tinner\nbad line");
  const dns = resolverOn(server, { policy, hosts });
  const first = async (host: string, port = 80): Promise<string> => {
    const found = await dns.resolve(host, port);
    return found.kind === "addresses" ? found.addresses.join() : found.reason;
  };
  assert.equal(await first("8.8.8.8"), "8.8.8.8");
  assert.equal(await first("[2606:4700::1111]"), "2606:4700::1111");
  assert.equal(await first("[::1]"), "ssrf_blocked");
  assert.equal(await first("localhost"), "127.0.0.1");
  assert.equal(await first("site.localhost"), "127.0.0.1");
  assert.equal(await first("localhost", 8070), "ssrf_blocked");
  assert.equal(await first("box"), "127.0.0.5");
  assert.equal(await first("box2"), "127.0.0.5");
  assert.equal(await first("inner"), "ssrf_blocked");
  assert.equal(server.questions.length, 0);
});

test("look-ups at once and names in the cache are bounded", async (t) => {
  const held: (() => void)[] = [];
  const server = await nameServer(t, () => v4("93.184.216.34"), held);
  const dns = resolverOn(server, { lookupsMax: 4, namesMax: 10 });
  const asking = Promise.all(Array.from({ length: 12 }, (_, i) => dns.resolve(`n${i}.test`, 80)));
  const seen: number[] = [];
  while (server.questions.length < 12 || held.length > 0) {
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(held.length);
    if (held.length >= Math.min(4, 12 - (server.questions.length - held.length)))
      for (const release of held.splice(0)) release();
  }
  await asking;
  assert.ok(Math.max(...seen) <= 4, `${Math.max(...seen)} at once`);
  held.push = (release) => (release(), 0);
  await dns.resolve("n0.test", 80);
  await dns.resolve("n11.test", 80);
  assert.equal(server.questions.length, 13);
});

interface NameServer {
  readonly address: string;
  /** Every question that came, as `name type`. */
  readonly questions: string[];
}

/** Answers questions from the zone; with `held`, an answer waits there until it is released. */
async function nameServer(
  t: { after(stop: () => void): void },
  zone: Zone,
  held?: (() => void)[],
): Promise<NameServer> {
  const socket: Socket = createSocket("udp4");
  const questions: string[] = [];
  socket.on("message", (query, peer) => {
    const { name, type, end } = readQuestion(query);
    questions.push(`${name} ${type}`);
    const said = zone(name, type);
    if (said === undefined) return;
    const answer = encodeAnswer(query.subarray(0, end), said);
    const send = (): void => socket.send(answer, peer.port, peer.address);
    if (held === undefined) send();
    else held.push(send);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  t.after(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, questions };
}

function resolverOn(server: NameServer, options: Partial<DnsOptions> = {}): DnsResolver {
  return new DnsResolver({
    ...DNS_DEFAULTS,
    clock: systemClock,
    policy: PUBLIC_ONLY,
    hosts: new Map(),
    servers: [server.address],
    ...options,
  });
}

async function reasonOf(dns: DnsResolver, host: string): Promise<string> {
  const found = await dns.resolve(host, 80);
  return found.kind === "failed" ? found.reason : found.kind;
}

function movableClock(): Clock & { forwardMs(ms: number): void } {
  // Whole milliseconds, so that a sum made in two ways is the same number.
  let nowMs = 0;
  return {
    ...systemClock,
    nowMs: () => nowMs,
    forwardMs(ms) {
      nowMs += ms;
    },
  };
}

function v4(address: string, ttl = 300): Said {
  return { records: [{ type: A, ttl, data: quad(address) }] };
}

function quad(address: string): Buffer {
  return Buffer.from(address.split(".").map(Number));
}

function encodeName(name: string): Buffer {
  const labels = name.split(".").map((label) => String.fromCharCode(label.length) + label);
  return Buffer.from(`${labels.join("")}\0`, "latin1");
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** RFC 1035, 4.1: the question again, then each record, owned by the name asked or its alias. */
function encodeAnswer(question: Buffer, said: Said): Buffer {
  const records = said.records ?? [];
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 | (said.code ?? 0), 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  const parts = records.map((record) => {
    const owner = record.owner === undefined ? Buffer.from([0xc0, 12]) : encodeName(record.owner);
    const fixed = Buffer.alloc(10);
    fixed.writeUInt16BE(record.type, 0);
    fixed.writeUInt16BE(1, 2);
    fixed.writeUInt32BE(record.ttl ?? 300, 4);
    fixed.writeUInt16BE(record.data.length, 8);
    return Buffer.concat([owner, fixed, record.data]);
  });
  return Buffer.concat([head, ...parts]);
}
