import assert from "node:assert/strict";
import {
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import {
  headerOf,
  type TransportAnswer,
  type TransportFailed,
  type TransportRequest,
} from "../../src/fetch/transport.ts";
import { SUITE_LIMITS } from "../../src/fetch/transport.suite.ts";
import { UndiciTransport } from "../../src/fetch/transport-undici.ts";
import { EXPIRED, GOOD, KEY, ROOT } from "./certificates.ts";
import { every, patientClock } from "../../src/base/patient-clock.suite.ts";

type Serve = (stream: ServerHttp2Stream, path: string) => void;

describe("HTTP/2 keeps the same promises", () => {
  const roots = getCACertificates("default");
  before(() => setDefaultCACertificates([...roots, ROOT]));
  after(() => setDefaultCACertificates(roots));

  test("an answer comes whole, over one connection for many requests at once", async () => {
    await using site = await http2Site((stream, path) => {
      stream.respond({ ":status": 200, "content-type": "text/html", "set-cookie": ["a=1", "b=2"] });
      stream.end(path.repeat(1000));
    });
    await site.ask({ path: "/first" });
    const paths = Array.from({ length: 20 }, (_, index) => `/page-${index}`);
    const results = await Promise.all(paths.map((path) => site.ask({ path })));
    for (const [index, result] of results.entries()) {
      assert.ok(result.kind === "answer", JSON.stringify(result));
      assert.equal(result.httpVersion, "2");
      assert.equal(result.verified, true);
      assert.equal(Buffer.from(result.body).toString(), paths[index]?.repeat(1000));
      assert.equal(headerOf(result, "content-type"), "text/html");
      assert.equal(result.headers.filter(([name]) => name === "set-cookie").length, 2);
    }
    assert.equal(site.sessions(), 1);
  });

  test("the body cap cuts, and a length above it is refused at the headers", async () => {
    const limits = { ...SUITE_LIMITS, bodyBytesMax: 10_000 };
    await using site = await http2Site((stream, path) => {
      stream.on("error", () => {});
      stream.respond(path === "/told" ? { "content-length": "50000" } : {});
      stream.end(Buffer.alloc(50_000, "x"));
    });
    const cut = await site.ask({ path: "/untold", limits });
    assert.ok(cut.kind === "answer" && cut.truncated === "length" && cut.body.length === 10_000);
    const told = await site.ask({ path: "/told", limits });
    assert.ok(told.kind === "answer" && told.truncated === "length" && told.body.length === 0);
    const fine = await site.ask({ path: "/untold" });
    assert.ok(fine.kind === "answer" && fine.body.length === 50_000);
  });

  test("bodies that are not wanted may be on their way already, again and again", async () => {
    await using site = await http2Site((stream) => {
      stream.on("error", () => {});
      stream.respond({ "content-type": "image/png" });
      stream.end(Buffer.alloc(500_000));
    });
    for (let round = 0; round < 40; round++) {
      const result = await site.ask({ wantsBody: () => false });
      assert.equal(endOf(result), "200", `round ${round}`);
      assert.ok(result.kind === "answer" && result.truncated === "length");
    }
    assert.equal(site.sessions(), 1);
  });

  test("silence, a stall and a drip end by their own clocks, others go on", async () => {
    await using site = await http2Site((stream, path) => {
      stream.on("error", () => {});
      if (path === "/silent") return;
      stream.respond({});
      if (path === "/fine") return void stream.end("fine");
      stream.write("begin");
      if (path !== "/drip") return;
      stream.once(
        "close",
        every(40, () => stream.write("x")),
      );
    });
    const limits = { ...SUITE_LIMITS, speedFloorBps: 10_000, slowAfterMs: 200 };
    const paths = ["/silent", "/stall", "/drip", "/fine"];
    const results = await Promise.all(paths.map((path) => site.ask({ path, limits })));
    assert.deepEqual(results.map(endOf), ["first_byte_timeout", "idle_timeout", "too_slow", "200"]);
    assert.equal(endOf(await site.ask({ path: "/fine" })), "200");
  });

  test("a reset stream, a cut session and too many headers have their reasons", async () => {
    await using site = await http2Site((stream, path) => {
      stream.on("error", () => {});
      if (path === "/reset") return stream.close(2);
      if (path === "/many") {
        const many = Array.from({ length: 300 }, (_, index) => [`x-${index}`, "y"] as const);
        stream.respond(Object.fromEntries(many));
        return void stream.end();
      }
      stream.respond({ "content-length": "1000" });
      stream.write("half");
      if (path === "/short") stream.end();
      else patientClock.after(30, () => stream.session?.destroy());
    });
    assert.equal(endOf(await site.ask({ path: "/reset" })), "conn_reset");
    assert.equal(endOf(await site.ask({ path: "/many" })), "header_too_many");
    assert.equal(endOf(await site.ask({ path: "/short" })), "body_short");
    assert.match(endOf(await site.ask({ path: "/cut" })), /body_short|conn_reset/);
  });

  test("every byte is told once, and a pause holds the stream", async () => {
    const bodyBytes = 2_000_000;
    await using site = await http2Site((stream) => {
      stream.on("error", () => {});
      stream.respond({});
      stream.end(Buffer.alloc(bodyBytes, "x"));
    });
    let toldBytes = 0;
    const limits = { ...SUITE_LIMITS, bodyBytesMax: 3_000_000 };
    const whole = await site.ask({ limits, onBytes: (bytes) => ((toldBytes += bytes), true) });
    assert.equal(whole.traffic.receivedBytes, toldBytes);
    assert.ok(toldBytes >= bodyBytes);

    const stop = new AbortController();
    let pausedBytes = 0;
    const paused = site.ask({
      limits: { ...limits, totalMs: 60_000 },
      signal: stop.signal,
      onBytes: (bytes) => ((pausedBytes += bytes), false),
    });
    await new Promise((resolve) => setTimeout(resolve, 400));
    stop.abort();
    await paused;
    assert.ok(pausedBytes <= 512 * 1024, `${pausedBytes} bytes came in a pause`);
  });

  test("a server that leaves with GOAWAY is asked again on a new connection", async () => {
    await using site = await http2Site((stream) => {
      stream.respond({});
      stream.end("fine");
      stream.session?.goaway();
    });
    for (let round = 0; round < 3; round++) assert.equal(endOf(await site.ask()), "200");
  });

  test("a bad certificate is accepted only when asked, and then told", async () => {
    await using strict = await http2Site((stream) => void stream.end("x"), { cert: EXPIRED });
    assert.equal(endOf(await strict.ask()), "tls_expired");
    await using lenient = await http2Site(fine, { cert: EXPIRED, insecureTls: true });
    const result = await lenient.ask();
    assert.ok(result.kind === "answer" && !result.verified);
  });

  test("a server without HTTP/2 is spoken to in HTTP/1.1, and one is enough when asked", async () => {
    await using old = await http2Site(fine, { http2: false });
    const result = await old.ask();
    assert.ok(result.kind === "answer" && result.httpVersion === "1.1", JSON.stringify(result));
  });
});

function fine(stream: ServerHttp2Stream): void {
  stream.respond({});
  stream.end("fine");
}

interface Site extends AsyncDisposable {
  ask(more?: Partial<TransportRequest>): Promise<TransportAnswer | TransportFailed>;
  sessions(): number;
}

interface SiteOptions {
  readonly cert?: string;
  readonly insecureTls?: boolean;
  readonly http2?: boolean;
}

async function http2Site(serve: Serve, options: SiteOptions = {}): Promise<Site> {
  const { cert = GOOD, insecureTls = false, http2 = true } = options;
  const sessions = new Set<ServerHttp2Session>();
  let count = 0;
  const server: Http2SecureServer = createSecureServer({ key: KEY, cert, allowHTTP1: true });
  server.on("session", (session) => {
    count++;
    sessions.add(session);
    session.on("error", () => {}).on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream: ServerHttp2Stream, headers) =>
    serve(stream, headers[":path"] ?? ""),
  );
  server.on("request", (request, response) => {
    if (request.httpVersion.startsWith("1")) response.end("old");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const transport = new UndiciTransport({
    clock: patientClock,
    lanesMax: 16,
    http2,
    insecureTls,
    proxy: undefined,
  });
  const where = {
    scheme: "https",
    host: "localhost",
    port,
    path: "/",
    address: "127.0.0.1",
  } as const;
  return {
    sessions: () => count,
    ask: (more = {}) =>
      transport.exchange({ ...where, headers: [["accept", "*/*"]], limits: SUITE_LIMITS, ...more }),
    async [Symbol.asyncDispose]() {
      await transport.close();
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function endOf(result: TransportAnswer | TransportFailed): string {
  return result.kind === "failed" ? result.reason : `${result.status}`;
}
