/** Greedy servers: they send as much as they are let, and a reader under a window lets in no more. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer as createPlain, type Server } from "node:http";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "../../src/base/clock.ts";
import type { Proxy } from "../../src/fetch/proxy.ts";
import { canSetWindows } from "../../src/fetch/receive-window.ts";
import { SUITE_LIMITS } from "../../src/fetch/transport.suite.ts";
import type { TransportAnswer, TransportRequest } from "../../src/fetch/transport.ts";
import { UndiciTransport } from "../../src/fetch/transport-undici.ts";
import { ELSEWHERE, GOOD, KEY, ROOT } from "./certificates.ts";
import { until } from "../../src/base/patient-clock.suite.ts";

const WINDOW_BYTES = 4096;
const LIMITS = { ...SUITE_LIMITS, bodyBytesMax: 1e8, totalMs: 60_000 };
const skip = canSetWindows() ? false : "needs node:ffi on Linux";

const trusted = getCACertificates("default");
before(() => setDefaultCACertificates([ROOT]));
after(() => setDefaultCACertificates(trusted));

describe("a reader that refuses", { skip }, () => {
  const places = [
    ["http", "127.0.0.1"],
    ["http", "::1"],
    ["https", "127.0.0.1"],
  ] as const;
  for (const [scheme, address] of places) {
    test(`${scheme} on ${address}: nobody sends more than a window ahead`, async () => {
      await using site = await greedySite(scheme, address);
      const bodyBytes = 60_000;
      const pieces: number[] = [];
      const unread: number[] = [];
      const result = await site.ask(bodyBytes, {
        onBytes: (bytes, readOn) => {
          pieces.push(bytes);
          // Long enough for a server on this machine to send all that it may.
          setTimeout(() => {
            unread.push(site.unreadBytes());
            readOn();
          }, 20);
          return false;
        },
      });
      assert.equal(digestOf(result), digestOf({ body: site.body.subarray(0, bodyBytes) }));
      assert.ok(Math.max(...pieces) <= WINDOW_BYTES, `${Math.max(...pieces)} bytes in one read`);
      assert.ok(Math.max(...unread) <= WINDOW_BYTES, `${Math.max(...unread)} bytes unread`);
      assert.ok(Math.max(...unread) > 0, "the server did send ahead");
      const told = pieces.reduce((sum, bytes) => sum + bytes, 0);
      assert.equal(result.traffic.receivedBytes, told);
      assert.ok(told > bodyBytes && told < 1.1 * bodyBytes + 5_000, `${told} bytes`);
    });

    test(`${scheme} on ${address}: what is still unseen of an answer is no greeting`, async () => {
      await using site = await greedySite(scheme, address);
      let greetingBytes = 0;
      await site.ask(60_000, {
        onBytes: (bytes, _, arrival) => {
          if (arrival?.isGreeting === true) greetingBytes += bytes;
          return true;
        },
      });
      const isSecure = scheme === "https";
      // A greeting and its tickets; the first record of the answer alone is of 16 KiB.
      assert.ok(greetingBytes < (isSecure ? 9_000 : 1), `${greetingBytes} bytes`);
      assert.equal(greetingBytes > 0, isSecure);
    });

    test(`${scheme} on ${address}: a refusal lasts, until the request is given up`, async () => {
      await using site = await greedySite(scheme, address);
      const stop = new AbortController();
      let toldBytes = 0;
      let refusals = 0;
      const asking = site.transport.exchange(
        site.request(1e8, {
          signal: stop.signal,
          onBytes: (bytes) => {
            toldBytes += bytes;
            refusals += 1;
            return false;
          },
        }),
      );
      await until(() => refusals > 0, "the first bytes");
      await wait(300);
      assert.equal(refusals, 1);
      assert.ok(toldBytes <= WINDOW_BYTES, `${toldBytes} bytes were read`);
      assert.ok(site.unreadBytes() <= WINDOW_BYTES, `${site.unreadBytes()} bytes unread`);
      stop.abort();
      assert.equal((await asking).kind, "failed");
      assert.equal(site.transport.lanes, 0);
    });

    test(`${scheme} on ${address}: a connection is kept after a body read in steps`, async () => {
      await using site = await greedySite(scheme, address);
      for (let round = 0; round < 3; round++) {
        const result = await site.ask(30_000, {
          onBytes: (_, readOn) => {
            setImmediate(readOn);
            return false;
          },
        });
        assert.equal(result.body.length, 30_000);
        assert.ok((result.traffic.rttMs ?? 0) > 0, "the round trip is known");
      }
      assert.equal(site.connections(), 1);
      assert.deepEqual([...site.transport.localAddresses()], [address]);
      assert.equal(site.transport.windowsHeld, true);
    });
  }
});

describe("a window that changes", { skip }, () => {
  test("connections that let in too much are not kept", async () => {
    await using site = await greedySite("http", "127.0.0.1");
    const after = async (windowBytes: number | undefined): Promise<number> => {
      site.transport.setWindow(windowBytes);
      await site.ask(100);
      return site.connections();
    };
    assert.equal(await after(undefined), 1, "as the system likes");
    assert.equal(await after(65_536), 2, "from none to one");
    assert.equal(await after(40_000), 2, "a little narrower");
    assert.equal(await after(4_096), 3, "much narrower");
    assert.equal(await after(30_000), 3, "wider: the connection is widened");
    assert.equal(await after(4_096), 4, "and then is too wide");
    assert.equal(await after(undefined), 5, "and none again");
  });

  test("what is under way ends well and is not kept", async () => {
    await using site = await greedySite("http", "127.0.0.1");
    for (const [from, to] of [
      [undefined, 4_096],
      [65_536, 4_096],
      [4_096, undefined],
    ]) {
      site.transport.setWindow(from);
      let pieces = 0;
      const result = await site.ask(300_000, {
        onBytes: (_, readOn) => {
          if (pieces++ === 0) site.transport.setWindow(to);
          setImmediate(readOn);
          return false;
        },
      });
      assert.equal(result.body.length, 300_000);
      assert.equal(site.transport.lanes, 0, `${from} to ${to}`);
    }
  });

  test("under a window HTTP/1.1 is spoken, with one body for each connection", async () => {
    await using site = await greedySite("https", "127.0.0.1");
    assert.equal((await site.ask(10)).httpVersion, "1.1");
    site.transport.setWindow(undefined);
    assert.equal((await site.ask(10)).httpVersion, "2");
  });
});

test("no descriptor is left behind, however a connection ends", { skip }, async () => {
  await using good = await greedySite("http", "127.0.0.1");
  await using wrong = await greedySite("https", "127.0.0.1", WINDOW_BYTES, { cert: ELSEWHERE });
  const refused = { ...good.request(10), port: 1 };
  const unreachable = { ...good.request(10), address: "203.0.113.1" };
  const hasty = { ...LIMITS, connectMs: 1 };
  const round = async (): Promise<void> => {
    await good.ask(10);
    const { transport } = good;
    assert.equal(endOf(await transport.exchange(refused)), "connect_refused");
    assert.notEqual(endOf(await transport.exchange({ ...unreachable, limits: hasty })), "200");
    assert.equal(endOf(await wrong.transport.exchange(wrong.request(10))), "tls_name");
    good.transport.setWindow(undefined);
    good.transport.setWindow(WINDOW_BYTES);
  };
  await round();
  await wait(50);
  const atFirst = descriptors();
  for (let index = 0; index < 10; index++) await round();
  await until(() => descriptors() <= atFirst, `at most ${atFirst} descriptors`);
});

test("a proxy with a name has no window, and says so; its bytes are read in steps", async () => {
  await using site = await greedySite("http", "127.0.0.1");
  const { port } = site.request(0);
  const proxy = { kind: "http", host: "localhost", port, authorization: undefined } as const;
  await using through = await greedySite("http", "127.0.0.1", WINDOW_BYTES, { proxy });
  assert.equal(through.transport.windowsHeld, false);
  let toldMost = 0;
  const result = await through.ask(50_000, {
    onBytes: (bytes) => ((toldMost = Math.max(toldMost, bytes)), true),
  });
  assert.equal(result.body.length, 50_000);
  assert.ok(toldMost <= WINDOW_BYTES, `${toldMost} bytes in one read`);
});

interface GreedySite extends AsyncDisposable {
  readonly transport: UndiciTransport;
  readonly body: Buffer;
  request(bodyBytes: number, more?: Partial<TransportRequest>): TransportRequest;
  ask(bodyBytes: number, more?: Partial<TransportRequest>): Promise<TransportAnswer>;
  connections(): number;
  /** What the system has taken in for us and we have not read. */
  unreadBytes(): number;
}

/** A site whose answers are as long as their path says. */
async function greedySite(
  scheme: "http" | "https",
  address: string,
  windowBytes: number | undefined = WINDOW_BYTES,
  { cert = GOOD, proxy }: { readonly cert?: string; readonly proxy?: Proxy } = {},
): Promise<GreedySite> {
  const body = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7) % 251));
  const server = (
    scheme === "http" ? createPlain() : createSecureServer({ key: KEY, cert, allowHTTP1: true })
  ) as Server;
  let connections = 0;
  server.on("connection", () => connections++);
  server.on("request", (asked, answer) => {
    const bytes = Number(/\d+$/.exec(asked.url ?? "")?.[0]);
    answer.on("error", () => {});
    if (bytes <= body.length) return void answer.end(body.subarray(0, bytes));
    for (let left = bytes; left > 0; left -= body.length) answer.write(body.subarray(0, left));
    answer.end();
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  const transport = new UndiciTransport({
    clock: systemClock,
    lanesMax: 16,
    http2: true,
    insecureTls: false,
    proxy,
    roundTrips: true,
  });
  transport.setWindow(windowBytes);
  const request = (bodyBytes: number, more = {}): TransportRequest => ({
    ...({ scheme, host: "localhost", port, path: `/${bodyBytes}`, address } as const),
    headers: [],
    limits: LIMITS,
    ...more,
  });
  return {
    transport,
    body,
    request,
    async ask(bodyBytes, more = {}) {
      const result = await transport.exchange(request(bodyBytes, more));
      assert.ok(result.kind === "answer", JSON.stringify(result));
      return result;
    },
    connections: () => connections,
    unreadBytes: () => unreadBytesFrom(port),
    async [Symbol.asyncDispose]() {
      await transport.close();
      server.close();
    },
  };
}

/** The receive queues of this machine's connections to a port. */
function unreadBytesFrom(port: number): number {
  const hexPort = port.toString(16).toUpperCase().padStart(4, "0");
  let bytes = 0;
  for (const table of ["tcp", "tcp6"])
    for (const line of readFileSync(`/proc/self/net/${table}`, "latin1").split("\n")) {
      const [, , remote = "", , queues = ""] = line.trim().split(/\s+/);
      if (remote.endsWith(`:${hexPort}`)) bytes += Number.parseInt(queues.split(":")[1] ?? "0", 16);
    }
  return bytes;
}

function descriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

function digestOf({ body }: Pick<TransportAnswer, "body">): string {
  return createHash("sha1").update(body).digest("hex");
}

function endOf(result: Awaited<ReturnType<UndiciTransport["exchange"]>>): string {
  return result.kind === "failed" ? result.reason : `${result.status}`;
}
