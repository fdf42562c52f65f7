/**
 * Admission: seeds, links, sitemap entries and redirects all enter the crawl here.
 *
 * The scope returns the deciding rule; the sieve and the store know whether a URL is new; the traps decide
 * whether its site may have one more. A new URL gets a number and a score, is added to the batch, and waits.
 * Invariant 1: every admitted URL enters once.
 *
 * The sieve also remembers refused URLs, so that a link on every page is judged once.
 */

import { kindBesideContent } from "../frontier/known-software.ts";
import { lastScore, SCORES, type ScoreFunction } from "../frontier/priority.ts";
import type { WaitingUrl } from "../store/store.ts";
import { siteOf } from "../url/site.ts";
import { type CanonicalUrl, isSpellingOf, splitPath } from "../url/url.ts";
import { type Candidate, candidateOf, fingerprintsOf, type Origin } from "./candidate.ts";
import type { CrawlContext } from "./context.ts";
import { countsBacklinks, type Ordering } from "./ordering.ts";
import type { Queue } from "./queue.ts";
import type { Site } from "./site.ts";

export class Admission {
  readonly #context: CrawlContext;
  readonly #queue: Queue;
  readonly #score: ScoreFunction;
  readonly #depthMax: number;
  #nextUrlId: number;

  constructor(context: CrawlContext, queue: Queue, ordering: Ordering | undefined) {
    this.#context = context;
    this.#queue = queue;
    const { settings, hooks, store } = context;
    this.#score =
      hooks.score ?? ((found) => ordering?.scoreOf?.(found) ?? SCORES[settings.order](found));
    this.#depthMax = settings.depthMax ?? Infinity;
    this.#nextUrlId = store.nextUrlId;
  }

  get nextUrlId(): number {
    return this.#nextUrlId;
  }

  /** Admits the seeds that this process owns, and popular URLs as if a seed linked to them. */
  admitSeeds(): void {
    const { team, seeds, ownership, spellings } = this.#context;
    const none = { from: undefined, fromDomain: undefined, redirectedFromId: 0, redirects: 0 };
    for (const [depth, urls] of [team?.seeds ?? seeds, team?.border?.popularUrls ?? []].entries())
      for (const url of urls) {
        // Every process has all of them, so they are not sent.
        if (ownership?.isOwn(url) === false) continue;
        const spelling = spellings?.[url];
        // In a cluster the spelling comes from the registry.
        const isGood = spelling !== undefined && isSpellingOf(spelling, url);
        const written = isGood ? spelling : undefined;
        this.admit([candidateOf({ url, written })], { ...none, depth });
      }
  }

  /** Admits the new and allowed ones; returns their number. */
  admit(candidates: readonly Candidate[], origin: Origin): number {
    const { sieve, ownership, batch } = this.#context;
    // Without the sample the links of a sampled page would be unknown; other pages may still lead to them.
    if (origin.from !== undefined && ownership?.isOnlySampled(origin.from) === true) return 0;
    const allowed = candidates.filter((candidate) => this.#isAllowed(candidate, origin));
    if (allowed.length === 0) return 0;
    const ids = batch.lookup(fingerprintsOf(allowed));
    // A list may name a URL twice.
    const met = new Set<CanonicalUrl>();
    let admitted = 0;
    for (const [index, candidate] of allowed.entries()) {
      const isNew = ids[index] === 0 && !met.has(candidate.url);
      if (isNew && this.#enter(candidate, origin)) admitted += 1;
      met.add(candidate.url);
      sieve.add(candidate.high, candidate.low);
    }
    return admitted;
  }

  /** Admits a new URL that another process found; `links` is the number of links to it there. */
  admitForeign(candidate: Candidate, origin: Origin, links: number): void {
    // The sender has applied its scope: the host may be the new one of a seed that moved.
    if (this.#context.ownership?.judgesBeforeSending === true) this.#widen(candidate.url);
    if (this.#isAllowed(candidate, origin)) this.#enter(candidate, origin, links);
  }

  /** Adds a URL that another process has fetched already. */
  addEnded(candidate: Candidate, origin: Origin): void {
    this.#add(candidate, origin, 0, "elsewhere");
  }

  /** Adds a URL whose page another process has sent: it waits for its page, and is not requested. */
  adopt(candidate: Candidate, origin: Origin): WaitingUrl {
    const { sieve } = this.#context;
    const { url, high, low } = candidate;
    this.#widen(url);
    const score = this.#score({ url, depth: origin.depth, from: undefined });
    const row = this.#add(candidate, origin, score);
    sieve.add(high, low);
    return row;
  }

  #isAllowed({ url, high, low }: Candidate, origin: Origin): boolean {
    const { scope, counters, sieve, hooks } = this.#context;
    if (origin.depth > this.#depthMax) {
      // Not for the sieve: a shorter path may still lead to the same page.
      counters.refused("depth");
      return false;
    }
    const isSeed = origin.depth === 0;
    const verdict = isSeed ? scope.decideSeed(url) : scope.decide(url);
    if (verdict.accepted && hooks.onLink?.(url, origin.from) !== false) {
      // A seed that moved is still a seed: its new host is in scope.
      if (isSeed) scope.extend(url);
      return true;
    }
    counters.refused(verdict.accepted ? "hook" : verdict.rule);
    sieve.add(high, low);
    return false;
  }

  /** What known software makes beside its content goes last. */
  #scoreOf(url: CanonicalUrl, score: number, depth: number): number {
    if (depth === 0 || this.#context.settings.traps === "off") return score;
    const { path, query } = splitPath(url);
    return kindBesideContent(path, query) > 0 ? lastScore(score) : score;
  }

  #widen(url: CanonicalUrl): void {
    const { scope } = this.#context;
    if (scope.decideSeed(url).accepted) scope.extend(url);
  }

  #enter(candidate: Candidate, origin: Origin, foreignLinks?: number): boolean {
    const { sites, counters, ownership, emit } = this.#context;
    const { url } = candidate;
    const { depth, from, redirects } = origin;
    const ownScore = this.#scoreOf(url, this.#score({ url, depth, from }), depth);
    const whose = ownership?.whose(candidate) ?? "own";
    if (whose === "drop" || whose === "popular") {
      counters.refused(whose === "drop" ? "firewall" : "popular");
      return false;
    }
    if (whose === "send") {
      this.#add(candidate, origin, ownScore, "sent");
      emit({ kind: "foreignUrl", candidate, depth, redirects, score: ownScore });
      return false;
    }
    const site = sites.of(siteOf(url));
    const rule = this.#judge(site, url, origin);
    if (rule !== undefined) {
      counters.refused(rule);
      return false;
    }
    const isCounted = foreignLinks !== undefined && countsBacklinks(this.#context);
    const row = this.#add(candidate, origin, isCounted ? foreignLinks : ownScore);
    this.#queue.feed(site, row);
    return true;
  }

  /** Adds a URL, which waits from now on, or has ended here because another process owns it. */
  #add(
    { url, written, high, low }: Candidate,
    { depth, redirectedFromId, redirects }: Origin,
    score: number,
    reason?: "sent" | "elsewhere",
  ): WaitingUrl {
    const { sites, counters, batch } = this.#context;
    const site = sites.of(siteOf(url));
    const id = this.#nextUrlId++;
    const siteId = site.id;
    const row = { id, url, written, siteId, depth, score, redirectedFromId, redirects };
    batch.addUrl({ ...row, fingerprintHigh: high, fingerprintLow: low });
    counters.found();
    site.found(reason === undefined);
    if (reason !== undefined) {
      batch.endUrl(siteId, { id, reason, attempts: 0 });
      counters.settled(reason);
    }
    return { ...row, attempts: 0, etag: "", lastModified: "" };
  }

  #judge(site: Site, url: CanonicalUrl, origin: Origin): string | undefined {
    return this.#context.traps.admit({
      siteId: site.id,
      domain: site.domain,
      ...splitPath(url),
      depth: origin.depth,
      fromDomain: origin.fromDomain,
    });
  }
}
