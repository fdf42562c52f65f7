/**
 * The gate: seeds, links and redirects enter by one door.
 *
 * Each comes in canonical form. The scope answers with the rule that decided; the sieve and the
 * store say whether it is new; the traps say whether its site may have one more. What is new gets
 * its number and its score, is noted, and waits. Invariant 1: every admitted URL enters once.
 *
 * What was refused is remembered by the sieve like what was taken, so that a link that stands on every
 * page is judged once.
 */

import type { ScoreFunction } from "../frontier/priority.ts";
import type { Sieve } from "../frontier/sieve.ts";
import type { Traps } from "../frontier/traps.ts";
import type { Fingerprints, Store, WaitingUrl } from "../store/store.ts";
import type { Scope } from "../url/scope.ts";
import { siteOf } from "../url/site.ts";
import { type Fingerprint, fingerprintOf } from "../url/fingerprint.ts";
import { type CanonicalUrl, type ResolvedUrl, splitPath } from "../url/url.ts";
import type { Border, FoundUrl } from "./peers/route-links.ts";
import type { CrawlHooks } from "./hooks.ts";
import type { Batch } from "./batch.ts";
import type { Refill } from "./queue.ts";
import type { Reunion } from "./peers/merge-url.ts";
import type { Roster, Site } from "./sites.ts";
import type { Tally } from "./counters.ts";

export interface Candidate extends ResolvedUrl, Fingerprint {}

export function candidateOf(resolved: ResolvedUrl): Candidate {
  return { url: resolved.url, written: resolved.written, ...fingerprintOf(resolved.url) };
}

/** Where candidates come from. */
export interface Origin {
  readonly depth: number;
  /** The page they were found on; undefined for seeds. */
  readonly from: CanonicalUrl | undefined;
  readonly fromDomain: string | undefined;
  readonly redirectedFromId: number;
  readonly redirects: number;
}

export interface IntakeParts {
  readonly store: Store;
  readonly batch: Batch;
  readonly roster: Roster;
  readonly refill: Refill;
  readonly sieve: Sieve;
  readonly traps: Traps;
  readonly tally: Tally;
  readonly scope: Scope;
  readonly score: ScoreFunction;
  /** Whether the score is the number of links. */
  readonly countsBacklinks: boolean;
  readonly depthMax: number;
  readonly onLink: CrawlHooks["onLink"];
  /** undefined where one process has the whole web. */
  readonly border: Border | undefined;
  readonly reunion: Reunion;
}

export class Intake {
  readonly #parts: IntakeParts;
  #nextUrlId: number;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
    this.#nextUrlId = parts.store.nextUrlId;
  }

  get nextUrlId(): number {
    return this.#nextUrlId;
  }

  /** Admits what is new and allowed; answers how many. */
  admit(candidates: readonly Candidate[], origin: Origin): number {
    const { sieve, border } = this.#parts;
    // Where only the sample leads nobody would have come; who comes there by another way is let in.
    if (origin.from !== undefined && border?.isOnlySampled(origin.from) === true) return 0;
    const allowed = candidates.filter((candidate) => this.#isAllowed(candidate, origin));
    if (allowed.length === 0) return 0;
    const ids = this.#parts.batch.lookup(fingerprintsOf(allowed));
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

  /** Lets in what another process found, or what waited or ended there before it became ours. */
  receive(found: readonly FoundUrl[], border: Border): void {
    const { batch, reunion, sieve } = this.#parts;
    const ids = batch.lookup(fingerprintsOf(found.map(({ candidate }) => candidate)));
    const met = new Set<CanonicalUrl>();
    for (const [index, one] of found.entries()) {
      const { candidate, origin, state } = one;
      const id = met.has(candidate.url) ? this.idOf(candidate) : (ids[index] as number);
      met.add(candidate.url);
      if (!border.isOwn(candidate.url) && (state === "waiting" || state === "ended"))
        border.passOn(one);
      else if (id !== 0) {
        if (border.isOwn(candidate.url)) reunion.meet(id, one);
      } else if (state === "ended") this.#note(candidate, origin, 0, "elsewhere");
      else if (state !== "counted") {
        if (border.judgesBeforeSending) this.#widen(candidate.url);
        if (this.#isAllowed(candidate, origin)) this.#enter(candidate, origin, one);
      }
      sieve.add(candidate.high, candidate.low);
    }
  }

  /** Notes a URL whose page has come by another way: it waits, but nobody is told to ask for it. */
  adopt(candidate: Candidate, origin: Origin): WaitingUrl {
    const { roster, sieve, score } = this.#parts;
    const { url, high, low } = candidate;
    this.#widen(url);
    const site = roster.of(siteOf(url));
    const row = this.#note(candidate, origin, score({ url, depth: origin.depth, from: undefined }));
    site.pending += 1;
    site.finishedAtMs = undefined;
    sieve.add(high, low);
    return row;
  }

  /** The id of a known URL; 0 when it is unknown. */
  idOf(candidate: Candidate): number {
    return this.#parts.batch.lookup(fingerprintsOf([candidate]))[0] as number;
  }

  #isAllowed({ url, high, low }: Candidate, origin: Origin): boolean {
    const { scope, tally, sieve, depthMax, onLink } = this.#parts;
    if (origin.depth > depthMax) {
      // Not for the sieve: the same page may yet be found on a shorter way.
      tally.refused("depth");
      return false;
    }
    const isSeed = origin.depth === 0;
    const verdict = isSeed ? scope.decideSeed(url) : scope.decide(url);
    if (verdict.accepted && onLink?.(url, origin.from) !== false) {
      // The new host of a seed that moved is what the operator asked for.
      if (isSeed) scope.extend(url);
      return true;
    }
    tally.refused(verdict.accepted ? "hook" : verdict.rule);
    sieve.add(high, low);
    return false;
  }

  /** What another process sent is in its scope, and so in the whole crawl's: the new host of a moved seed. */
  #widen(url: CanonicalUrl): void {
    const { scope } = this.#parts;
    if (scope.decideSeed(url).accepted) scope.extend(url);
  }

  #enter(candidate: Candidate, origin: Origin, found?: FoundUrl): boolean {
    const { roster, tally, border } = this.#parts;
    const { url } = candidate;
    const { depth, from } = origin;
    const ownScore = this.#parts.score({ url, depth, from });
    const whose = border?.whose(candidate) ?? "own";
    if (whose === "drop" || whose === "popular") {
      tally.refused(whose === "drop" ? "firewall" : "popular");
      return false;
    }
    if (whose === "send") {
      this.#note(candidate, origin, ownScore, "sent");
      border?.send(candidate, origin, ownScore);
      return false;
    }
    const site = roster.of(siteOf(url));
    const rule = this.#judge(site, url, origin);
    if (rule !== undefined) {
      tally.refused(rule);
      return false;
    }
    const score = this.#parts.countsBacklinks && found !== undefined ? found.links : ownScore;
    this.#await(site, this.#note(candidate, origin, score));
    return true;
  }

  /** Notes a URL, which waits from now on or has ended as it came: with its owner. */
  #note(
    { url, written, high, low }: Candidate,
    { depth, redirectedFromId, redirects }: Origin,
    score: number,
    reason?: "sent" | "elsewhere",
  ): WaitingUrl {
    const { roster, tally, batch } = this.#parts;
    const site = roster.of(siteOf(url));
    const id = this.#nextUrlId++;
    const siteId = site.id;
    const row = { id, url, written, siteId, depth, score, redirectedFromId, redirects };
    batch.addUrl({ ...row, fingerprintHigh: high, fingerprintLow: low });
    tally.found();
    site.known += 1;
    roster.changed(site);
    if (reason !== undefined) {
      batch.endUrl(siteId, { id, reason, attempts: 0 });
      tally.settled(reason);
    }
    return { ...row, attempts: 0, etag: "", lastModified: "" };
  }

  #await(site: Site, row: WaitingUrl): void {
    site.pending += 1;
    site.finishedAtMs = undefined;
    this.#parts.refill.feed(site, row);
  }

  #judge(site: Site, url: CanonicalUrl, origin: Origin): string | undefined {
    return this.#parts.traps.admit({
      siteId: site.id,
      domain: site.domain,
      ...splitPath(url),
      depth: origin.depth,
      fromDomain: origin.fromDomain,
    });
  }
}

function fingerprintsOf(candidates: readonly Candidate[]): Fingerprints {
  const high = new Uint32Array(candidates.length);
  const low = new Uint32Array(candidates.length);
  for (const [index, candidate] of candidates.entries()) {
    high[index] = candidate.high;
    low[index] = candidate.low;
  }
  return { high, low, count: candidates.length };
}
