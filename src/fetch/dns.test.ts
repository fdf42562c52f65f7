import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { test } from "node:test";
import { type Clock, systemClock } from "../base/clock.ts";
import { PUBLIC_ONLY, readAllowance } from "./address-guard.ts";
import { DNS_DEFAULTS, type DnsOptions, DnsResolver, parseHosts } from "./dns.ts";

const A = 1;
const CNAME = 5;
const AAAA = 28;

/** What the little name server says to one question. */
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
/** Silence is undefined; `late` comes after 2.5 s; attempts at the same question count from 1. */
type Zone = (name: string, type: number, attempt: number) => Said | "garbled" | "late" | undefined;

const LATE_MS = 2_500;
const NXDOMAIN: Said = { code: 3 };
const SERVFAIL: Said = { code: 2 };

const PUBLIC_IPV6 = "26064700000000000000000000001111";

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

test("a response to the first attempt counts after the question was repeated", async (t) => {
  const held: (() => void)[] = [];
  const server = await nameServer(t, () => v4("93.184.216.34"), held);
  const clock = movableClock();
  const found = reasonOf(resolverOn(server, { clock }), "slow.test");
  await until(() => held.length === 1);
  clock.forwardMs(1_500);
  await until(() => held.length === 2);
  clock.forwardMs(DNS_DEFAULTS.timeoutMs - 1_501);
  held[0]?.();
  assert.equal(await found, "addresses");
});

test("an unanswered question is repeated after 1.5, 4.5 and 8 s and given up after 10 s", async (t) => {
  const server = await nameServer(t, (name) => (name === "lost.test" ? undefined : NXDOMAIN));
  const clock = movableClock();
  const dns = resolverOn(server, { clock });
  let reason: string | undefined;
  void reasonOf(dns, "lost.test").then((found) => (reason = found));
  let fences = 0;
  // Another question sent afterwards has arrived, so whatever was sent before it has, too.
  const attempts = async (): Promise<number> => {
    await reasonOf(dns, `fence${fences++}.test`);
    return server.questions.filter((question) => question === `lost.test ${A}`).length;
  };
  for (const [forwardMs, expected] of [
    [0, 1],
    [1_499, 1],
    [1, 2],
    [2_999, 2],
    [1, 3],
    [3_499, 3],
    [1, 4],
    [1_999, 4],
  ] as const) {
    clock.forwardMs(forwardMs);
    assert.equal(await attempts(), expected, `at ${clock.nowMs()} ms`);
  }
  assert.equal(reason, undefined);
  clock.forwardMs(1);
  await attempts();
  assert.equal(reason, "dns_timeout");
});

test("names that were answered fast do not shorten the time for a slow one", async (t) => {
  const server = await nameServer(t, (name, _, attempt) =>
    name === "slow.test" && attempt === 1 ? "late" : v4("93.184.216.34"),
  );
  const dns = resolverOn(server, { clock: movableClock() });
  for (let index = 0; index < 20; index++) await dns.resolve(`fast${index}.test`, 80);
  assert.equal(await reasonOf(dns, "slow.test"), "addresses");
  assert.equal(server.questions.filter((question) => question === `slow.test ${A}`).length, 1);
});

test("a garbled response fails its own name only, which is asked again", async (t) => {
  const held: (() => void)[] = [];
  const zone: Zone = (name, _, attempt) =>
    name === "bad.test" && attempt === 1 ? "garbled" : v4("93.184.216.34");
  const server = await nameServer(t, zone, held);
  const dns = resolverOn(server);
  const names = ["a.test", "bad.test", "b.test", "c.test"];
  const reasons = names.map((name) => reasonOf(dns, name));
  await until(() => held.length === names.length);
  held.splice(1, 1)[0]?.();
  assert.equal(await reasons[1], "dns_error");
  for (const release of held.splice(0)) release();
  assert.deepEqual(await Promise.all(reasons.toSpliced(1, 1)), Array(3).fill("addresses"));
  const again = reasonOf(dns, "bad.test");
  await until(() => held.length === 1);
  held[0]?.();
  assert.equal(await again, "addresses");
});

test("after a failure the next server is asked at once, and first for other names", async (t) => {
  const broken = await nameServer(t, () => SERVFAIL);
  const good = await nameServer(t, () => v4("93.184.216.34"));
  const servers = [broken.address, good.address];
  const dns = resolverOn(broken, { servers, clock: movableClock() });
  assert.equal(await reasonOf(dns, "a.test"), "addresses");
  assert.equal(await reasonOf(dns, "b.test"), "addresses");
  assert.equal(broken.questions.length, 1);
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
    type === AAAA ? { records: [{ type: AAAA, data: Buffer.from(PUBLIC_IPV6, "hex") }] } : {},
  );
  assert.deepEqual(await resolverOn(server).resolve("six.test", 443), {
    kind: "addresses",
    addresses: ["2606:4700::1111"],
  });
});

test("the IPv6 addresses of a name with IPv4 are asked when they are needed, kept, and guarded", async (t) => {
  const server = await nameServer(t, (name, type) => {
    if (type !== AAAA) return v4("93.184.216.34");
    const address = name === "inside.test" ? "fd000000000000000000000000000001" : PUBLIC_IPV6;
    return { records: [{ type: AAAA, data: Buffer.from(address, "hex") }] };
  });
  const dns = resolverOn(server);
  await dns.resolve("both.test", 443);
  for (let round = 0; round < 2; round++)
    assert.deepEqual(await dns.resolveIPv6("both.test", 443), {
      kind: "addresses",
      addresses: ["2606:4700::1111"],
    });
  assert.deepEqual(server.questions, [`both.test ${A}`, `both.test ${AAAA}`]);
  assert.equal((await dns.resolve("both.test", 443)).kind, "addresses");
  const inside = await dns.resolveIPv6("inside.test", 443);
  assert.equal(inside.kind === "failed" && inside.reason, "ssrf_blocked");
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
    const attempt = questions.filter((one) => one === `${name} ${type}`).length;
    const said = zone(name, type, attempt);
    if (said === undefined) return;
    const question = query.subarray(0, end);
    const answer =
      said === "garbled"
        ? encodeAnswer(question, v4("93.184.216.34")).subarray(0, -3)
        : encodeAnswer(question, said === "late" ? v4("93.184.216.34") : said);
    const send = (): void => socket.send(answer, peer.port, peer.address);
    if (said === "late") setTimeout(send, LATE_MS);
    else if (held === undefined) send();
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

/** Its timers ring only when it is moved forward. */
function movableClock(): Clock & { forwardMs(ms: number): void } {
  // Whole milliseconds, so that a sum made in two ways is the same number.
  let nowMs = 0;
  const timers = new Set<{ readonly atMs: number; readonly ring: () => void }>();
  return {
    ...systemClock,
    nowMs: () => nowMs,
    after(delayMs, ring) {
      const timer = { atMs: nowMs + delayMs, ring };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    forwardMs(ms) {
      nowMs += ms;
      for (const timer of timers) if (timer.atMs <= nowMs && timers.delete(timer)) timer.ring();
    },
  };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
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
