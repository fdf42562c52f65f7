import assert from "node:assert/strict";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import {
  createSecureContext,
  getCACertificates,
  setDefaultCACertificates,
  TLSSocket,
} from "node:tls";
import { readProxy } from "../../src/fetch/proxy.ts";
import type { TransportAnswer, TransportFailed } from "../../src/fetch/transport.ts";
import { SUITE_LIMITS } from "../../src/fetch/transport.suite.ts";
import { UndiciTransport } from "../../src/fetch/transport-undici.ts";
import { GOOD, KEY, ROOT } from "./certificates.ts";
import { patientClock } from "../../src/base/patient-clock.suite.ts";
import { answer } from "./row.ts";

const SECRET = "swordfish";

describe("a proxy is gone through, or nothing is", () => {
  const roots = getCACertificates("default");
  before(() => setDefaultCACertificates([...roots, ROOT]));
  after(() => setDefaultCACertificates(roots));

  test("plain http is asked for in absolute form, with the proxy's own credentials", async () => {
    await using proxy = await proxyThat((socket) => void socket.write(answer("200 OK", "", "hi")));
    assert.equal(endOf(await proxy.ask("http", 80)), "200");
    const [head = ""] = proxy.heads;
    assert.match(head, /^GET http:\/\/localhost\/page HTTP\/1\.1\r\nhost: localhost\r\n/);
    const authorization = Buffer.from(`user:${SECRET}`).toString("base64");
    assert.ok(head.includes(`proxy-authorization: Basic ${authorization}\r\n`));
  });

  test("https goes through a tunnel, and the site never sees the proxy's credentials", async () => {
    const site = await secureSite();
    await using proxy = await proxyThat((socket) => {
      const inner = connect(site.port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        socket.pipe(inner).pipe(socket);
      });
      inner.on("error", () => socket.destroy());
      socket.once("close", () => inner.destroy());
    });
    const result = await proxy.ask("https", 443);
    assert.ok(result.kind === "answer" && result.verified, JSON.stringify(result));
    assert.match(proxy.heads[0] ?? "", /^CONNECT localhost:443 HTTP\/1\.1\r\n/);
    assert.match(site.heads[0] ?? "", /^GET \/page HTTP\/1\.1\r\n/);
    assert.doesNotMatch(site.heads.join(""), /proxy-/i);
    site.stop();
  });

  const refusals: readonly (readonly [does: string, scheme: "http" | "https", says: string])[] = [
    ["wants other credentials", "https", "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"],
    ["wants other credentials", "http", "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"],
    ["answers CONNECT with a redirect", "https", "HTTP/1.1 302 Go\r\nLocation: /x\r\n\r\n"],
    ["answers CONNECT with a body", "https", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"],
    ["answers CONNECT with rubbish", "https", "what?\r\n\r\n"],
    [
      "answers CONNECT with endless headers",
      "https",
      `HTTP/1.1 200 OK\r\nX: ${"x".repeat(200_000)}`,
    ],
  ];
  for (const [does, scheme, says] of refusals) {
    test(`a proxy that ${does} is a proxy_error over ${scheme}`, async () => {
      await using proxy = await proxyThat((socket) => void socket.write(says));
      const result = await proxy.ask(scheme, scheme === "http" ? 80 : 443);
      assert.equal(endOf(result), "proxy_error");
      assert.ok(!JSON.stringify(result).includes(SECRET));
    });
  }

  test("a proxy that is not there, says nothing or hangs up is a proxy_error", async () => {
    const closed = await proxyThat(() => {});
    await closed[Symbol.asyncDispose]();
    await using gone = await proxyThat(() => {}, closed.port);
    for (const scheme of ["http", "https"] as const)
      assert.equal(endOf(await gone.ask(scheme, 80)), "proxy_error", scheme);
    await using silent = await proxyThat(() => {});
    assert.equal(endOf(await silent.ask("https", 443)), "proxy_error");
    await using leaving = await proxyThat((socket) => void socket.destroy());
    assert.equal(endOf(await leaving.ask("https", 443)), "proxy_error");
  });
});

test("a proxy is read from its URL, or refused", () => {
  const proxy = readProxy("http://us%65r:p%40ss@proxy.example:3128");
  assert.equal(proxy?.host, "proxy.example");
  assert.equal(proxy?.port, 3128);
  assert.equal(proxy?.authorization, `Basic ${Buffer.from("user:p@ss").toString("base64")}`);
  assert.equal(readProxy("http://[::1]:8080")?.host, "::1");
  assert.equal(readProxy("http://proxy.example")?.authorization, undefined);
  for (const text of [
    "",
    "proxy:3128",
    "socks4://h:1",
    "socks5://h:1/path",
    `socks5://${"u".repeat(256)}:p@h:1`,
    "https://h:1",
    "file:///x",
    "http://h/path",
  ])
    assert.equal(readProxy(text), undefined, text);
});

interface ProxyBench extends AsyncDisposable {
  readonly port: number;
  readonly heads: string[];
  ask(scheme: "http" | "https", port: number): Promise<TransportAnswer | TransportFailed>;
}

/** A proxy that behaves so once it has read a request; with a port, only the way to that port. */
async function proxyThat(
  behave: (socket: Socket) => void,
  elsewhere?: number,
): Promise<ProxyBench> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", (chunk) => {
      heads.push(chunk.toString("latin1"));
      behave(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const proxy = readProxy(`http://user:${SECRET}@127.0.0.1:${elsewhere ?? port}`);
  const transport = new UndiciTransport({
    clock: patientClock,
    lanesMax: 4,
    http2: true,
    insecureTls: false,
    proxy,
  });
  const limits = { ...SUITE_LIMITS, connectMs: 300 };
  return {
    port,
    heads,
    ask: (scheme, sitePort) =>
      transport.exchange({
        scheme,
        host: "localhost",
        port: sitePort,
        path: "/page",
        address: "",
        headers: [],
        limits,
      }),
    async [Symbol.asyncDispose]() {
      await transport.close();
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function secureSite(): Promise<{ port: number; heads: string[]; stop: () => void }> {
  const heads: string[] = [];
  const secureContext = createSecureContext({ key: KEY, cert: GOOD });
  const server = createServer((tcp) => {
    const socket = new TLSSocket(
      tcp.on("error", () => {}),
      { isServer: true, secureContext },
    );
    socket
      .on("error", () => {})
      .on("data", (chunk) => {
        heads.push(chunk.toString("latin1"));
        socket.write(answer("200 OK", "", "secure"));
      });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, heads, stop: () => server.close() };
}

function endOf(result: TransportAnswer | TransportFailed): string {
  return result.kind === "failed" ? result.reason : `${result.status}`;
}
