/**
 * What must be done for a site before and beside its pages: find its address, read its robots.txt,
 * read its sitemaps.
 *
 * Errands are requests like any other: they wait on the workbench for their turn, and every byte of
 * them is counted. A site whose name or robots.txt cannot be had is tried again later, ever less often
 * (`unreachable.ts`). Its URLs end only when the answer is definitive: the name does not exist, its address
 * may not be requested, or its robots.txt cannot be read however often it arrives.
 */

import { type Clock, sleep } from "../base/clock.ts";
import type { Settings, SiteSettings } from "../config/schema.ts";
import type { Fetcher, FetchResult } from "../fetch/fetcher.ts";
import type { Resolution, Resolver, ResolverFailure } from "../fetch/resolver.ts";
import { OPEN, ROBOTS_BYTES_MAX, type RobotsRules, rulesFor } from "../fetch/robots.ts";
import { SITEMAP_BYTES_MAX } from "../fetch/sitemap.ts";
import type { Blame } from "../frontier/blame.ts";
import { type Addressee, type Courtesy, siteDelay } from "../frontier/politeness.ts";
import { whatItSays } from "../frontier/site-mood.ts";
import type { Workbench } from "../frontier/workbench.ts";
import { isRetryable, type NamedReason, type Reason } from "../page/outcome.ts";
import { robotNameOf } from "../page/robots-tags.ts";
import type { Scope } from "../url/scope.ts";
import { siteOf } from "../url/site.ts";
import { type CanonicalUrl, canonicalUrl, hostOf, isRefused, pathOf, portOf } from "../url/url.ts";
import { endOf, isOurTrouble, type Progress } from "./fetch-loop.ts";
import {
  agreedAddressDelayMs,
  agreedDelayMs,
  CRAWL_DELAY_MAX_MS,
  rulesIn,
} from "./agreed-delay.ts";
import type { Intake } from "./admit.ts";
import { type Errand, errandJob, type Job } from "./job.ts";
import type { Batch } from "./batch.ts";
import type { Refill } from "./queue.ts";
import type { Roster, Site } from "./sites.ts";
import { SitemapReading } from "./read-sitemaps.ts";
import type { Tally } from "./counters.ts";

const ROBOTS_GOOD_FOR_MS = 24 * 3_600_000;
const ADDRESSES_GOOD_FOR_MS = 60_000;
const ROBOTS_REDIRECTS_MAX = 5;
const START_AGAIN_MS = 1000;
const START_AGAIN_MAX_MS = 60_000;

export interface ErrandsParts {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly fetcher: Fetcher;
  /** undefined behind a proxy, which looks names up itself. */
  readonly resolver: Resolver | undefined;
  readonly roster: Roster;
  readonly workbench: Workbench<Job>;
  readonly courtesy: Courtesy;
  readonly refill: Refill;
  readonly blame: Blame;
  /** The site's name or its robots.txt could not be had. */
  readonly onStartFailed: (site: Site, reason: Reason, detail: string) => void;
  /** URLs of the site have failed, and it has responded since. */
  readonly onBlamed: (site: Site, urlIds: readonly number[]) => void;
  readonly intake: Intake;
  readonly scope: Scope;
  readonly batch: Batch;
  readonly tally: Tally;
  readonly signal: AbortSignal;
  readonly resumed: boolean;
  /** Whether another process may have asked the site just now. */
  readonly isInherited: (site: Site) => boolean;
  readonly pump: () => void;
  readonly onFault: (fault: unknown) => void;
}

interface Question {
  readonly site: Site;
  /** May lead elsewhere: a robots.txt can be redirected, a sitemap can lie on another host. */
  readonly url: CanonicalUrl;
  readonly progress: Progress;
}

export class Errands {
  readonly #parts: ErrandsParts;
  readonly #sitemaps: SitemapReading;
  /** What the operator said of single sites. */
  readonly #ownSettings: ReadonlyMap<string, SiteSettings>;
  #delayMs: number | undefined;
  #underWay = 0;
  #made = 0;

  constructor(parts: ErrandsParts) {
    this.#parts = parts;
    this.#delayMs = parts.settings.delayMs;
    this.#ownSettings = settingsBySite(parts.settings.sites);
    this.#sitemaps = new SitemapReading({
      intake: parts.intake,
      settings: parts.settings,
      wallMs: () => parts.clock.wallMs(),
      breathe: () => sleep(parts.clock, 0),
      get: (site, url, progress) => this.#get({ site, url, progress }, SITEMAP_BYTES_MAX),
      whyNot: (site, url) => this.#whyNotRead(site, url),
      refused: (rule) => parts.tally.refused(rule),
      isCutOff: () => parts.signal.aborted,
      add: (site, url, delayMs = 0) => {
        const notBeforeMs = delayMs > 0 ? parts.clock.nowMs() + delayMs : 0;
        this.#add(site, { kind: "sitemap", url }, notBeforeMs);
      },
      onRead: (site) => this.#sitemapsRead(site),
    });
  }

  /** Sites between waking and their place on the workbench. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Changes the pace of all sites, awake and to come. */
  setDelay(delayMs: number): void {
    this.#delayMs = delayMs;
    for (const site of this.#parts.roster.inMemory())
      if (site.to !== undefined && site.rules !== undefined) this.#apply(site, site.rules);
  }

  /** Finds the address of a site that has just been woken. */
  prepare(site: Site): void {
    const { onFault } = this.#parts;
    this.#sitemaps.forget(site);
    this.#underWay += 1;
    this.#locate(site).then(() => {
      this.#underWay -= 1;
      this.#parts.pump();
    }, onFault);
  }

  async run(site: Site, errand: Errand, progress: Progress): Promise<void> {
    if (errand.kind === "robots") await this.#readRobots(site, errand, progress);
    else await this.#sitemaps.read(site, errand.url, progress);
  }

  /** A day-old robots.txt still rules until the new one has come, but is asked for first. */
  refreshIfOld(site: Site): void {
    const nowMs = this.#parts.clock.nowMs();
    if (nowMs >= site.addressesUntilMs) this.#relocate(site, nowMs);
    if (this.#parts.settings.ignoreRobots || nowMs < site.rulesUntilMs) return;
    site.rulesUntilMs = Infinity;
    this.#add(site, { kind: "robots", url: robotsUrl(site) });
  }

  /**
   * URLs of the site have failed, and no other is left to show whether it responds: robots.txt does. Where it
   * may not be fetched, the home page does.
   */
  check(site: Site): void {
    if (site.isChecking) return;
    const { ignoreRobots } = this.#parts.settings;
    const url = ignoreRobots ? `${site.key}/` : robotsUrl(site);
    site.isChecking = this.#add(site, { kind: "robots", url });
  }

  async #locate(site: Site): Promise<void> {
    const { clock, refill, courtesy, settings, resumed, isInherited } = this.#parts;
    const found = await this.#lookUp(site.key);
    // It may have been laid aside meanwhile.
    if (!site.awake) return;
    if (found.kind === "failed") return this.#locateFailed(site, found.reason, found.detail);
    const [address] = found.addresses;
    site.addresses = found.addresses;
    site.addressesUntilMs = clock.nowMs() + ADDRESSES_GOOD_FOR_MS;
    site.isLoopback = address !== undefined && isLoopback(address);
    const to: Addressee = {
      siteId: site.id,
      concurrencyMax: this.#ownSettings.get(site.key)?.concurrency,
      address,
      delayMs: this.#paceOf(site, this.#rulesKept(site)),
      addressDelayMs: agreedAddressDelayMs(settings, site.isLoopback),
    };
    refill.open(site, to);
    if (resumed || isInherited(site)) courtesy.assumeAsked(clock.nowMs(), to);
    this.#consultRobots(site);
  }

  /** Asks for the address again while the old one is still used, so that no request waits for it. */
  #relocate(site: Site, nowMs: number): void {
    site.addressesUntilMs = nowMs + ADDRESSES_GOOD_FOR_MS;
    Promise.resolve(this.#lookUp(site.key)).then((found) => {
      if (found.kind === "failed" || site.to === undefined) return;
      site.addresses = found.addresses;
      this.#parts.refill.open(site, { ...site.to, address: found.addresses[0] });
    }, this.#parts.onFault);
  }

  #lookUp(siteKey: string): Resolution | Promise<Resolution> {
    const { resolver } = this.#parts;
    const root = `${siteKey}/`;
    return resolver?.resolve(hostOf(root), portOf(root)) ?? { kind: "addresses", addresses: [] };
  }

  #consultRobots(site: Site): void {
    const { clock, settings } = this.#parts;
    if (settings.ignoreRobots) return this.#admitPages(site, OPEN, Infinity);
    const kept = site.robots;
    const ageMs = kept === undefined ? Infinity : clock.wallMs() - kept.fetchedAtMs;
    if (kept === undefined || ageMs < 0 || ageMs >= ROBOTS_GOOD_FOR_MS) {
      this.#add(site, { kind: "robots", url: robotsUrl(site) });
      return;
    }
    this.#admitPages(site, this.#rulesKept(site), ROBOTS_GOOD_FOR_MS - ageMs);
  }

  async #readRobots(site: Site, errand: Errand, progress: Progress): Promise<void> {
    const { clock, roster, tally, blame, settings } = this.#parts;
    const begun = blame.now();
    const { result, status, body } = await this.#getRobots(site, errand, progress);
    progress.ended(endOf(result));
    // Cut off by our own stopping, it has not failed at all.
    if (this.#parts.signal.aborted) return;
    if (isOurTrouble(result)) return void this.#add(site, errand, clock.nowMs() + START_AGAIN_MS);
    site.isChecking = false;
    this.#learn(site, begun, endOf(result).reason);
    if (settings.ignoreRobots) return;
    const rules = rulesFor(status, body, robotNameOf(this.#parts.settings.userAgent));
    if (rules.mustAskAgain) {
      // With rules at hand, from a day ago, the site goes on under them.
      if (site.rules === undefined) return this.#robotsFailed(site, errand, result);
      site.rulesUntilMs = clock.nowMs() + ROBOTS_GOOD_FOR_MS;
      return;
    }
    const isCut = result.reply?.truncated !== undefined || body.length > ROBOTS_BYTES_MAX;
    if (isCut) tally.refused("robots_capped");
    const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1");
    site.robots = { status: status ?? 0, text, fetchedAtMs: clock.wallMs() };
    site.failedStarts = 0;
    roster.changed(site);
    this.#admitPages(site, rules, ROBOTS_GOOD_FOR_MS);
  }

  /** What the end of an errand tells about URLs that have failed before. */
  #learn(site: Site, begun: number, reason: Reason): void {
    const { blame, onBlamed } = this.#parts;
    const mood = whatItSays(reason);
    if (mood === "well") onBlamed(site, blame.responded(site.id, begun));
    else if (mood !== "nothing") blame.failed(site.id, begun, undefined);
  }

  /** Rules belong to the host first asked, wherever redirects lead (RFC 9309, 2.3.1.2). */
  async #getRobots(
    site: Site,
    errand: Errand,
    progress: Progress,
  ): Promise<{ result: FetchResult; status: number | undefined; body: Uint8Array }> {
    let url = errand.url as CanonicalUrl;
    for (let hops = 0; ; hops++) {
      const result = await this.#get({ site, url, progress }, ROBOTS_BYTES_MAX);
      const status = statusOf(result);
      if (result.kind === "page") return { result, status, body: result.body };
      if (result.kind !== "redirect" || hops === ROBOTS_REDIRECTS_MAX)
        return { result, status, body: new Uint8Array(0) };
      url = result.to.url;
      await this.#waitForHop(site);
    }
  }

  /** Mostly a redirect leads back to the same server, so it is the next request there. */
  async #waitForHop({ to }: Site): Promise<void> {
    const { clock, courtesy, signal } = this.#parts;
    if (to === undefined) return;
    await sleep(clock, Math.max(to.delayMs, to.addressDelayMs), signal);
    courtesy.assumeAsked(clock.nowMs(), to);
  }

  #admitPages(site: Site, rules: RobotsRules, goodForMs: number): void {
    const { clock, refill, settings, tally, batch } = this.#parts;
    if (!site.awake || site.to === undefined) return;
    this.#apply(site, rules);
    site.rulesUntilMs = clock.nowMs() + goodForMs;
    const { excessive } = siteDelay(0, rules.crawlDelayMs, CRAWL_DELAY_MAX_MS);
    if (excessive) tally.refused("crawl_delay_excessive");
    if (settings.sitemaps && !site.sitemapsRead) this.#sitemaps.begin(site, rules.sitemaps);
    // The rules are stored before the first page is asked for: a crash must not forget the pace.
    refill.refillAfterCommit(site);
    batch.touch();
  }

  /** Takes rules and the pace they ask for into use. */
  #apply(site: Site, rules: RobotsRules): void {
    if (site.to === undefined) return;
    site.rules = rules;
    this.#parts.refill.open(site, { ...site.to, delayMs: this.#paceOf(site, rules) });
  }

  #locateFailed(site: Site, reason: ResolverFailure | "port_refused", detail: string): void {
    const isFinal =
      reason === "dns_nxdomain" || reason === "ssrf_blocked" || reason === "port_refused";
    if (isFinal) this.#parts.refill.settleAll(site, reason, detail);
    else this.#parts.onStartFailed(site, reason, detail);
  }

  /** No response, or 429 or 5xx, may pass. What cannot be read however often it arrives forbids the site. */
  #robotsFailed(site: Site, errand: Errand, result: FetchResult): void {
    const { clock, refill, settings, onStartFailed } = this.#parts;
    const { reason } = endOf(result);
    const detail = `robots.txt: ${detailOf(result)}`;
    // It has been laid aside meanwhile.
    if (!site.awake) return;
    const status = result.reply?.status ?? 0;
    if (isRetryable(reason) || status >= 500) return onStartFailed(site, reason, detail);
    if (reason.startsWith("tls_")) return refill.settleAll(site, reason as NamedReason, detail);
    site.failedStarts += 1;
    if (site.failedStarts > settings.retriesMax)
      return refill.settleAll(site, "robots_unreachable", detail);
    const delayMs = START_AGAIN_MS * 2 ** (site.failedStarts - 1);
    this.#add(site, errand, clock.nowMs() + Math.min(START_AGAIN_MAX_MS, delayMs));
  }

  /** Sitemaps of the site itself are under its rules, those elsewhere must belong to the crawl. */
  #whyNotRead(site: Site, url: CanonicalUrl): string | undefined {
    if (siteOf(url) === site.key)
      return site.rules?.allows(pathOf(url)).allowed === false ? "robots_denied" : undefined;
    const verdict = this.#parts.scope.decide(url);
    return verdict.accepted ? undefined : verdict.rule;
  }

  #sitemapsRead(site: Site): void {
    site.sitemapsRead = true;
    this.#parts.roster.changed(site);
    this.#parts.batch.touch();
  }

  /** Whether the site is on the workbench to take it. */
  #add(site: Site, errand: Errand, notBeforeMs = 0): boolean {
    const { workbench } = this.#parts;
    if (!workbench.has(site.id)) return false;
    this.#made += 1;
    site.errands += 1;
    workbench.put(site.id, errandJob(this.#made, errand, notBeforeMs));
    return true;
  }

  #get({ site, url, progress }: Question, keepBytesMax: number): Promise<FetchResult> {
    const { fetcher, signal } = this.#parts;
    return fetcher.fetch({
      url,
      ...(siteOf(url) === site.key ? { addresses: site.addresses } : {}),
      ...(progress.sent === undefined ? {} : { onSent: progress.sent }),
      keepBytesMax,
      signal,
      onBytes: progress.passage.onBytes,
    });
  }

  /** What was last known of the site's rules, however old: until it is asked, its pace still holds. */
  #rulesKept({ robots }: Site): RobotsRules {
    return robots === undefined ? OPEN : rulesIn(robots, this.#parts.settings);
  }

  #paceOf({ key, isLoopback }: Site, rules: RobotsRules): number {
    const configuredMs = this.#ownSettings.get(key)?.delayMs ?? this.#delayMs;
    return agreedDelayMs(configuredMs, isLoopback, rules);
  }
}

export function settingsBySite(sites: readonly SiteSettings[]): Map<string, SiteSettings> {
  const bySite = new Map<string, SiteSettings>();
  for (const own of sites) {
    const url = canonicalUrl(own.url);
    if (!isRefused(url)) bySite.set(siteOf(url), own);
  }
  return bySite;
}

function detailOf(result: FetchResult): string {
  return result.kind === "failed" ? result.detail : `robots.txt was answered with ${result.kind}`;
}

/** A file that could not be unpacked, or was too long to be begun, is no answer: it may forbid. */
function statusOf(result: FetchResult): number | undefined {
  const status = result.reply?.status;
  const isFile = status !== undefined && status >= 200 && status <= 299;
  if (isFile && result.kind === "failed") return undefined;
  const isCutToNothing = result.kind === "page" && result.body.length === 0;
  return isCutToNothing && result.reply.truncated !== undefined ? undefined : status;
}

function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1";
}

function robotsUrl(site: Site): CanonicalUrl {
  return `${site.key}/robots.txt` as CanonicalUrl;
}
