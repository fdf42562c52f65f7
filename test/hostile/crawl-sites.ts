/**
 * What the rows about whole crawls share: sites on loopback that note who asked for what, and a crawl
 * by the production loops whose every end can be looked up.
 *
 * The crawl runs on real sockets. Its loops may have a faster clock, on which a minute of rest
 * takes seconds; the servers and the timeouts of a request use the patient clock.
 *
 * Promise: whatever a row does, `crawlSites` answers only when the crawl ended by itself, with accounts
 * that add up and no reason outside the closed list.
 */

import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { randomFrom, systemRandom } from "../../src/base/random.ts";
import { checkOrder } from "../../src/config/order.ts";
import type { Settings } from "../../src/config/schema.ts";
import { defaultSettings } from "../../src/config/sources.ts";
import { type CrawlHandle, startCrawl } from "../../src/crawl/crawl.ts";
import type { CrawlParts } from "../../src/crawl/context.ts";
import { plainLine } from "../../src/crawl/limit/link-budget.ts";
import { fetcherOptions } from "../../src/crawl/open.ts";
import type { CrawlResult } from "../../src/control/snapshot.ts";
import { readAllowance } from "../../src/fetch/address-guard.ts";
import { DNS_DEFAULTS, DnsResolver } from "../../src/fetch/dns.ts";
import { Fetcher } from "../../src/fetch/fetcher.ts";
import type { Resolver } from "../../src/fetch/resolver.ts";
import type { Transport } from "../../src/fetch/transport.ts";
import { UndiciTransport } from "../../src/fetch/transport-undici.ts";
import type { Conduct } from "../../src/lab/faults.ts";
import { SimClock } from "../../src/lab/sim-clock.ts";
import { SimTransport } from "../../src/lab/sim-transport.ts";
import { REASONS } from "../../src/page/outcome.ts";
import type { PageRecord } from "../../src/page/page.ts";
import { openMemoryStore } from "../../src/store/sqlite/store-sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import type { CanonicalUrl } from "../../src/url/url.ts";
import { patientClock } from "../../src/base/patient-clock.suite.ts";

/** One request, as the server saw it. */
export interface Asked {
  readonly path: string;
  readonly host: string;
  readonly headers: IncomingHttpHeaders;
  readonly atMs: number;
}

/** A page, a whole answer, or whatever the row does with the response; nothing is a 404. */
export type Reply =
  | string
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string | string[]>>;
      readonly body?: string | Uint8Array;
    }
  | ((response: ServerResponse) => void)
  | undefined;

export type Pages = Readonly<Record<string, Reply>> | ((asked: Asked) => Reply);

export interface TestSite extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  readonly asked: readonly Asked[];
  /** The origin under a name of its own: all names that end so lead to loopback. */
  named(name: string): string;
  /** Paths asked for, in order, without robots.txt and sitemap.xml. */
  paths(host?: string): string[];
}

export async function startTestSite(pages: Pages): Promise<TestSite> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const { headers, url: path = "" } = request;
    const one = { path, host: headers.host ?? "", headers, atMs: patientClock.nowMs() };
    asked.push(one);
    give(response, typeof pages === "function" ? pages(one) : pages[path]);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 1024, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    asked,
    named: (name) => `http://${name}.localhost:${port}`,
    paths: (host) =>
      asked
        .filter((one) => host === undefined || one.host.startsWith(host))
        .map(({ path }) => path)
        .filter((path) => path !== "/robots.txt" && path !== "/sitemap.xml"),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function html(...hrefs: readonly string[]): string {
  const links = hrefs.map((href) => `<a href="${href}">to ${href}</a>`);
  return `<!doctype html><title>A page</title><p>Some words. ${links.join("\n")}`;
}

export function redirectTo(location: string, status = 302): Reply {
  return { status, headers: { location } };
}

function give(response: ServerResponse, reply: Reply): void {
  if (typeof reply === "function") return reply(response);
  if (reply === undefined) return void response.writeHead(404).end();
  const whole = typeof reply === "string" ? { body: reply } : reply;
  const { status = 200, headers = {}, body = "" } = whole;
  response.writeHead(status, { "content-type": "text/html; charset=utf-8", ...headers });
  response.end(body);
}

/** Ends, pages and sums of a crawl that is over. */
export interface Report {
  readonly result: CrawlResult;
  /** Of every known URL. */
  readonly reasons: ReadonlyMap<string, string>;
  readonly pages: ReadonlyMap<string, PageRecord>;
}

export interface CrawlChanges {
  /** So many times as fast as time goes by, for the loops. */
  readonly hurry?: number;
  /** How long a body may be slower than the floor. */
  readonly slowAfterMs?: number;
  readonly resolver?: Resolver;
  readonly wrapTransport?: (transport: Transport) => Transport;
  readonly onStart?: (handle: CrawlHandle) => void;
}

/** As in a crawl of strangers, but some sixty times as impatient. */
const IMPATIENT: Partial<Settings> = {
  allowPrivate: ["127.0.0.0/8"],
  connectTimeoutMs: 300,
  tlsTimeoutMs: 300,
  firstByteTimeoutMs: 300,
  idleTimeoutMs: 300,
  totalTimeoutMs: 1_500,
  retriesMax: 1,
  patienceMs: 10_000,
  memoryBytes: 32 * 1024 * 1024,
};
const CRAWL_MS_MAX = 30_000;

export async function crawlSites(
  urls: readonly string[],
  settings: Partial<Settings> = {},
  changes: CrawlChanges = {},
): Promise<Report> {
  const order = checkOrder({ ...defaultSettings(), ...IMPATIENT, ...settings, urls: [...urls] });
  const store = openMemoryStore();
  const transport = new UndiciTransport({
    clock: patientClock,
    lanesMax: 2 * order.settings.connectionsMax,
    http2: true,
    insecureTls: false,
    proxy: undefined,
  });
  const handle = startCrawl({ ...order, ...partsOn(transport, order.settings, changes), store });
  changes.onStart?.(handle);
  let isOverdue = false;
  const cancel = patientClock.after(CRAWL_MS_MAX, () => {
    isOverdue = true;
    handle.stop("the test has waited long enough");
  });
  try {
    const result = await handle.done;
    assert.ok(!isOverdue, `the crawl did not end by itself: ${JSON.stringify(result.urls)}`);
    return reportOf(result, store);
  } finally {
    cancel();
    await transport.close();
    await store.close();
  }
}

function partsOn(
  transport: Transport,
  settings: Settings,
  { hurry = 1, slowAfterMs = 400, resolver, wrapTransport = (same) => same }: CrawlChanges,
): Omit<CrawlParts, "settings" | "seeds" | "store"> {
  const allowed = settings.allowPrivate.map(readAllowance).filter((range) => range !== undefined);
  const policy = { allowed, ownPorts: new Set<number>() };
  const names =
    resolver ?? new DnsResolver({ ...DNS_DEFAULTS, clock: patientClock, policy, hosts: new Map() });
  const options = fetcherOptions(settings);
  return {
    clock: hurried(hurry),
    random: systemRandom,
    resolver: names,
    fetcher: new Fetcher({
      transport: wrapTransport(transport),
      resolver: names,
      clock: patientClock,
      ...options,
      limits: { ...options.limits, slowAfterMs },
    }),
    output: undefined,
    log: silentLog,
    hooks: {},
    line: plainLine(settings, transport),
  };
}

/** On this clock time goes by faster; only the date is the real one. */
function hurried(factor: number): Clock {
  return {
    nowMs: () => patientClock.nowMs() * factor,
    wallMs: () => patientClock.wallMs(),
    after: (delayMs, callBack) => patientClock.after(delayMs / factor, callBack),
    soon: (callBack) => patientClock.soon(callBack),
  };
}

/**
 * Crawls one public site in virtual time, where days pass in moments and every time is exact. The
 * site answers at once with the given responses, and hangs where there is none.
 */
export async function crawlInVirtualTime(
  answerTo: (path: string, atMs: number) => string | undefined,
  changes: Partial<Settings> = {},
): Promise<{
  readonly result: CrawlResult;
  readonly asked: readonly { readonly path: string; readonly atMs: number }[];
}> {
  const clock = new SimClock();
  const startMs = clock.nowMs();
  const asked: { readonly path: string; readonly atMs: number }[] = [];
  const conductOf = ({ path }: { readonly path: string }): Conduct => {
    const atMs = clock.nowMs() - startMs;
    asked.push({ path, atMs });
    const text = answerTo(path, atMs);
    const headers = [["content-type", "text/html"]] as const;
    const body = Buffer.from(text ?? "");
    const answer = text === undefined ? text : { status: 200, statusText: "OK", headers, body };
    return { connect: "accept", latencyMs: 50, answer, speedBps: 1e6, breaksOff: undefined };
  };
  const resolver: Resolver = {
    resolve: () => Promise.resolve({ kind: "addresses", addresses: ["192.0.2.1"] }),
  };
  const settings = { ...defaultSettings(), sitemaps: false, ...changes };
  const transport = new SimTransport({ clock, conductOf });
  const store = openMemoryStore();
  const handle = startCrawl({
    settings,
    seeds: ["http://site.example/" as CanonicalUrl],
    clock,
    random: randomFrom(1),
    store,
    resolver,
    fetcher: new Fetcher({ clock, resolver, transport, ...fetcherOptions(settings) }),
    output: undefined,
    log: silentLog,
    hooks: {},
    line: plainLine(settings, transport),
  });
  const result = await clock.runUntil(handle.done);
  await store.close();
  return { result, asked };
}

function reportOf(result: CrawlResult, store: Store): Report {
  const reasons = new Map<string, string>();
  const pages = new Map<string, PageRecord>();
  for (const { id, url, reason } of store.urls()) {
    reasons.set(url, reason ?? "pending");
    const page = store.page(id);
    if (page !== undefined) pages.set(url, page);
  }
  checkAccounts(result, reasons);
  return { result, reasons, pages };
}

/** Part 3 and 4 of the contract: everything is counted once, by a reason of the closed list. */
export function checkAccounts(result: CrawlResult, reasons: ReadonlyMap<string, string>): void {
  const { known, done, failed, skipped, pending } = result.urls;
  assert.equal(known, done + failed + skipped + pending);
  assert.equal(known, reasons.size);
  for (const [url, reason] of reasons)
    assert.ok(
      reason === "pending" || Object.hasOwn(REASONS, reason) || /^http_\d{3}$/.test(reason),
      `${url} ended as ${reason}`,
    );
  assert.equal(result.outcomes["internal_error"] ?? 0, 0);
}

/** A site of pages that link to each other, all of which a crawl must find. */
export function realSite(pageCount: number): (path: string) => string | undefined {
  return (path) => {
    const number = path === "/" ? 0 : Number(/^\/real\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
    if (!(number < pageCount)) return undefined;
    const targets = [2 * number + 1, 2 * number + 2].filter((target) => target < pageCount);
    const words = Array.from({ length: 40 }, (_, index) => `word${(number + 1) * 31 + index * 7}`);
    const links = targets.map((target) => `<a href="/real/${target}">next</a>`);
    return `<title>Real ${number}</title><p>${words.join(" ")} ${links.join(" ")}`;
  };
}

/** How many of the real pages were stored. */
export function realPagesIn(report: Report, origin: string): number {
  let count = 0;
  for (const url of report.pages.keys())
    if (url === `${origin}/` || url.startsWith(`${origin}/real/`)) count += 1;
  return count;
}
