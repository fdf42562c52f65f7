import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { visible } from "../../src/base/visible.ts";
import { readAllowance } from "../../src/fetch/address-guard.ts";
import { CookieJar } from "../../src/fetch/cookies.ts";
import { DNS_DEFAULTS, DnsResolver } from "../../src/fetch/dns.ts";
import { Fetcher, type FetchResult } from "../../src/fetch/fetcher.ts";
import type { TransportLimits } from "../../src/fetch/transport.ts";
import { UndiciTransport } from "../../src/fetch/transport-undici.ts";
import { type CanonicalUrl, canonicalUrl, isRefused, PLAIN_RULES } from "../../src/url/url.ts";
import { ROOT } from "./certificates.ts";
import { HOSTILE_ROWS, type HostileWeb, startHostileWeb } from "./hostile-web.ts";
import { patientClock, until } from "../../src/base/patient-clock.suite.ts";
import type { Ending, Row } from "./row.ts";
import { HOSTILE_BODY_BYTES_MAX } from "./rows-body.ts";

/** As in a crawl, but some sixty times as impatient. */
const LIMITS: TransportLimits = {
  connectMs: 300,
  tlsMs: 300,
  firstByteMs: 300,
  idleMs: 300,
  totalMs: 1_500,
  speedFloorBps: 1024,
  slowAfterMs: 400,
  headerBytesMax: 64 * 1024,
  headerFieldsMax: 256,
  bodyBytesMax: HOSTILE_BODY_BYTES_MAX,
};
const DECODED_BYTES_MAX = 16 * 1024 * 1024;
const PAGE = { kind: "page" } as const;
const RSS_RISE_BYTES_MAX = 64 * 1024 * 1024;

describe("each row of the catalogue ends as it must", () => {
  let web: HostileWeb;
  let transport: UndiciTransport;
  let fetcher: Fetcher;
  const roots = getCACertificates("default");

  before(async () => {
    setDefaultCACertificates([...roots, ROOT]);
    web = await startHostileWeb();
    transport = new UndiciTransport({
      clock: patientClock,
      lanesMax: 64,
      http2: true,
      insecureTls: false,
      proxy: undefined,
    });
    fetcher = fetcherOn(transport);
  });

  after(async () => {
    await transport.close();
    setDefaultCACertificates(roots);
    await until(() => web.openSockets() === 0, "no connection left open");
    await web[Symbol.asyncDispose]();
  });

  for (const [index, row] of HOSTILE_ROWS.entries()) {
    test(`${row.id}: a server that ${row.does}`, async () => {
      const url = canonical(web.places[index]?.url ?? "");
      for (let time = 0; time < (row.times ?? 1); time++) {
        const rssBefore = process.memoryUsage.rss();
        const result = await fetcher.fetch({ url });
        const risenBytes = process.memoryUsage.rss() - rssBefore;
        assert.deepEqual(endingOf(result, row), row.ends, summary(result));
        assert.ok(result.durationMs < LIMITS.totalMs + 500, `took ${result.durationMs} ms`);
        assert.ok(risenBytes < RSS_RISE_BYTES_MAX, `memory rose by ${risenBytes}`);
        const receivedBytes = result.traffic.receivedBytes;
        assert.ok(receivedBytes <= (row.receivedBytesMax ?? Infinity), `read ${receivedBytes}`);
      }
    });
  }
});

test("a place inside the network is never reached, whatever redirects there", async () => {
  await using web = await startHostileWeb(HOSTILE_ROWS.filter(({ id }) => id === "R6"));
  const transport = new UndiciTransport({
    clock: patientClock,
    lanesMax: 4,
    http2: true,
    insecureTls: false,
    proxy: undefined,
  });
  const fetcher = fetcherOn(transport);
  const first = await fetcher.fetch({ url: canonical(web.places[0]?.url ?? "") });
  assert.ok(first.kind === "redirect");
  const second = await fetcher.fetch(first.to);
  assert.equal(second.kind === "failed" && second.reason, "ssrf_blocked");
  assert.equal(second.traffic.sentBytes, 0);
  await transport.close();
});

function fetcherOn(transport: UndiciTransport): Fetcher {
  const loopback = readAllowance("127.0.0.0/8");
  assert.ok(loopback !== undefined);
  const policy = { allowed: [loopback], ownPorts: new Set<number>() };
  const hosts = new Map<string, string[]>();
  return new Fetcher({
    transport,
    resolver: new DnsResolver({ ...DNS_DEFAULTS, clock: patientClock, policy, hosts }),
    clock: patientClock,
    limits: LIMITS,
    decodedBytesMax: DECODED_BYTES_MAX,
    userAgent: "Weir/0.0.0 (+https://example.org/)",
    urlRules: PLAIN_RULES,
    proxied: false,
    cookies: new CookieJar(),
  });
}

/** The ending in the row's own words: only what the row speaks of. */
function endingOf(result: FetchResult, { ends }: Row): Ending {
  switch (result.kind) {
    case "page": {
      const asked: Ending & { kind: "page" } = ends.kind === "page" ? ends : PAGE;
      const remark = result.remarks.find((each) => each === asked.remark);
      return {
        kind: "page",
        ...(remark === undefined ? {} : { remark }),
        ...(asked.bodyBytes === undefined ? {} : { bodyBytes: result.body.length }),
      };
    }
    case "redirect":
      return { kind: "redirect", to: result.to.url };
    case "busy":
      return { kind: "busy", retryAfterMs: result.retryAfterMs };
    case "not_modified":
      return { kind: "failed", reason: "not_modified" };
    case "failed":
      return { kind: "failed", reason: result.reason };
  }
}

function summary(result: FetchResult): string {
  const detail = result.kind === "failed" ? `${result.reason}: ${visible(result.detail)}` : "";
  return `${result.kind} ${detail} ${JSON.stringify(result.traffic)}`;
}

function canonical(text: string): CanonicalUrl {
  const url = canonicalUrl(text);
  assert.ok(!isRefused(url), text);
  return url;
}
