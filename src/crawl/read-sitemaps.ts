/**
 * Reads the sitemaps of a site, one errand each, and sends what they list through the gate.
 *
 * Entries of other sites are left out, as anybody could list them; the scope judges the rest like
 * links from the home page. A sitemap that cannot be had is no loss: links lead there too.
 */

import type { Settings } from "../config/schema.ts";
import { decodeBody } from "../fetch/decode.ts";
import type { FetchResult } from "../fetch/fetcher.ts";
import { type Sitemap, SITEMAP_BYTES_MAX, SitemapReader } from "../fetch/sitemap.ts";
import { SITEMAP_WALK_DEFAULTS, type SitemapStep, SitemapWalk } from "../fetch/sitemap-walk.ts";
import { siteOf } from "../url/site.ts";
import { type CanonicalUrl, canonicalUrl, isRefused, resolveUrl } from "../url/url.ts";
import { endOf, isOurTrouble, type Progress } from "./fetch-loop.ts";
import { type Candidate, candidateOf, type Intake } from "./admit.ts";
import type { Site } from "./sites.ts";

/** A sitemap may be large, and nothing else happens meanwhile: so much is done in one go. */
const ADMITTED_AT_ONCE = 500;
const READ_BYTES_AT_ONCE = 1 << 20;
const OUR_TROUBLE_MS = 1000;

export interface SitemapReadingParts {
  readonly settings: Settings;
  readonly intake: Intake;
  readonly wallMs: () => number;
  /** Lets everybody else go first. */
  readonly breathe: () => Promise<void>;
  readonly get: (site: Site, url: CanonicalUrl, progress: Progress) => Promise<FetchResult>;
  /** Puts the errand of reading a sitemap on the workbench. */
  readonly add: (site: Site, url: string, delayMs?: number) => void;
  /** The rule that forbids to read a sitemap named by a site, if there is one. */
  readonly whyNot: (site: Site, url: CanonicalUrl) => string | undefined;
  /** Told of each sitemap that is not read, or not to its end, and why. */
  readonly refused: (rule: string) => void;
  /** Whether the crawl was stopped, so that what failed has not. */
  readonly isCutOff: () => boolean;
  readonly onRead: (site: Site) => void;
}

interface Walk {
  readonly walk: SitemapWalk;
  step: SitemapStep | undefined;
}

export class SitemapReading {
  readonly #parts: SitemapReadingParts;
  readonly #walks = new Map<number, Walk>();
  /** One is taken apart after the other: what a large one lists takes tens of megabytes. */
  #lastTaken: Promise<void> = Promise.resolve();

  constructor(parts: SitemapReadingParts) {
    this.#parts = parts;
  }

  /** Starts with what robots.txt names, or with the customary place when it names nothing. */
  begin(site: Site, named: readonly string[]): void {
    if (this.#walks.has(site.id)) return;
    const walk = new SitemapWalk(SITEMAP_WALK_DEFAULTS);
    for (const url of named.length > 0 ? named : [`${site.key}/sitemap.xml`])
      this.#offer(site, url, { walk, step: undefined });
    this.#walks.set(site.id, { walk, step: undefined });
    this.#next(site);
  }

  /** What a site was at before it was put to sleep: it begins anew. */
  forget(site: Site): void {
    this.#walks.delete(site.id);
  }

  async read(site: Site, url: string, progress: Progress): Promise<void> {
    const result = await this.#parts.get(site, url as CanonicalUrl, progress);
    progress.ended(endOf(result));
    const current = this.#walks.get(site.id);
    if (current === undefined || this.#parts.isCutOff()) return;
    if (isOurTrouble(result)) return this.#parts.add(site, url, OUR_TROUBLE_MS);
    const isTooLarge = result.kind === "failed" && result.reason === "body_too_large";
    const isCut = result.kind === "page" && result.reply.truncated !== undefined;
    if (isTooLarge || isCut) this.#parts.refused("sitemap_capped");
    if (result.kind === "page") await this.#takeInTurn(site, current, result.body);
    else if (result.kind === "redirect") this.#offer(site, result.to.url, current);
    if (this.#parts.isCutOff()) return;
    this.#next(site);
  }

  #takeInTurn(site: Site, current: Walk, body: Uint8Array): Promise<void> {
    const taken = this.#lastTaken.then(async () => {
      if (!this.#parts.isCutOff()) await this.#take(site, current, body);
    });
    this.#lastTaken = taken.catch(() => undefined);
    return taken;
  }

  async #take(site: Site, current: Walk, body: Uint8Array): Promise<void> {
    const isGzip = body[0] === 0x1f && body[1] === 0x8b;
    const plain = isGzip ? await decodeBody(body, "gzip", SITEMAP_BYTES_MAX) : undefined;
    if (plain?.kind === "failed") return this.#parts.refused(plain.reason);
    const sitemap = await this.#readAll(plain?.body ?? body);
    if (sitemap.problem !== undefined) this.#parts.refused(sitemap.problem);
    if (sitemap.kind === "index")
      for (const entry of sitemap.entries) this.#offer(site, entry.url, current);
    else await this.#admit(site, sitemap);
  }

  async #readAll(bytes: Uint8Array): Promise<Sitemap> {
    const reader = new SitemapReader(this.#parts.wallMs());
    for (let at = 0; at < bytes.length; at += READ_BYTES_AT_ONCE) {
      if (!reader.push(bytes.subarray(at, at + READ_BYTES_AT_ONCE))) break;
      await this.#parts.breathe();
    }
    return reader.finish();
  }

  async #admit(site: Site, { entries }: Sitemap): Promise<void> {
    const { intake, settings, breathe } = this.#parts;
    const origin = {
      depth: 1,
      from: `${site.key}/` as CanonicalUrl,
      fromDomain: site.domain,
      redirectedFromId: 0,
      redirects: 0,
    };
    for (let at = 0; at < entries.length; at += ADMITTED_AT_ONCE) {
      const candidates: Candidate[] = [];
      for (const entry of entries.slice(at, at + ADMITTED_AT_ONCE)) {
        const resolved = resolveUrl(entry.url, undefined, settings);
        if (!isRefused(resolved) && siteOf(resolved.url) === site.key)
          candidates.push(candidateOf(resolved));
      }
      intake.admit(candidates, origin);
      await breathe();
    }
  }

  #offer(site: Site, text: string, { walk, step }: Walk): void {
    const url = canonicalUrl(text);
    const rule = isRefused(url)
      ? url.refused
      : (this.#parts.whyNot(site, url) ?? walk.add(url, step));
    if (rule !== undefined) this.#parts.refused(rule);
  }

  /** One sitemap of a site at a time. */
  #next(site: Site): void {
    const current = this.#walks.get(site.id);
    if (current === undefined) return;
    current.step = current.walk.next();
    if (current.step !== undefined && site.awake) return this.#parts.add(site, current.step.url);
    this.#walks.delete(site.id);
    if (site.awake) this.#parts.onRead(site);
  }
}
