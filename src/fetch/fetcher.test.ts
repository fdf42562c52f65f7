import assert from "node:assert/strict";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { systemClock } from "../base/clock.ts";
import { type CanonicalUrl, canonicalUrl, isRefused, PLAIN_RULES } from "../url/url.ts";
import { CookieJar } from "./cookies.ts";
import { Fetcher, type FetcherOptions } from "./fetcher.ts";
import type { Resolution, Resolver } from "./resolver.ts";
import { SUITE_LIMITS } from "./transport.suite.ts";
import { UndiciTransport } from "./transport-undici.ts";

/** Every name is on this machine. */
const HERE: Resolver = {
  resolve: async () => ({ kind: "addresses", addresses: ["127.0.0.1"] }),
};

test("a page comes decoded, with all that an archive needs", async (t) => {
  const body = gzipSync("<p>hello</p>");
  const server = await serving(t, () =>
    answer(200, 'Content-Encoding: gzip\r\nETag: "v1"\r\n', body),
  );
  const result = await server.fetcher().fetch({ url: server.url("/a?b=c") });
  assert.ok(result.kind === "page", JSON.stringify(result));
  assert.equal(Buffer.from(result.body).toString(), "<p>hello</p>");
  assert.ok(body.equals(result.reply.body));
  assert.equal(result.etag, '"v1"');
  assert.equal(result.address, "127.0.0.1");
  assert.deepEqual(result.remarks, []);
  assert.equal(result.reply.requestHead, server.heads[0]);
  assert.ok(result.traffic.receivedBytes > body.length);
  assert.equal(result.traffic.sentBytes, server.heads[0]?.length);
});

test("the request says honestly who asks, and offers what can be decoded", async (t) => {
  const server = await serving(t, () => answer(200, "", ""));
  await server.fetcher().fetch({ url: server.url("/") });
  const [head = ""] = server.heads;
  assert.match(head, /^GET \/ HTTP\/1\.1\r\nhost: site\.test:\d+\r\n/);
  assert.match(head, /\r\nuser-agent: Weir\/1\.2\.3 \(\+https:\/\/example\.org\/bot\)\r\n/);
  assert.match(head, /\r\naccept-encoding: gzip, deflate, br, zstd\r\n/);
});

test("a known version is named, and 304 answers it", async (t) => {
  const server = await serving(t, (head) =>
    /if-none-match: "v1"/.test(head) ? "HTTP/1.1 304 Same\r\n\r\n" : answer(200, "", "new"),
  );
  const fetcher = server.fetcher();
  const known = { etag: '"v1"', lastModified: "Mon, 01 Jun 2026 00:00:00 GMT" };
  const same = await fetcher.fetch({ url: server.url("/"), ...known });
  assert.equal(same.kind, "not_modified");
  assert.match(server.heads[0] ?? "", /if-modified-since: Mon, 01 Jun 2026 00:00:00 GMT\r\n/);
  const other = await fetcher.fetch({ url: server.url("/"), etag: "evil\r\nX: y" });
  assert.equal(other.kind, "page");
});

test("an unwanted type is left at its headers", async (t) => {
  const server = await serving(t, () =>
    answer(200, "Content-Type: image/png\r\n", Buffer.alloc(500_000)),
  );
  let receivedBytes = 0;
  const result = await server.fetcher().fetch({
    url: server.url("/"),
    acceptTypes: ["text/html"],
    onBytes: (bytes) => ((receivedBytes += bytes), true),
  });
  assert.equal(result.kind === "failed" && result.reason, "type_unwanted");
  assert.ok(receivedBytes < 300_000, `${receivedBytes}`);
});

test("the next address is tried when one does not connect, and all bytes are added up", async (t) => {
  const server = await serving(t, () => answer(200, "", "hi"), "127.0.0.1");
  const resolver: Resolver = {
    resolve: async () => ({ kind: "addresses", addresses: ["127.0.0.77", "::1", "127.0.0.1"] }),
  };
  const result = await server.fetcher({ resolver }).fetch({ url: server.url("/") });
  assert.equal(result.kind, "page");
  assert.equal(result.address, "127.0.0.1");
});

test("a name whose IPv4 port is closed is reached by IPv6, from then on at once", async (t) => {
  const server = await serving(t, () => answer(200, "", "hi"), "::1");
  let asked = 0;
  const resolver: Resolver = {
    resolve: async () => ({ kind: "addresses", addresses: ["127.0.0.77"] }),
    resolveIPv6: async () => ((asked += 1), { kind: "addresses", addresses: ["::1"] }),
  };
  const fetcher = server.fetcher({ resolver });
  for (let round = 0; round < 3; round++) {
    const result = await fetcher.fetch({ url: server.url(`/${round}`) });
    assert.equal(result.kind, "page");
    assert.equal(result.address, "::1");
  }
  assert.equal(asked, 1);
});

test("without a usable IPv6 address, a closed IPv4 port stays the reason", async (t) => {
  const server = await serving(t, () => answer(200, "", "hi"), "127.0.0.1");
  const others: Resolution[] = [
    { kind: "failed", reason: "ssrf_blocked", detail: "::1" },
    { kind: "failed", reason: "dns_timeout", detail: "" },
    { kind: "addresses", addresses: ["::1"] },
    { kind: "addresses", addresses: ["127.0.0.1"] },
  ];
  for (const other of others) {
    const resolver: Resolver = {
      resolve: async () => ({ kind: "addresses", addresses: ["127.0.0.77"] }),
      resolveIPv6: async () => other,
    };
    const result = await server.fetcher({ resolver }).fetch({ url: server.url("/") });
    assert.equal(result.kind === "failed" && result.reason, "connect_refused");
    assert.equal(result.address, "127.0.0.77");
  }
  assert.equal(server.heads.length, 0);
});

test("a blocked name is never connected to", async (t) => {
  const server = await serving(t, () => answer(200, "", "secret"));
  const resolver: Resolver = {
    resolve: async () => ({ kind: "failed", reason: "ssrf_blocked", detail: "127.0.0.1" }),
  };
  const result = await server.fetcher({ resolver }).fetch({ url: server.url("/") });
  assert.equal(result.kind === "failed" && result.reason, "ssrf_blocked");
  assert.equal(server.heads.length, 0);
});

test("cookies go back to their site, and into no archive", async (t) => {
  const server = await serving(t, () => answer(200, "Set-Cookie: id=secret\r\n", ""));
  const fetcher = server.fetcher({ cookies: new CookieJar() });
  await fetcher.fetch({ url: server.url("/") });
  const second = await fetcher.fetch({ url: server.url("/") });
  assert.match(server.heads[1] ?? "", /\r\ncookie: id=secret\r\n/);
  assert.ok(second.kind === "page" && !second.reply.requestHead.includes("secret"));
  await fetcher.fetch({ url: server.url("/", "other.test") });
  assert.doesNotMatch(server.heads[2] ?? "", /cookie/);
});

test("a cap given with the request keeps what came before it", async (t) => {
  const server = await serving(t, () => answer(200, "", Buffer.alloc(100_000, "x"), false));
  const fetcher = server.fetcher();
  const kept = await fetcher.fetch({ url: server.url("/robots.txt"), keepBytesMax: 1000 });
  assert.ok(kept.kind === "page" && kept.body.length === 1000);
  assert.ok(kept.remarks.includes("truncated"));
  const limits = { ...SUITE_LIMITS, bodyBytesMax: 1000 };
  const refused = await server.fetcher({ limits }).fetch({ url: server.url("/") });
  assert.ok(refused.kind === "failed" && refused.reason === "body_too_large");
  assert.equal(refused.reply?.truncated, "length");
});

interface Serving {
  readonly heads: string[];
  url(path: string, host?: string): CanonicalUrl;
  fetcher(more?: Partial<FetcherOptions>): Fetcher;
}

async function serving(
  t: { after(stop: () => Promise<void>): void },
  say: (head: string) => string | Buffer,
  address = "127.0.0.1",
): Promise<Serving> {
  const sockets = new Set<Socket>();
  const heads: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (asked) => {
      heads.push(asked.toString("latin1"));
      const said = say(asked.toString("latin1"));
      socket.write(said);
      if (!said.includes("Content-Length") && !said.includes("304")) socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const transport = new UndiciTransport({
    clock: systemClock,
    lanesMax: 16,
    http2: true,
    insecureTls: false,
    proxy: undefined,
  });
  t.after(async () => {
    await transport.close();
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return {
    heads,
    url(path, host = "site.test") {
      const url = canonicalUrl(`http://${host}:${port}${path}`);
      assert.ok(!isRefused(url));
      return url;
    },
    fetcher: (more = {}) =>
      new Fetcher({
        transport,
        resolver: HERE,
        clock: systemClock,
        limits: SUITE_LIMITS,
        decodedBytesMax: 16 * 1024 * 1024,
        userAgent: "Weir/1.2.3 (+https://example.org/bot)",
        urlRules: PLAIN_RULES,
        proxied: false,
        cookies: undefined,
        ...more,
      }),
  };
}

function answer(status: number, fields: string, body: string | Buffer, counted = true): Buffer {
  const length = counted ? `Content-Length: ${body.length}\r\n` : "";
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} Word\r\n${fields}${length}\r\n`, "latin1"),
    Buffer.from(body as string),
  ]);
}
