/**
 * Opens everything that a crawl of the real web needs, cheapest refusals first: the folder and its lock, the
 * settings that it was started with, the archive, the network. Closes them in reverse.
 */

import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import { descriptorsMax, descriptorsOpen } from "../base/descriptors.ts";
import { CrawlError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { systemRandom } from "../base/random.ts";
import type { Settings } from "../config/schema.ts";
import { VERSION } from "../config/version.ts";
import { readAllowance } from "../fetch/address-guard.ts";
import { CookieJar } from "../fetch/cookies.ts";
import { readProxy } from "../fetch/proxy.ts";
import { DNS_DEFAULTS, DnsResolver, systemHosts } from "../fetch/dns.ts";
import { Fetcher, type FetcherOptions } from "../fetch/fetcher.ts";
import { DESCRIPTORS_LEAST, type SocketBudget, socketBudget } from "../fetch/socket-budget.ts";
import { UndiciTransport } from "../fetch/transport-undici.ts";
import { trustOf } from "../fetch/trust.ts";
import type { Output } from "../output/output.ts";
import type { Traces } from "../output/traces.ts";
import { eraseIndex } from "../search/index-file.ts";
import { PageThread } from "../page/page-thread.ts";
import type { PageIndex } from "../search/index-thread.ts";
import { closeToOthers, eraseStore } from "../store/folder.ts";
import { openMemoryStore, openStore } from "../store/sqlite/store-sqlite.ts";
import type { Store } from "../store/store.ts";
import type { Spellings } from "../config/seeds.ts";
import type { CanonicalUrl } from "../url/url.ts";
import { Changes } from "../control/live-settings.ts";
import { keepRateLog } from "../control/rate-log.ts";
import { Control } from "../control/status-file.ts";
import { type CrawlHandle, startCrawl } from "./crawl.ts";
import type { CrawlHooks } from "./hooks.ts";
import { openLine } from "./limit/open-link.ts";
import type { CrawlResult, Snapshot } from "../control/snapshot.ts";
import type { PeerSetup } from "./ownership.ts";
import { scanOptionsOf } from "./parse-page.ts";
import { topicSetupFor } from "./topics/setup.ts";

export interface CrawlOrder {
  readonly settings: Settings;
  readonly seeds: readonly CanonicalUrl[];
  readonly spellings?: Spellings;
  /** undefined for a crawl that stores nothing on disk. */
  readonly folder: string | undefined;
  readonly hooks: CrawlHooks;
  readonly log: Log;
  /** For one process of several. */
  readonly team?: PeerSetup;
  /** Applies changes requested in the folder, if they also concern other processes. */
  readonly change?: (key: string, value: string) => Promise<string>;
}

export interface OpenCrawl {
  readonly done: Promise<CrawlResult>;
  snapshot(): Snapshot;
  stop(why: string): void;
  /** Changes a setting of the running crawl; returns a description of the change. */
  change(key: string, value: string): string | Promise<string>;
}

/** A crawl in this process. */
export interface OpenLocalCrawl extends OpenCrawl {
  readonly handle: CrawlHandle;
  change(key: string, value: string): string;
}

/** The crawl pauses when the free space of its disk falls below this. */
const FREE_BYTES_MIN = 64 * 2 ** 20;
interface Budget extends SocketBudget {
  /** Most connections that a change of the running crawl may set. */
  readonly connectionsMost: number;
}

const UNBOUNDED = { connectionsMax: Infinity, lanesMax: Infinity };
/** Descriptors that Node has open before the crawl, where the system does not count them. */
const DESCRIPTORS_OF_NODE = 22;
const CACHE_SHARE = 1 / 4;
const SEEN_SHARE = 1 / 4;
const SEEN_ENTRY_BYTES = 80;

export async function openCrawl(asked: CrawlOrder): Promise<OpenLocalCrawl> {
  const { folder } = asked;
  const budget = socketBudgetFor(asked);
  const settings = { ...asked.settings, connectionsMax: budget.connectionsMax };
  const order = { ...asked, settings };
  const topics = topicSetupFor(settings);
  await using stack = new AsyncDisposableStack();
  let output: Output | undefined;
  // After a power cut the store must not know of pages that the archive has lost.
  const store = openStoreIn(settings, folder, async () => output?.sync());
  stack.defer(() => store.close());
  if (folder !== undefined) closeToOthers(folder, order.log);
  refuseOtherIdentity(store, settings);
  // The dashboard shows which lines of a robots.txt apply to this name.
  if (store.recall("userAgent") !== settings.userAgent)
    store.remember("userAgent", settings.userAgent);
  if (folder !== undefined) output = await openOutput(settings, folder, store);
  stack.defer(async () => output?.close());
  const index = await openIndexIn(order, store);
  stack.defer(async () => index?.close());
  const network = openNetwork(settings, budget);
  stack.defer(() => network.transport.close());
  const line = openLine(settings, folder, network.transport);
  stack.defer(() => line.close());
  const aside = new PageThread(scanOptionsOf(settings));
  stack.defer(() => aside.close());
  const traces = await openTracesFor(settings, order.log);
  stack.defer(async () => traces?.close());
  const handle = startCrawl({
    ...order,
    ...network,
    clock: systemClock,
    random: systemRandom,
    store,
    output,
    index,
    aside,
    line: line.means,
    topics,
    traces,
  });
  // If opening fails later, the crawl ends before its store is closed.
  stack.defer(async () => {
    handle.stop("not everything could be opened");
    await handle.done.catch(() => undefined);
  });
  const changes = new Changes(handle, settings, budget.connectionsMost);
  const change = (key: string, value: string): string => changes.apply(key, value);
  if (folder !== undefined)
    stack.use(
      new Control({
        folder,
        snapshot: () => handle.snapshot(),
        change: order.change ?? change,
      }),
    );
  if (folder !== undefined) stack.use(keepRateLog(folder, () => handle.snapshot()));
  const closing = stack.move();
  return {
    handle,
    snapshot: () => handle.snapshot(),
    stop: (why) => handle.stop(why),
    change,
    done: handle.done.finally(() => closing.disposeAsync()),
  };
}

/** Loaded only with --traces. */
async function openTracesFor({ traces }: Settings, log: Log): Promise<Traces | undefined> {
  if (traces === undefined) return undefined;
  const { openTraces } = await import("../output/traces.ts");
  return openTraces({ collector: traces, version: VERSION, log });
}

function openStoreIn(
  settings: Settings,
  folder: string | undefined,
  beforeSync: () => Promise<void>,
): Store {
  if (folder === undefined) return openMemoryStore();
  // Without marks in the store, opening the archive removes its old records.
  if (settings.fresh) {
    eraseStore(folder);
    eraseIndex(folder);
  }
  return openStore(folder, {
    cacheBytesMax: settings.memoryBytes * CACHE_SHARE,
    seenEntriesMax: Math.floor((settings.memoryBytes * SEEN_SHARE) / SEEN_ENTRY_BYTES),
    freeBytesMin: FREE_BYTES_MIN,
    beforeSync,
  });
}

/** Rules that decide which URLs are the same: a crawl cannot be resumed with other ones. */
function refuseOtherIdentity(store: Store, settings: Settings): void {
  const { scope, include, exclude, dropQuery, stripSessionIds } = settings;
  const identity = JSON.stringify({ scope, include, exclude, dropQuery, stripSessionIds });
  const kept = store.recall("identity");
  if (kept === undefined) store.remember("identity", identity);
  else if (kept !== identity) {
    const before = JSON.parse(kept) as Record<string, unknown>;
    const now = JSON.parse(identity) as Record<string, unknown>;
    const changed = Object.keys(now).filter(
      (key) => JSON.stringify(now[key]) !== JSON.stringify(before[key]),
    );
    throw new CrawlError(
      "STORE_CHANGED",
      `The crawl in this folder was started with another ${changed.join(", ")}.`,
    );
  }
}

async function openOutput(
  settings: Settings,
  folder: string,
  store: Store,
): Promise<Output | undefined> {
  if (!settings.warc) return undefined;
  const { openWarc } = await import("../output/warc/warc.ts");
  return openWarc(join(folder, "archive"), store.marks, {
    fileBytesMax: settings.warcBytesMax,
    level: settings.warcLevel,
    info: {
      software: `Weir/${VERSION}`,
      format: "WARC File Format 1.1",
      robots: settings.ignoreRobots ? "ignored" : "RFC 9309",
      "http-header-user-agent": userAgentOf(settings),
    },
  });
}

async function openIndexIn(order: CrawlOrder, store: Store): Promise<PageIndex | undefined> {
  const { settings, folder, log } = order;
  if (folder === undefined || !settings.searchIndex) return undefined;
  const { openIndexFor } = await import("./search/open-index.ts");
  return openIndexFor(settings, folder, { store, log });
}

/** Fits connections into the descriptors of the system. Refuses a crawl with too few before anything is opened. */
function socketBudgetFor({ settings, log }: CrawlOrder): Budget {
  const wanted = {
    connectionsMax: settings.connectionsMax,
    // As many again may be idle between requests, so that sites keep their connections.
    lanesMax: 2 * settings.connectionsMax,
    lookupsMax: DNS_DEFAULTS.lookupsMax,
  };
  const most = descriptorsMax();
  if (most === undefined) return { ...wanted, connectionsMost: Infinity };
  const open = descriptorsOpen() ?? DESCRIPTORS_OF_NODE;
  const least = open + DESCRIPTORS_LEAST;
  if (most < least)
    throw new CrawlError(
      "DESCRIPTORS_USED_UP",
      `The system allows this process ${most} open files; a crawl needs at least ${least}.`,
    );
  const budget = socketBudget(wanted, most - open);
  const connections = `${budget.connectionsMax} instead of ${wanted.connectionsMax}`;
  if (budget.connectionsMax < wanted.connectionsMax)
    log.write({
      level: "warn",
      message: `at most ${connections} requests at the same time: the system allows ${most} open files; raise it with \`ulimit -n\``,
      values: {},
    });
  const { connectionsMax } = socketBudget({ ...wanted, ...UNBOUNDED }, most - open);
  return { ...budget, connectionsMost: connectionsMax };
}

function openNetwork(
  settings: Settings,
  { lanesMax, lookupsMax }: SocketBudget,
): {
  transport: UndiciTransport;
  resolver: DnsResolver | undefined;
  fetcher: Fetcher;
} {
  const allowed = settings.allowPrivate.map(readAllowance).filter((range) => range !== undefined);
  const policy = { allowed, ownPorts: new Set<number>() };
  const resolver = new DnsResolver({
    clock: systemClock,
    policy,
    hosts: systemHosts(),
    ...DNS_DEFAULTS,
    lookupsMax,
  });
  const transport = new UndiciTransport({
    clock: systemClock,
    lanesMax,
    http2: true,
    insecureTls: settings.insecureTls,
    trust: trustOf(settings),
    proxy: settings.proxy === undefined ? undefined : readProxy(settings.proxy),
    roundTrips: settings.goodNeighbour,
  });
  const options = fetcherOptions(settings);
  const fetcher = new Fetcher({ transport, resolver, clock: systemClock, ...options });
  return { transport, resolver: options.proxied ? undefined : resolver, fetcher };
}

/** The settings that concern a single request. */
export function fetcherOptions(
  settings: Settings,
): Omit<FetcherOptions, "transport" | "resolver" | "clock"> {
  return {
    limits: {
      connectMs: settings.connectTimeoutMs,
      tlsMs: settings.tlsTimeoutMs,
      firstByteMs: settings.firstByteTimeoutMs,
      idleMs: settings.idleTimeoutMs,
      totalMs: settings.totalTimeoutMs,
      speedFloorBps: settings.speedFloorBps,
      slowAfterMs: 10_000,
      headerBytesMax: 64 * 1024,
      headerFieldsMax: 256,
      bodyBytesMax: settings.bodyBytesMax,
    },
    decodedBytesMax: settings.decodedBytesMax,
    userAgent: userAgentOf(settings),
    urlRules: settings,
    proxied: settings.proxy !== undefined,
    cookies: settings.cookies ? new CookieJar() : undefined,
  };
}

function userAgentOf({ userAgent, contact }: Settings): string {
  return contact === undefined ? userAgent : `${userAgent} (+${contact})`;
}
