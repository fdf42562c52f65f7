/** SOCKS5: a server that we did not write (microsocks, from Debian), and proxies that break the protocol. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import {
  createSecureContext,
  getCACertificates,
  setDefaultCACertificates,
  TLSSocket,
} from "node:tls";
import { patientClock, until } from "../../src/base/patient-clock.suite.ts";
import { readProxy } from "../../src/fetch/proxy.ts";
import type { TransportAnswer, TransportFailed } from "../../src/fetch/transport.ts";
import { SUITE_LIMITS } from "../../src/fetch/transport.suite.ts";
import { UndiciTransport } from "../../src/fetch/transport-undici.ts";
import { GOOD, KEY, ROOT } from "./certificates.ts";
import { answer } from "./row.ts";

const SECRET = "swordfish";
const hasServer = spawnSync("sh", ["-c", "command -v microsocks"]).status === 0;
type Result = TransportAnswer | TransportFailed;

interface Site extends AsyncDisposable {
  readonly port: number;
  readonly heads: string[];
}

async function siteOn(address: string, isSecure: boolean): Promise<Site> {
  const heads: string[] = [];
  const secureContext = createSecureContext({ key: KEY, cert: GOOD });
  const server = createServer((tcp) => {
    tcp.on("error", () => {});
    const socket = isSecure ? new TLSSocket(tcp, { isServer: true, secureContext }) : tcp;
    socket
      .on("error", () => {})
      .on("data", (chunk) => {
        heads.push(chunk.toString("latin1"));
        socket.write(answer("200 OK", "", "from the site"));
      });
  });
  const port = await listening(server, address);
  return { port, heads, [Symbol.asyncDispose]: async () => void server.close() };
}

async function listening(
  server: ReturnType<typeof createServer>,
  address = "127.0.0.1",
): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return (server.address() as AddressInfo).port;
}

async function ask(
  proxyUrl: string,
  site: { readonly scheme?: "http" | "https"; readonly host?: string; readonly port: number },
  windowBytes?: number,
): Promise<Result> {
  const proxy = readProxy(proxyUrl);
  assert.ok(proxy !== undefined, proxyUrl);
  const options = { clock: patientClock, lanesMax: 4, http2: true, insecureTls: false, proxy };
  const transport = new UndiciTransport(options);
  transport.setWindow(windowBytes);
  const request = { scheme: "http", host: "localhost", path: "/page", address: "" } as const;
  const limits = { ...SUITE_LIMITS, connectMs: 500 };
  const result = await transport.exchange({ ...request, ...site, headers: [], limits });
  await transport.close();
  assert.ok(!JSON.stringify(result).includes(SECRET), "a password in a result");
  return result;
}

function endOf(result: Result): string {
  return result.kind === "failed" ? result.reason : Buffer.from(result.body).toString();
}

describe("through microsocks", { skip: hasServer ? false : "needs microsocks" }, () => {
  const roots = getCACertificates("default");
  const servers: ChildProcess[] = [];
  let [open, closed] = ["", ""];
  before(async () => {
    setDefaultCACertificates([...roots, ROOT]);
    open = await microsocks();
    closed = await microsocks("-u", "user", "-P", SECRET);
  });
  after(() => {
    setDefaultCACertificates(roots);
    for (const server of servers) server.kill();
  });

  async function microsocks(...args: string[]): Promise<string> {
    const probe = createServer();
    const port = await listening(probe);
    await new Promise((resolve) => probe.close(resolve));
    servers.push(
      spawn("microsocks", ["-i", "127.0.0.1", "-p", `${port}`, ...args], { stdio: "ignore" }),
    );
    let isThere = false;
    await until(() => {
      const socket = connect(port, "127.0.0.1", () => (isThere = true));
      socket.on("error", () => {}).on("connect", () => socket.destroy());
      return isThere;
    }, "microsocks");
    return `127.0.0.1:${port}`;
  }

  test("http and https sites are reached by name and address, with a window and without", async () => {
    await using plain = await siteOn("127.0.0.1", false);
    await using secure = await siteOn("127.0.0.1", true);
    await using six = await siteOn("::1", false);
    for (const windowBytes of [undefined, 65_536]) {
      for (const host of ["localhost", "127.0.0.1"])
        assert.equal(
          endOf(await ask(`socks5://${open}`, { host, port: plain.port }, windowBytes)),
          "from the site",
        );
      const result = await ask(
        `socks5h://${open}/`,
        { scheme: "https", port: secure.port },
        windowBytes,
      );
      assert.equal(endOf(result), "from the site");
      assert.equal(result.kind === "answer" && result.verified, true);
      assert.equal(
        endOf(await ask(`socks5://${open}`, { host: "[::1]", port: six.port }, windowBytes)),
        "from the site",
      );
    }
    assert.match(plain.heads[0] ?? "", /^GET \/page HTTP\/1\.1\r\nhost: localhost:/);
  });

  test("user and password are sent, and wrong or missing ones are a proxy_error", async () => {
    await using site = await siteOn("127.0.0.1", false);
    assert.equal(endOf(await ask(`socks5://user:${SECRET}@${closed}`, site)), "from the site");
    for (const login of ["", `user:${SECRET}x@`])
      assert.equal(endOf(await ask(`socks5://${login}${closed}`, site)), "proxy_error");
    assert.equal(site.heads.length, 1);
  });

  test("a site that refuses is refused, not the proxy", async () => {
    const site = await siteOn("127.0.0.1", false);
    await site[Symbol.asyncDispose]();
    assert.equal(endOf(await ask(`socks5://${open}`, site)), "connect_refused");
  });
});

const GRANTED = [5, 0, 0, 1, 127, 0, 0, 1, 0, 80];
const BROKEN: readonly (readonly [does: string, replies: readonly (readonly number[])[]])[] = [
  ["speaks HTTP", [[...Buffer.from("HTTP/1.1 400 No\r\n\r\n")]]],
  ["wants an unknown login", [[5, 255]]],
  ["chooses a login that was not offered", [[5, 1]]],
  [
    "refuses the request",
    [
      [5, 0],
      [5, 2, 0, 1, 0, 0, 0, 0, 0, 0],
    ],
  ],
  [
    "sends half a reply",
    [
      [5, 0],
      [5, 0, 0, 3, 200, 1, 2],
    ],
  ],
  [
    "sends a site's answer with its reply",
    [
      [5, 0],
      [...GRANTED, ...answer("200 OK", "", "x")],
    ],
  ],
  ["sends nothing", []],
];

for (const [does, replies] of BROKEN)
  test(`a SOCKS proxy that ${does} is a proxy_error`, async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      let next = 0;
      socket
        .on("error", () => {})
        .on("data", () => {
          const reply = replies[next++];
          if (reply !== undefined) socket.write(Buffer.from(reply));
          else if (next > 1) socket.end();
        });
    });
    const port = await listening(server);
    assert.equal(endOf(await ask(`socks5://127.0.0.1:${port}`, { port: 80 })), "proxy_error");
    for (const socket of sockets) socket.destroy();
    server.close();
  });
