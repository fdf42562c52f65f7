import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { CrawlError } from "../base/errors.ts";
import { readAssets } from "./assets.ts";
import { READERS_MAX } from "./feed.ts";
import { ROUTES } from "./routes.ts";
import { type SampleCrawl, sampleCrawl, sampleView, writeRates } from "./sample.suite.ts";
import { type Dashboard, serveDashboard } from "./server.ts";
import type { Look, RatesAnswer, SitesAnswer, UrlsAnswer } from "./shapes.ts";

const SITE = "https://a.example";

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Wish {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A visitor who has, or has not, been let in; `fetch` would not let us say what a browser may not. */
class Visitor {
  readonly port: number;
  readonly #token: string;
  cookie = "";
  base = "/";

  constructor(dashboard: Dashboard) {
    const { port, searchParams } = new URL(dashboard.url);
    this.port = Number(port);
    this.#token = searchParams.get("token") ?? "";
  }

  get token(): string {
    return this.#token;
  }

  async enter(): Promise<this> {
    const { headers } = await this.ask(`/?token=${this.#token}`);
    const [cookie = ""] = headers["set-cookie"] ?? [];
    this.cookie = cookie.split(";")[0] ?? "";
    this.base = /Path=([^;]+)/.exec(cookie)?.[1] ?? "";
    return this;
  }

  ask(path: string, { method = "GET", headers = {}, body = "" }: Wish = {}): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const all = { host: `127.0.0.1:${this.port}`, cookie: this.cookie, ...headers };
    const asked = request({ host: "127.0.0.1", port: this.port, path, method, headers: all });
    asked.on("error", reject);
    asked.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    asked.end(body);
    return promise;
  }

  async json<T>(path: string): Promise<T> {
    const { status, text } = await this.ask(`${this.base}api/${path}`);
    assert.equal(status, 200, text);
    return JSON.parse(text) as T;
  }

  change(body: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const own = {
      origin: `http://127.0.0.1:${this.port}`,
      "x-weir": "1",
      "content-type": "application/json",
    };
    return this.ask(`${this.base}api/change`, {
      method: "POST",
      headers: { ...own, ...headers },
      body,
    });
  }
}

async function opened(
  crawl: SampleCrawl,
  change: Partial<Parameters<typeof serveDashboard>[0]> = {},
): Promise<Dashboard> {
  return serveDashboard({
    folder: crawl.folder,
    speedsFile: undefined,
    address: "127.0.0.1",
    port: 0,
    orOtherPort: false,
    token: undefined,
    ...change,
  });
}

function smallCrawl(): Promise<SampleCrawl> {
  const urls = [
    { url: `${SITE}/`, reason: "ok" },
    { url: `${SITE}/b`, reason: "http_404" },
    { url: `${SITE}/c`, reason: undefined },
  ] as const;
  return sampleCrawl([{ key: SITE, robots: "User-agent: *\n", urls }]);
}

test("with the token everything is shown: the page, the crawl, its sites, ends and rates", async () => {
  using crawl = await smallCrawl();
  crawl.say({ sites: [sampleView(SITE)], rateBps: 77 });
  writeRates(crawl.folder, 1.7e12, [10, 20, 30]);
  await using dashboard = await opened(crawl);
  const visitor = await new Visitor(dashboard).enter();
  const page = await visitor.ask(visitor.base);
  assert.equal(page.status, 200);
  assert.match(page.text, /<title>Weir<\/title>/);
  const look = await visitor.json<Look>("look");
  assert.equal(look.isRunning, true);
  assert.equal(look.snapshot.rateBps, 77);
  assert.equal((await visitor.json<SitesAnswer>("sites")).lines[0]?.site, SITE);
  const ends = await visitor.json<UrlsAnswer>("outcomes?reason=http_404");
  assert.deepEqual(
    ends.lines.map(({ url }) => url),
    [`${SITE}/b`],
  );
  const { spans } = await visitor.json<RatesAnswer>("rates");
  assert.deepEqual(
    spans.map(({ meanBps }) => meanBps),
    [10, 20, 30],
  );
  for (const path of ["url?id=1", "reasons", "servers", `site?site=${encodeURIComponent(SITE)}`])
    await visitor.json(path);
});

test("without the token no door opens, and from a foreign name or page none either", async () => {
  using crawl = await smallCrawl();
  crawl.say({});
  await using dashboard = await opened(crawl);
  const guest = await new Visitor(dashboard).enter();
  const { cookie, base } = guest;
  const doors = ["", "api/events", "api/change", ...Object.keys(ROUTES), ...readAssets().keys()];
  const paths = ["/", "/metrics", "/favicon.ico", ...doors.map((door) => `${base}${door}`)];
  for (const path of paths) {
    guest.cookie = "";
    for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
      assert.equal((await guest.ask(path, { method })).status, 401, `${method} ${path}`);
    guest.cookie = cookie;
    const foreign = { host: `evil.example:${guest.port}` };
    assert.equal((await guest.ask(path, { headers: foreign })).status, 403, path);
    const cross = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" };
    assert.equal((await guest.ask(path, { headers: cross })).status, 403, path);
  }
});

test("every answer carries the strict headers, also a refusal", async () => {
  using crawl = await smallCrawl();
  crawl.say({});
  await using dashboard = await opened(crawl);
  const visitor = new Visitor(dashboard);
  const refused = await visitor.ask("/");
  await visitor.enter();
  const answers = [
    refused,
    ...(await Promise.all(
      ["", "api/look", "nothing"].map((path) => visitor.ask(visitor.base + path)),
    )),
  ];
  for (const { headers } of answers) {
    const policy = headers["content-security-policy"] as string;
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
    assert.doesNotMatch(policy, /unsafe|\*|http|data:/);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["x-frame-options"], "DENY");
    assert.equal(headers["referrer-policy"], "no-referrer");
    assert.equal(headers["cross-origin-resource-policy"], "same-origin");
    assert.equal(headers["access-control-allow-origin"], undefined);
  }
});

test("a wish is only taken from the page itself, in its form, and bounded", async () => {
  using crawl = await smallCrawl();
  crawl.say({});
  await using dashboard = await opened(crawl);
  const visitor = await new Visitor(dashboard).enter();
  const wish = JSON.stringify({ key: "pause", value: "true" });
  const refusals: readonly (readonly [number, string, Readonly<Record<string, string>>])[] = [
    [403, wish, { origin: "https://evil.example" }],
    [403, wish, { origin: "http://127.0.0.1:1" }],
    [403, wish, { "x-weir": "" }],
    [403, wish, { "content-type": "text/plain" }],
    [413, JSON.stringify({ key: "pause", value: "x".repeat(5000) }), {}],
    [400, "{", {}],
    [400, "null", {}],
    [400, '{"key":"pause"}', {}],
    [400, '{"key":["pause"],"value":{}}', {}],
  ];
  for (const [status, body, headers] of refusals)
    assert.equal((await visitor.change(body, headers)).status, status, body.slice(0, 60));
  for (const body of [wish, '{"__proto__":{"key":"x"},"key":"../../x","value":"y"}']) {
    // No crawl reads the mailbox.
    const { status, text } = await visitor.change(body);
    assert.deepEqual([status, (JSON.parse(text) as { ok: boolean }).ok], [200, false]);
  }
  const unset = await visitor.ask(`${visitor.base}api/change`);
  assert.equal(unset.status, 405);
  assert.equal(Object.getOwnPropertyNames(Object.prototype).includes("key"), false);
});

test("odd paths and numbers find nothing, and break nothing", async () => {
  using crawl = await smallCrawl();
  crawl.say({});
  writeFileSync(join(crawl.folder, "hidden.txt"), "hidden");
  await using dashboard = await opened(crawl);
  const visitor = await new Visitor(dashboard).enter();
  for (const path of [
    "../hidden.txt",
    "..%2fhidden.txt",
    "app/../../hidden.txt",
    "app/dashboard/server.ts",
    "app/dashboard/page/tsconfig.json",
    "app/dashboard/page/page.html",
    "app/base/units.ts%00",
    "api/__proto__",
    "api/constructor",
    "toString",
    "//etc/passwd",
    "api/url?id=-1",
    "api/url?id=1e3",
    "api/site?site=%00",
    "api/search?words=x",
  ]) {
    const { status, text } = await visitor.ask(visitor.base + path);
    assert.equal(status, 404, path);
    assert.doesNotMatch(text, /hidden/);
  }
  for (const query of [
    "from=-5&count=1e9",
    "from=999999999999999&count=0",
    "sort=x%00&find=%27%22%25",
    "count=abc",
  ])
    assert.equal((await visitor.ask(`${visitor.base}api/sites?${query}`)).status, 200, query);
  assert.equal((await visitor.ask("http://127.0.0.1/absolute")).status, 401);
});

test("a head or a request that does not end is cut off, and too many event streams are refused", async () => {
  using crawl = await smallCrawl();
  crawl.say({});
  await using dashboard = await opened(crawl);
  const visitor = await new Visitor(dashboard).enter();
  const long = await visitor.ask(visitor.base, { headers: { "x-long": "x".repeat(10_000) } });
  assert.equal(long.status, 431);
  const streams = Array.from({ length: READERS_MAX }, () => stream(visitor));
  for (const each of await Promise.all(streams))
    assert.match(each.head, /200 OK[\s\S]*event: look/);
  assert.equal((await visitor.ask(`${visitor.base}api/events`)).status, 503);
  for (const { close } of await Promise.all(streams)) close();
});

function stream(visitor: Visitor): Promise<{ readonly head: string; readonly close: () => void }> {
  const { promise, resolve } = Promise.withResolvers<{ head: string; close: () => void }>();
  const socket = connect(visitor.port, "127.0.0.1");
  socket.write(
    `GET ${visitor.base}api/events HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: ${visitor.cookie}\r\n\r\n`,
  );
  let text = "";
  socket.on("data", (part) => {
    text += part.toString();
    if (text.includes("\n\n")) resolve({ head: text, close: () => socket.destroy() });
  });
  return promise;
}

test("events tell of every change, and of the end", async () => {
  using crawl = await smallCrawl();
  crawl.say({ rateBps: 1 });
  const dashboard = await opened(crawl);
  const visitor = await new Visitor(dashboard).enter();
  const socket = connect(visitor.port, "127.0.0.1");
  socket.write(
    `GET ${visitor.base}api/events HTTP/1.1\r\nHost: localhost\r\nCookie: ${visitor.cookie}\r\n\r\n`,
  );
  let text = "";
  const came = async (words: string): Promise<void> => {
    while (!text.includes(words)) {
      const part = (await new Promise((resolve) => socket.once("data", resolve))) as Buffer;
      text += part.toString();
    }
  };
  await came('"rateBps":1,');
  crawl.say({ rateBps: 222_222 });
  await came('"rateBps":222222,');
  await dashboard[Symbol.asyncDispose]();
  await came("event: bye");
  socket.destroy();
});

test("metrics need the token, in a header or in the address", async () => {
  using crawl = await smallCrawl();
  crawl.say({});
  const token = "a-token-of-the-operator_1";
  await using dashboard = await opened(crawl, { token });
  const visitor = new Visitor(dashboard);
  assert.equal((await visitor.ask("/metrics")).status, 401);
  const headers = { authorization: `Bearer ${token}` };
  const { status, headers: got, text } = await visitor.ask("/metrics", { headers });
  assert.equal(status, 200);
  assert.equal(got["content-type"], "text/plain; version=0.0.4; charset=utf-8");
  assert.match(text, /^weir_up 1$/m);
  assert.equal((await visitor.ask(`/metrics?token=${token}`)).status, 200);
  assert.equal((await visitor.ask(`/metrics?token=${token}x`)).status, 401);
});

test("a crawl that is over is shown by its last words and its store; one that is none is told apart", async () => {
  using crawl = await smallCrawl();
  await using before = await opened(crawl);
  const look = await (await new Visitor(before).enter()).json<Look>("look");
  assert.deepEqual([look.isRunning, look.snapshot.state], [false, "stopped"]);
  assert.equal(look.snapshot.totals.known, 3);
  crawl.say({
    state: "done",
    sites: [sampleView(SITE, { finishedMs: 5, pending: 0 })],
    rateBps: 9,
  });
  await using after = await opened(crawl);
  const { isRunning, snapshot } = await (await new Visitor(after).enter()).json<Look>("look");
  assert.deepEqual([isRunning, snapshot.rateBps, snapshot.sites[0]?.finishedMs], [false, 0, 5]);
  writeFileSync(join(crawl.folder, "status.json"), '{"half');
  assert.equal((await (await new Visitor(before).enter()).json<Look>("look")).isRunning, false);
});

test("a port that is taken is said, or another is taken instead", async () => {
  using crawl = await smallCrawl();
  await using first = await opened(crawl);
  const port = Number(new URL(first.url).port);
  await assert.rejects(
    opened(crawl, { port }),
    (error) => error instanceof CrawlError && error.code === "DASHBOARD_PORT",
  );
  await using second = await opened(crawl, { port, orOtherPort: true });
  assert.notEqual(Number(new URL(second.url).port), port);
});

test("only loopback is listened on unless another address is given", async () => {
  using crawl = await smallCrawl();
  await using dashboard = await opened(crawl);
  const { hostname, port } = new URL(dashboard.url);
  assert.equal(hostname, "127.0.0.1");
  const refused = await new Promise((resolve) => {
    const socket = connect(Number(port), "127.0.0.2");
    socket.once("error", () => resolve(true));
    socket.once("connect", () => resolve(false));
  });
  assert.equal(refused, true);
});
