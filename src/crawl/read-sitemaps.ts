/**
 * Reads the sitemaps of a site, one after the other, and admits what they list.
 *
 * Entries of other sites are left out, as any site could list them; the scope judges the rest like links from
 * the home page. A sitemap that cannot be fetched is not retried: links lead to its URLs too.
 */

import { sleep } from "../base/clock.ts";
import { decodeBody } from "../fetch/decode.ts";
import type { FetchResult } from "../fetch/fetcher.ts";
import { type Sitemap, SITEMAP_BYTES_MAX, SitemapReader } from "../fetch/sitemap.ts";
import { SITEMAP_WALK_DEFAULTS, type SitemapStep, SitemapWalk } from "../fetch/sitemap-walk.ts";
import { siteOf } from "../url/site.ts";
import { type CanonicalUrl, canonicalUrl, isRefused, pathOf, resolveUrl } from "../url/url.ts";
import type { Admission } from "./admit.ts";
import { type Candidate, candidateOf } from "./candidate.ts";
import type { CrawlContext } from "./context.ts";
import type { Site } from "./site.ts";

/** Entries and bytes of a sitemap that are processed in one tick. */
const ADMITTED_AT_ONCE = 500;
const READ_BYTES_AT_ONCE = 1 << 20;

/** The sitemap to request next; "done" when all of the site have been read, "busy" while one is being read. */
export type NextSitemap = { readonly url: string } | "done" | "busy";

interface Walk {
  readonly walk: SitemapWalk;
  step: SitemapStep | undefined;
}

export class Sitemaps {
  readonly #context: CrawlContext;
  readonly #admission: Admission;
  readonly #walks = new Map<number, Walk>();
  /** They are read one after the other: the entries of a large one take tens of megabytes. */
  #lastTaken: Promise<void> = Promise.resolve();

  constructor(context: CrawlContext, admission: Admission) {
    this.#context = context;
    this.#admission = admission;
  }

  /** Starts with the sitemaps that robots.txt lists, or with /sitemap.xml if it lists none. */
  begin(site: Site, named: readonly string[]): NextSitemap {
    if (this.#walks.has(site.id)) return "busy";
    const walk = new SitemapWalk(SITEMAP_WALK_DEFAULTS);
    for (const url of named.length > 0 ? named : [`${site.key}/sitemap.xml`])
      this.#offer(site, url, { walk, step: undefined });
    this.#walks.set(site.id, { walk, step: undefined });
    return this.#next(site);
  }

  /** A site that slept while its sitemaps were read starts again. */
  forget(site: Site): void {
    this.#walks.delete(site.id);
  }

  /** Reads a sitemap that was requested. */
  async read(site: Site, result: FetchResult): Promise<NextSitemap> {
    const { counters, signal } = this.#context;
    const current = this.#walks.get(site.id);
    if (current === undefined) return "busy";
    const isTooLarge = result.kind === "failed" && result.reason === "body_too_large";
    const isCut = result.kind === "page" && result.reply.truncated !== undefined;
    if (isTooLarge || isCut) counters.refused("sitemap_capped");
    if (result.kind === "page") await this.#takeInTurn(site, current, result.body);
    else if (result.kind === "redirect") this.#offer(site, result.to.url, current);
    return signal.aborted ? "busy" : this.#next(site);
  }

  #takeInTurn(site: Site, current: Walk, body: Uint8Array): Promise<void> {
    const taken = this.#lastTaken.then(async () => {
      if (!this.#context.signal.aborted) await this.#take(site, current, body);
    });
    this.#lastTaken = taken.catch(() => undefined);
    return taken;
  }

  async #take(site: Site, current: Walk, body: Uint8Array): Promise<void> {
    const isGzip = body[0] === 0x1f && body[1] === 0x8b;
    const plain = isGzip ? await decodeBody(body, "gzip", SITEMAP_BYTES_MAX) : undefined;
    if (plain?.kind === "failed") return this.#context.counters.refused(plain.reason);
    const sitemap = await this.#readAll(plain?.body ?? body);
    if (sitemap.problem !== undefined) this.#context.counters.refused(sitemap.problem);
    if (sitemap.kind === "index")
      for (const entry of sitemap.entries) this.#offer(site, entry.url, current);
    else await this.#admit(site, sitemap);
  }

  async #readAll(bytes: Uint8Array): Promise<Sitemap> {
    const reader = new SitemapReader(this.#context.clock.wallMs());
    for (let at = 0; at < bytes.length; at += READ_BYTES_AT_ONCE) {
      if (!reader.push(bytes.subarray(at, at + READ_BYTES_AT_ONCE))) break;
      await sleep(this.#context.clock, 0);
    }
    return reader.finish();
  }

  async #admit(site: Site, { entries }: Sitemap): Promise<void> {
    const { settings, clock } = this.#context;
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
      this.#admission.admit(candidates, origin);
      await sleep(clock, 0);
    }
  }

  #offer(site: Site, text: string, { walk, step }: Walk): void {
    const url = canonicalUrl(text);
    const rule = isRefused(url) ? url.refused : (this.#whyNot(site, url) ?? walk.add(url, step));
    if (rule !== undefined) this.#context.counters.refused(rule);
  }

  /** The rule that forbids to read a sitemap: the site's own are under its rules, others must be in scope. */
  #whyNot(site: Site, url: CanonicalUrl): string | undefined {
    if (siteOf(url) === site.key)
      return site.rules?.allows(pathOf(url)).allowed === false ? "robots_denied" : undefined;
    const verdict = this.#context.scope.decide(url);
    return verdict.accepted ? undefined : verdict.rule;
  }

  /** One sitemap of a site at a time. */
  #next(site: Site): NextSitemap {
    const current = this.#walks.get(site.id);
    if (current === undefined) return "busy";
    current.step = current.walk.next();
    if (current.step !== undefined && site.awake) return current.step;
    this.#walks.delete(site.id);
    return "done";
  }
}
