/**
 * Every hostile server of the catalogue and a healthy world, in one crawl.
 *
 * Some rows ask for waits of hours (Retry-After), so the crawl's clock runs 10,000 times as fast; the
 * servers and the timeouts of each request use the patient clock. Unhandled rejections fail the file.
 */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { Settings } from "../../src/config/schema.ts";
import { readAllowance } from "../../src/fetch/address-guard.ts";
import { DNS_DEFAULTS, DnsResolver } from "../../src/fetch/dns.ts";
import type { Resolver } from "../../src/fetch/resolver.ts";
import { groundTruth } from "../../src/lab/ground-truth.ts";
import { serveWorld, type WorldServer } from "../../src/lab/serve.ts";
import { seedUrls } from "../../src/lab/world.ts";
import { isRetryable, type Reason } from "../../src/page/outcome.ts";
import { ROOT } from "./certificates.ts";
import { crawlSites, type Report } from "./crawl-sites.ts";
import { type HostilePlace, type HostileWeb, startHostileWeb } from "./hostile-web.ts";
import { patientClock } from "../../src/base/patient-clock.suite.ts";
import { HOSTILE_BODY_BYTES_MAX } from "./rows-body.ts";

const PATIENCE = { hurry: 10_000, slowAfterMs: 2_500 };
const RSS_RISE_BYTES_MAX = 256 * 1024 * 1024;
const SETTINGS: Partial<Settings> = {
  bodyBytesMax: HOSTILE_BODY_BYTES_MAX,
  concurrencyPerAddress: 256,
  connectionsMax: 256,
  retriesMax: 0,
  // Rows that fail like a site in trouble are probed until the crawl is stopped, after 12 s of its servers.
  timeMaxMs: 120_000_000,
  // More patient than elsewhere: with so much going on in one process, good answers come late.
  connectTimeoutMs: 1_000,
  tlsTimeoutMs: 1_000,
  firstByteTimeoutMs: 3_000,
  idleTimeoutMs: 2_000,
  totalTimeoutMs: 6_000,
  // Of a sitemap 50 MiB are read, which floods would use up.
  sitemaps: false,
  // One row answers every path with fifty thousand links.
  siteUrlsMax: 100,
};
const WORLD = { seed: 7, siteCount: 5, pagesMin: 20, pagesMax: 80, bytesMax: 40_000 };

/** Names of the rows' redirects lead nowhere; only addresses are real. */
function resolverOf(allowed: string): Resolver {
  const range = readAllowance(allowed);
  assert.ok(range !== undefined);
  const policy = { allowed: [range], ownPorts: new Set<number>() };
  const hosts = new Map<string, string[]>();
  const inner = new DnsResolver({ ...DNS_DEFAULTS, clock: patientClock, policy, hosts });
  return {
    resolve: (host, port) =>
      host.endsWith(".example")
        ? Promise.resolve({ kind: "failed", reason: "dns_nxdomain", detail: "no such name" })
        : inner.resolve(host, port),
  };
}

describe("everything at once", () => {
  const roots = getCACertificates("default");
  let hostile: HostileWeb;
  let healthy: WorldServer;

  before(async () => {
    setDefaultCACertificates([...roots, ROOT]);
    hostile = await startHostileWeb();
    healthy = await serveWorld(WORLD, { by: "port" });
  });

  after(async () => {
    setDefaultCACertificates(roots);
    await hostile[Symbol.asyncDispose]();
    await healthy.close();
  });

  test("a healthy world is complete beside all hostile servers, and every URL has its reason", async () => {
    const seeds = [...hostile.places.map(({ url }) => url), ...seedUrls(healthy.world)];
    const changes = { ...PATIENCE, resolver: resolverOf("127.0.0.0/8") };
    const rssBefore = process.memoryUsage.rss();
    const report = await crawlSites(seeds, SETTINGS, changes);
    const risenBytes = process.memoryUsage.rss() - rssBefore;
    checkTruth(report, healthy);
    for (const place of hostile.places) checkEnd(report, place, ["robots_unreachable"]);
    assert.ok(risenBytes < RSS_RISE_BYTES_MAX, `memory rose by ${risenBytes}`);
  });

  test("where robots.txt is not asked for, every row ends by its own reason", async () => {
    const seeds = hostile.places.map(({ url }) => url);
    const changes = { ...PATIENCE, resolver: resolverOf("127.0.0.0/8") };
    const report = await crawlSites(seeds, { ...SETTINGS, ignoreRobots: true }, changes);
    for (const place of hostile.places) checkEnd(report, place, []);
  });
});

const OUT_OF_TIME: ReadonlySet<string> = new Set([
  "connect_timeout",
  "tls_timeout",
  "first_byte_timeout",
  "idle_timeout",
  "total_timeout",
  "too_slow",
]);

/** The end that the row's fetch has, as a crawl settles it. */
function checkEnd({ reasons }: Report, { row, url }: HostilePlace, others: string[]): void {
  const { ends } = row;
  const own: Reason | undefined =
    ends.kind === "page"
      ? "ok"
      : ends.kind === "busy"
        ? undefined
        : ends.kind === "redirect"
          ? "redirect"
          : ends.reason;
  const reason = reasons.get(url);
  // All at once, and in a hurry, any of them may run out of time first; alone, each has its reason.
  const accepted: (string | undefined)[] = [own, ...others, ...OUT_OF_TIME];
  // What may be the site's trouble leaves its URL pending.
  if (own === undefined) accepted.push("http_429", "http_503");
  if (own === undefined || isRetryable(own)) accepted.push("pending");
  assert.ok(reason !== undefined && accepted.includes(reason), `${row.id}: ${reason}`);
}

function checkTruth({ reasons }: Report, { world, log }: WorldServer): void {
  const asked = new Set(log.entries.map(({ site, path }) => site + path));
  let pages = 0;
  for (const { url, fate } of groundTruth(world)) {
    const reason = reasons.get(url);
    if (fate === "stored") assert.equal(reason, "ok", url);
    if (fate === "redirected") assert.equal(reason, "redirect", url);
    if (fate === "error") assert.match(reason ?? "absent", /^(http_\d+|absent)$/, url);
    if (fate === "forbidden") assert.ok(!asked.has(url), `${url} is forbidden`);
    pages += 1;
  }
  assert.ok(pages > 100, `${pages} pages are a small world`);
}
