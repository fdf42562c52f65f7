/**
 * Prepares a site: resolves its name, and requests its robots.txt and its sitemaps.
 *
 * Requests for these files are like any other: they wait on the workbench, and every byte is counted. A site whose
 * name or robots.txt cannot be fetched is probed after increasing pauses (`unreachable.ts`). Its URLs end only if the
 * failure is final: the name does not exist, its IP address may not be requested, or its robots.txt arrives and
 * repeatedly cannot be read.
 */

import { assert } from "../base/assert.ts";
import { sleep } from "../base/clock.ts";
import type { SiteSettings } from "../config/schema.ts";
import type { FetchResult } from "../fetch/fetcher.ts";
import type { Resolution, ResolverFailure } from "../fetch/resolver.ts";
import { OPEN, ROBOTS_BYTES_MAX, type RobotsRules, rulesFor } from "../fetch/robots.ts";
import { SITEMAP_BYTES_MAX } from "../fetch/sitemap.ts";
import { type Addressee, siteDelay } from "../frontier/politeness.ts";
import { isRetryable, type NamedReason } from "../page/outcome.ts";
import { robotNameOf } from "../page/robots-tags.ts";
import { siteOf } from "../url/site.ts";
import { type CanonicalUrl, hostOf, portOf } from "../url/url.ts";
import type { Admission } from "./admit.ts";
import { settingsBySite } from "./allotments.ts";
import {
  agreedAddressDelayMs,
  agreedDelayMs,
  CRAWL_DELAY_MAX_MS,
  rulesIn,
} from "./agreed-delay.ts";
import type { CrawlContext } from "./context.ts";
import type { Queue } from "./queue.ts";
import { type NextSitemap, Sitemaps } from "./read-sitemaps.ts";
import {
  type Answer,
  endOf,
  fileRequest,
  isOurTrouble,
  type Request,
  type SiteFile,
} from "./requests.ts";
import type { Retries } from "./retries.ts";
import type { Site } from "./site.ts";
import type { Unreachable } from "./unreachable.ts";

const ROBOTS_GOOD_FOR_MS = 24 * 3_600_000;
const ADDRESSES_GOOD_FOR_MS = 60_000;
const ROBOTS_REDIRECTS_MAX = 5;
const START_AGAIN_MS = 1000;
const START_AGAIN_MAX_MS = 60_000;

interface SiteSetupParts {
  readonly queue: Queue;
  readonly unreachable: Unreachable;
  readonly retries: Retries;
  readonly admission: Admission;
}

export class SiteSetup {
  readonly #context: CrawlContext;
  readonly #parts: SiteSetupParts;
  readonly #sitemaps: Sitemaps;
  /** Settings of single sites. */
  readonly #ownSettings: ReadonlyMap<string, SiteSettings>;
  #delayMs: number | undefined;
  #underWay = 0;
  #made = 0;

  constructor(context: CrawlContext, parts: SiteSetupParts) {
    this.#context = context;
    this.#parts = parts;
    this.#delayMs = context.settings.delayMs;
    this.#ownSettings = settingsBySite(context.settings.sites);
    this.#sitemaps = new Sitemaps(context, parts.admission);
  }

  /** Sites whose name is being resolved. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Changes the delay of all sites. */
  setDelay(delayMs: number): void {
    this.#delayMs = delayMs;
    for (const site of this.#context.sites.inMemory())
      if (site.rules !== undefined) this.#applyDelay(site, site.rules);
  }

  /** Resolves the name of a site that has just been woken. */
  prepare(site: Site): void {
    const { emit } = this.#context;
    this.#sitemaps.forget(site);
    this.#underWay += 1;
    this.#locate(site).then(
      () => {
        this.#underWay -= 1;
        emit({ kind: "mayStart" });
      },
      (fault: unknown) => emit({ kind: "fault", fault }),
    );
  }

  send(request: Request): Promise<FetchResult> {
    assert(request.file !== undefined, "only files of sites are requested here");
    if (request.file.kind === "sitemap")
      return this.#get(request, request.file.url as CanonicalUrl, SITEMAP_BYTES_MAX);
    this.#parts.retries.begin(request);
    return this.#getRobots(request);
  }

  async record(request: Request, answer: Answer): Promise<"recorded"> {
    const { site, file } = request;
    assert(file !== undefined && answer.kind !== "refused", "a file of a site has an answer");
    // A request that was cut off because the crawl stops has not failed.
    if (this.#context.signal.aborted) return "recorded";
    if (isOurTrouble(answer)) this.#add(site, file, this.#context.clock.nowMs() + START_AGAIN_MS);
    else if (file.kind === "robots") this.#readRobots(request, file, answer);
    else this.#requestSitemap(site, await this.#sitemaps.read(site, answer));
    return "recorded";
  }

  /** Requests a robots.txt that is a day old again, before the next page; the old one applies until then. */
  refreshIfOld(site: Site): void {
    const nowMs = this.#context.clock.nowMs();
    if (nowMs >= site.addressesUntilMs) this.#relocate(site, nowMs);
    if (this.#context.settings.ignoreRobots || nowMs < site.rulesUntilMs) return;
    if (site.rules === undefined) return;
    site.ruled(site.rules, Infinity);
    this.#add(site, { kind: "robots", url: robotsUrl(site) });
  }

  /**
   * Only URLs that have failed are left: a request for robots.txt shows whether the site responds, or for the
   * home page if robots.txt is ignored.
   */
  check(site: Site): void {
    if (site.isChecking) return;
    const { ignoreRobots } = this.#context.settings;
    const url = ignoreRobots ? `${site.key}/` : robotsUrl(site);
    site.checks(this.#add(site, { kind: "robots", url }));
  }

  async #locate(site: Site): Promise<void> {
    const { clock, politeness, settings, resumed, ownership } = this.#context;
    const found = await this.#lookUp(site.key);
    // It may have lost its place meanwhile.
    if (!site.awake) return;
    if (found.kind === "failed") return this.#locateFailed(site, found.reason, found.detail);
    const [address] = found.addresses;
    site.resolved(found.addresses, clock.nowMs() + ADDRESSES_GOOD_FOR_MS);
    const to: Addressee = {
      siteId: site.id,
      concurrencyMax: this.#ownSettings.get(site.key)?.concurrency,
      address,
      delayMs: this.#paceOf(site, this.#rulesKept(site)),
      addressDelayMs: agreedAddressDelayMs(settings, site.isLoopback),
    };
    this.#parts.queue.open(site, to);
    if (resumed || ownership?.isInherited(site.key) === true)
      politeness.assumeAsked(clock.nowMs(), to);
    this.#consultRobots(site);
  }

  /** Resolves the name again while the old IP address is still used, so that no request waits. */
  #relocate(site: Site, nowMs: number): void {
    const untilMs = nowMs + ADDRESSES_GOOD_FOR_MS;
    site.resolved(site.addresses, untilMs);
    Promise.resolve(this.#lookUp(site.key)).then(
      (found) => {
        if (found.kind === "failed" || site.to === undefined) return;
        site.resolved(found.addresses, untilMs);
        this.#parts.queue.open(site, { ...site.to, address: found.addresses[0] });
      },
      (fault: unknown) => this.#context.emit({ kind: "fault", fault }),
    );
  }

  #lookUp(siteKey: string): Resolution | Promise<Resolution> {
    const { resolver } = this.#context;
    const root = `${siteKey}/`;
    return resolver?.resolve(hostOf(root), portOf(root)) ?? { kind: "addresses", addresses: [] };
  }

  #consultRobots(site: Site): void {
    const { clock, settings } = this.#context;
    if (settings.ignoreRobots) return this.#admitPages(site, OPEN, Infinity);
    const kept = site.robots;
    const ageMs = kept === undefined ? Infinity : clock.wallMs() - kept.fetchedAtMs;
    if (kept === undefined || ageMs < 0 || ageMs >= ROBOTS_GOOD_FOR_MS) {
      this.#add(site, { kind: "robots", url: robotsUrl(site) });
      return;
    }
    this.#admitPages(site, this.#rulesKept(site), ROBOTS_GOOD_FOR_MS - ageMs);
  }

  #readRobots(request: Request, file: SiteFile, result: FetchResult): void {
    const { clock, counters, settings } = this.#context;
    const { site } = request;
    site.checks(false);
    this.#parts.retries.learn(request, endOf(result).reason);
    if (settings.ignoreRobots) return;
    const status = statusOf(result);
    const body = result.kind === "page" ? result.body : new Uint8Array(0);
    const rules = rulesFor(status, body, robotNameOf(settings.userAgent));
    if (rules.mustAskAgain) {
      if (site.rules === undefined) return this.#robotsFailed(site, file, result);
      // The rules of a day ago still apply.
      return site.ruled(site.rules, clock.nowMs() + ROBOTS_GOOD_FOR_MS);
    }
    const isCut = result.reply?.truncated !== undefined || body.length > ROBOTS_BYTES_MAX;
    if (isCut) counters.refused("robots_capped");
    const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1");
    site.robotsRead({ status: status ?? 0, text, fetchedAtMs: clock.wallMs() });
    this.#admitPages(site, rules, ROBOTS_GOOD_FOR_MS);
  }

  /** Rules belong to the host first requested, wherever redirects lead (RFC 9309, 2.3.1.2). */
  async #getRobots(request: Request): Promise<FetchResult> {
    let url = (request.file as SiteFile).url as CanonicalUrl;
    for (let hops = 0; ; hops++) {
      const result = await this.#get(request, url, ROBOTS_BYTES_MAX);
      if (result.kind !== "redirect" || hops === ROBOTS_REDIRECTS_MAX) return result;
      url = result.to.url;
      await this.#waitForHop(request.site);
    }
  }

  /** Most redirects lead back to the same server, so the delay applies. */
  async #waitForHop({ to }: Site): Promise<void> {
    const { clock, politeness, signal } = this.#context;
    if (to === undefined) return;
    await sleep(clock, Math.max(to.delayMs, to.addressDelayMs), signal);
    politeness.assumeAsked(clock.nowMs(), to);
  }

  #admitPages(site: Site, rules: RobotsRules, goodForMs: number): void {
    const { clock, settings, counters, batch } = this.#context;
    if (!site.awake || site.to === undefined) return;
    site.ruled(rules, clock.nowMs() + goodForMs);
    this.#applyDelay(site, rules);
    const { excessive } = siteDelay(0, rules.crawlDelayMs, CRAWL_DELAY_MAX_MS);
    if (excessive) counters.refused("crawl_delay_excessive");
    if (settings.sitemaps && !site.sitemapsRead)
      this.#requestSitemap(site, this.#sitemaps.begin(site, rules.sitemaps));
    // The rules are stored before the first page is requested: a crash must not forget the delay.
    this.#parts.queue.refillAfterCommit(site);
    batch.touch();
  }

  #applyDelay(site: Site, rules: RobotsRules): void {
    if (site.to === undefined) return;
    this.#parts.queue.open(site, { ...site.to, delayMs: this.#paceOf(site, rules) });
  }

  #locateFailed(site: Site, reason: ResolverFailure | "port_refused", detail: string): void {
    const isFinal =
      reason === "dns_nxdomain" || reason === "ssrf_blocked" || reason === "port_refused";
    if (isFinal) this.#parts.queue.endAll(site, reason, detail);
    else this.#parts.unreachable.startFailed(site, reason, detail);
  }

  /** No response, 429 and 5xx are temporary. A file that repeatedly cannot be read forbids the site. */
  #robotsFailed(site: Site, file: SiteFile, result: FetchResult): void {
    const { clock, settings } = this.#context;
    const { queue, unreachable } = this.#parts;
    const { reason } = endOf(result);
    const detail = `robots.txt: ${detailOf(result)}`;
    // It has lost its place meanwhile.
    if (!site.awake) return;
    const status = result.reply?.status ?? 0;
    if (isRetryable(reason) || status >= 500) return unreachable.startFailed(site, reason, detail);
    if (reason.startsWith("tls_")) return queue.endAll(site, reason as NamedReason, detail);
    const failures = site.startFailed();
    if (failures > settings.retriesMax) return queue.endAll(site, "robots_unreachable", detail);
    const delayMs = START_AGAIN_MS * 2 ** (failures - 1);
    this.#add(site, file, clock.nowMs() + Math.min(START_AGAIN_MAX_MS, delayMs));
  }

  #requestSitemap(site: Site, next: NextSitemap): void {
    const { batch } = this.#context;
    if (next === "busy" || !site.awake) return;
    if (next !== "done") return void this.#add(site, { kind: "sitemap", url: next.url });
    site.sitemapsAreRead();
    batch.touch();
  }

  /** Returns whether the site was on the workbench. */
  #add(site: Site, file: SiteFile, notBeforeMs = 0): boolean {
    const { workbench } = this.#context;
    if (!workbench.has(site.id)) return false;
    this.#made += 1;
    site.fileQueued();
    workbench.put(site.id, fileRequest(this.#made, file, notBeforeMs));
    return true;
  }

  /** `url` may lead elsewhere: robots.txt may be redirected, a sitemap may be on another host. */
  #get(
    { site, onSent, onBytes }: Request,
    url: CanonicalUrl,
    keepBytesMax: number,
  ): Promise<FetchResult> {
    const { fetcher, signal } = this.#context;
    return fetcher.fetch({
      url,
      ...(siteOf(url) === site.key ? { addresses: site.addresses } : {}),
      onSent,
      keepBytesMax,
      signal,
      onBytes,
    });
  }

  /** The last known rules, however old: their delay applies until robots.txt has been read again. */
  #rulesKept({ robots }: Site): RobotsRules {
    return robots === undefined ? OPEN : rulesIn(robots, this.#context.settings);
  }

  #paceOf({ key, isLoopback }: Site, rules: RobotsRules): number {
    const configuredMs = this.#ownSettings.get(key)?.delayMs ?? this.#delayMs;
    return agreedDelayMs(configuredMs, isLoopback, rules);
  }
}

function detailOf(result: FetchResult): string {
  return result.kind === "failed" ? result.detail : `robots.txt was answered with ${result.kind}`;
}

/** undefined for a file that could not be unpacked, or was too long: it may forbid the site. */
function statusOf(result: FetchResult): number | undefined {
  const status = result.reply?.status;
  const isFile = status !== undefined && status >= 200 && status <= 299;
  if (isFile && result.kind === "failed") return undefined;
  const isCutToNothing = result.kind === "page" && result.body.length === 0;
  return isCutToNothing && result.reply.truncated !== undefined ? undefined : status;
}

function robotsUrl(site: Site): CanonicalUrl {
  return `${site.key}/robots.txt` as CanonicalUrl;
}
