import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { type Behaviour, testTransport } from "../fetch/transport.suite.ts";
import type { TransportLimits, TransportRequest } from "../fetch/transport.ts";
import { type Conduct, conductOf, FAULTS, FaultSource, type Fault } from "./faults.ts";
import { SimClock } from "./sim-clock.ts";
import type { Ending } from "./sim-exchange.ts";
import { type SimNetwork, SimTransport } from "./sim-transport.ts";
import { SimWire } from "./sim-wire.ts";
import { siteNamed } from "./world.ts";
import { makeWorld } from "./world/plan.ts";
import { speedBpsAt } from "./world/site.ts";

const LIMITS: TransportLimits = {
  connectMs: 10_000,
  tlsMs: 10_000,
  firstByteMs: 20_000,
  idleMs: 15_000,
  totalMs: 30_000,
  speedFloorBps: 1024,
  slowAfterMs: 10_000,
  headerBytesMax: 65_536,
  headerFieldsMax: 256,
  bodyBytesMax: 100_000,
};

const PLAIN: Conduct = {
  connect: "accept",
  latencyMs: 100,
  answer: { status: 200, statusText: "OK", headers: [], body: new Uint8Array(1_000) },
  speedBps: 10_000,
  breaksOff: undefined,
};

testTransport("simulated", async () => {
  const clock = new SimClock();
  let conduct = PLAIN;
  const transport = new SimTransport({ clock, conductOf: () => conduct });
  return {
    clock,
    transport: {
      exchange: (wanted) => clock.runUntil(transport.exchange(wanted)),
      setWindow: (bytes) => transport.setWindow(bytes),
      close: () => transport.close(),
    },
    async serve(behaviour) {
      conduct = conductFor(behaviour);
      return { scheme: "http", host: "a.test", port: 80, path: "/", address: "198.18.0.1" };
    },
    close: () => transport.close(),
  };
});

test("an answer takes two round trips, and its body arrives at the server's speed", async () => {
  const ending = await once(PLAIN);
  assert.ok(ending.kind === "answer");
  assert.equal(ending.body.length, 1_000);
  const { connectMs, firstByteMs, totalMs, receivedBytes } = ending.traffic;
  assert.deepEqual([connectMs, firstByteMs, totalMs, receivedBytes], [100, 100, 300, 1_020]);
});

test("an idle connection is reused", async () => {
  const clock = new SimClock();
  const transport = new SimTransport({ clock, conductOf: () => PLAIN });
  await clock.runUntil(transport.exchange(request()));
  const second = await clock.runUntil(transport.exchange(request()));
  assert.deepEqual([second.traffic.connectMs, second.traffic.totalMs], [0, 200]);
  const other = await clock.runUntil(transport.exchange(request({ address: "198.18.0.9" })));
  assert.equal(other.traffic.connectMs, 100);
});

test("every limit ends a request with its own reason at its own time", async () => {
  const large = answerOf(90_000);
  const many = Array.from({ length: 300 }, () => ["a", "b"] as const);
  const cases: readonly (readonly [string, number, Partial<Conduct>])[] = [
    ["connect_refused", 100, { connect: "refuse" }],
    ["connect_timeout", 10_000, { connect: "silence" }],
    ["first_byte_timeout", 20_100, { answer: undefined }],
    ["conn_reset", 250, { breaksOff: { afterBytes: 500, how: "reset" } }],
    ["body_short", 250, { breaksOff: { afterBytes: 500, how: "close" } }],
    ["idle_timeout", 15_250, { breaksOff: { afterBytes: 500, how: "stall" } }],
    ["too_slow", 10_300, { speedBps: 10, answer: large }],
    ["total_timeout", 30_000, { speedBps: 2_000, answer: large }],
    ["header_too_large", 200, { answer: { ...large, headers: [["x", "y".repeat(70_000)]] } }],
    ["header_too_many", 200, { answer: { ...large, headers: many } }],
  ];
  for (const [reason, totalMs, conduct] of cases) {
    const ending = await once({ ...PLAIN, ...conduct });
    assert.equal(ending.kind === "failed" ? ending.reason : ending.kind, reason);
    assert.equal(ending.traffic.totalMs, totalMs, reason);
  }
});

test("a body is read up to the cap, and a body declared larger is not read", async () => {
  const body = new Uint8Array(100_001);
  const unannounced = await once({ ...PLAIN, speedBps: 1e6, answer: answerOf(body.length) });
  assert.ok(unannounced.kind === "answer" && unannounced.truncated === "length");
  assert.equal(unannounced.body.length, 100_000);
  const headers = [["content-length", "100001"]] as const;
  const announced = await once({ ...PLAIN, answer: { ...answerOf(body.length), headers } });
  assert.ok(announced.kind === "answer" && announced.truncated === "length");
  assert.equal(announced.body.length, 0);
  const exact = await once({ ...PLAIN, speedBps: 1e6, answer: answerOf(100_000) });
  assert.ok(exact.kind === "answer" && exact.truncated === undefined);
});

test("every byte is reported, and a pause does not count as idle time", async () => {
  let reported = 0;
  const clock = new SimClock();
  const onBytes = (bytes: number, readOn: () => void): boolean => {
    reported += bytes;
    clock.after(40_000, readOn);
    return false;
  };
  const transport = new SimTransport({ clock, conductOf: () => PLAIN });
  const ending = await clock.runUntil(transport.exchange(request({ onBytes })));
  assert.ok(ending.kind === "answer");
  assert.equal(reported, ending.traffic.receivedBytes);
  assert.deepEqual([ending.traffic.totalMs, ending.traffic.pausedMs], [80_200, 80_000]);
});

test("an unread body arrives until half its window is full, and continues when it is read", async () => {
  const clock = new SimClock();
  const wire = new SimWire(clock.nowMs());
  const conduct = { ...PLAIN, answer: answerOf(30_000) };
  const transport = new SimTransport({ clock, wire, conductOf: () => conduct });
  transport.setWindow(8_000);
  let readOn: (() => void) | undefined;
  const ending = transport.exchange(
    request({
      onBytes: (_, resume) => {
        readOn = resume;
        return false;
      },
    }),
  );
  const arrived = (): number => Math.round(wire.tenths.reduce((sum, bytes) => sum + bytes, 0));
  await clock.runFor(10_000);
  assert.equal(arrived(), 20 + 4_000);
  readOn?.();
  await clock.runFor(10_000);
  assert.equal(arrived(), 20 + 8_000);
  transport.setWindow(12_000);
  readOn?.();
  await clock.runFor(10_000);
  assert.equal(arrived(), 20 + 14_000);
  for (let reads = 0; reads < 20; reads++) {
    readOn?.();
    await clock.runFor(1_000);
  }
  const { traffic } = await clock.runUntil(ending);
  assert.deepEqual([arrived(), traffic.receivedBytes], [30_020, 30_020]);
});

test("at most one window arrives per round trip, and it doubles after four", async () => {
  const clock = new SimClock();
  const conduct = { ...PLAIN, speedBps: 1e9, answer: answerOf(100_000) };
  const transport = new SimTransport({ clock, conductOf: () => conduct });
  transport.setWindow(10_000);
  const { traffic } = await clock.runUntil(transport.exchange(request()));
  // About four windows of 5 KB, four of 10 KB and two of 20 KB; some overlap.
  const trips = (traffic.totalMs - 200) / 100;
  assert.ok(trips > 10 && trips < 11, `${trips} round trips`);
  assert.equal(traffic.rttMs, 100);
});

test("downloads from one server share its speed, downloads from two do not", async () => {
  assert.equal(await durationMs("198.18.0.1", "198.18.0.2"), 2_200);
  const shared = await durationMs("198.18.0.1", "198.18.0.1");
  // A piece that started without other downloads finishes at full speed.
  assert.ok(shared > 4_000 && shared <= 4_200, `${shared} ms`);
});

test("think time delays the first byte, but not the measured round trip", async () => {
  const { traffic } = await once({ ...PLAIN, thinkMs: 2_000 });
  assert.deepEqual([traffic.firstByteMs, traffic.totalMs, traffic.rttMs], [2_100, 2_300, 100]);
});

test("the wire counts every byte once, also of aborted downloads", async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = randomFrom(seed);
    const clock = new SimClock();
    const wire = new SimWire(clock.nowMs());
    const speedBps = 1_000 + below(random, 1e6);
    const conduct = { ...PLAIN, speedBps, answer: answerOf(below(random, 90_000)) };
    const transport = new SimTransport({ clock, wire, conductOf: () => conduct });
    const windowBytes = 1_000 + below(random, 60_000);
    transport.setWindow(windowBytes);
    const abort = new AbortController();
    if (seed % 3 === 0) clock.after(200 + random.next() * 1_000, () => abort.abort());
    const onBytes = (_: number, readOn: () => void): boolean => {
      clock.after(random.next() * 300, readOn);
      return random.next() < 0.5;
    };
    const ending = transport.exchange(request({ onBytes, signal: abort.signal }));
    const { receivedBytes } = (await clock.runUntil(ending)).traffic;
    const arrived = wire.tenths.reduce((sum, bytes) => sum + bytes, 0);
    const unread = arrived - receivedBytes;
    const unreadMax = abort.signal.aborted ? windowBytes : 0;
    assert.ok(unread > -1e-6 && unread < unreadMax + 1e-6, `seed ${seed}: ${unread} unread`);
  }
});

test("open requests end when the transport is closed or the signal aborts", async () => {
  const clock = new SimClock();
  const transport = new SimTransport({ clock, conductOf: () => PLAIN });
  const abort = new AbortController();
  const first = transport.exchange(request({ signal: abort.signal }));
  const second = transport.exchange(request());
  clock.after(50, () => abort.abort());
  clock.after(60, () => void transport.close());
  const endings = await clock.runUntil(Promise.all([first, second]));
  assert.deepEqual(
    endings.map((ending) => [ending.kind, ending.traffic.totalMs]),
    [
      ["failed", 50],
      ["failed", 60],
    ],
  );
  await clock.runUntilIdle();
  assert.equal((await transport.exchange(request())).kind, "failed");
});

test("all downloads together do not exceed the rate of a shared link", async () => {
  const clock = new SimClock();
  const conduct = { ...PLAIN, speedBps: 1e9, answer: answerOf(50_000) };
  const transport = new SimTransport({ clock, conductOf: () => conduct, linkBps: 100_000 });
  const startMs = clock.nowMs();
  await clock.runUntil(
    Promise.all(Array.from({ length: 10 }, () => transport.exchange(request()))),
  );
  assert.equal(clock.nowMs() - startMs, 200 + 5_000);
});

test("a world's site answers with its own latency, speed and page", async () => {
  const world = makeWorld({ seed: 2, siteCount: 3 });
  const site = siteNamed(world, "site1.test");
  assert.ok(site !== undefined);
  const clock = new SimClock();
  const worldRequest = { site, path: "/", etag: undefined, wallMs: clock.wallMs() };
  const conduct = conductOf(world, worldRequest, undefined);
  assert.equal(conduct.latencyMs, site.latencyMs);
  assert.equal(conduct.speedBps, speedBpsAt(site, clock.wallMs()));
  const ending = await clock.runUntil(
    new SimTransport({ clock, conductOf: () => conduct }).exchange(request()),
  );
  assert.ok(ending.kind === "answer" && ending.status === 200);
});

test("faults have the requested share, all kinds, at most two in a row, and depend only on the seed", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const draws = (): (Fault | undefined)[] => {
      const source = new FaultSource(randomFrom(seed), 0.2);
      return Array.from({ length: 5_000 }, (_, index) => source.draw("http://a.test", `/${index}`));
    };
    const drawn = draws();
    assert.deepEqual(drawn, draws(), `seed ${seed}`);
    const faults = drawn.filter((fault) => fault !== undefined);
    assert.ok(faults.length > 800 && faults.length < 1_100, `seed ${seed}: ${faults.length}`);
    assert.deepEqual(new Set(faults), new Set(FAULTS), `seed ${seed}`);
    const inRow = drawn.some((_, at) => at > 1 && drawn.slice(at - 2, at + 1).every(Boolean));
    assert.ok(!inRow, `seed ${seed}`);
  }
});

test("every fault of a world ends with its own reason or status", async () => {
  const world = makeWorld({ seed: 2, siteCount: 1 });
  const site = siteNamed(world, "site0.test");
  assert.ok(site !== undefined);
  const ends: Record<string, string> = {};
  for (const fault of FAULTS) {
    const worldRequest = { site, path: "/", etag: undefined, wallMs: 0 };
    const ending = await once(conductOf(world, worldRequest, fault));
    ends[fault] = ending.kind === "failed" ? ending.reason : String(ending.status);
  }
  assert.deepEqual(ends, {
    refuse: "connect_refused",
    silence: "connect_timeout",
    mute: "first_byte_timeout",
    reset: "conn_reset",
    close: "body_short",
    stall: "idle_timeout",
    drip: "too_slow",
    error: "500",
    busy: "429",
    overload: "503",
  });
});

/** Duration of equal concurrent downloads from these servers. */
async function durationMs(...addresses: string[]): Promise<number> {
  const clock = new SimClock();
  const conduct = { ...PLAIN, answer: answerOf(20_000) };
  const transport = new SimTransport({ clock, conductOf: () => conduct });
  const startMs = clock.nowMs();
  const endings = addresses.map((address) => transport.exchange(request({ address })));
  await clock.runUntil(Promise.all(endings));
  return clock.nowMs() - startMs;
}

function conductFor(behaviour: Behaviour): Conduct {
  const fast = { ...PLAIN, speedBps: 1_000_000 };
  if (behaviour.kind === "refuse") return { ...fast, connect: "refuse" };
  if (behaviour.kind === "silence") return { ...fast, answer: undefined };
  if (behaviour.kind === "answer") return { ...fast, answer: { ...behaviour, statusText: "" } };
  const afterBytes = behaviour.body.length;
  const how = behaviour.kind === "stall" ? "stall" : "reset";
  return { ...fast, answer: answerOf(2 * afterBytes), breaksOff: { afterBytes, how } };
}

async function once(conduct: Conduct, wanted: Partial<TransportRequest> = {}): Promise<Ending> {
  const clock = new SimClock();
  const network: SimNetwork = { clock, conductOf: () => conduct };
  return clock.runUntil(new SimTransport(network).exchange(request(wanted)));
}

function request(wanted: Partial<TransportRequest> = {}): TransportRequest {
  const to = { scheme: "http", host: "site0.test", port: 80, path: "/" } as const;
  return { ...to, address: "198.18.0.1", headers: [], limits: LIMITS, ...wanted };
}

function answerOf(bytes: number): NonNullable<Conduct["answer"]> {
  return { status: 200, statusText: "OK", headers: [], body: new Uint8Array(bytes) };
}
