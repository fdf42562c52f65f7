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
import { type CanonicalUrl, splitPath } from "../url/url.ts";
import type { CrawlHooks } from "./hooks.ts";
import type { Notebook } from "./notebook.ts";
import type { Refill } from "./refill.ts";
import type { Roster, Site } from "./roster.ts";
import type { Tally } from "./tally.ts";

export interface Candidate {
  readonly url: CanonicalUrl;
  readonly high: number;
  readonly low: number;
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
  readonly notebook: Notebook;
  readonly roster: Roster;
  readonly refill: Refill;
  readonly sieve: Sieve;
  readonly traps: Traps;
  readonly tally: Tally;
  readonly scope: Scope;
  readonly score: ScoreFunction;
  readonly depthMax: number;
  readonly onLink: CrawlHooks["onLink"];
}

export class Intake {
  readonly #parts: IntakeParts;
  #nextUrlId: number;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
    this.#nextUrlId = parts.store.nextUrlId;
  }

  /** Admits what is new and allowed; answers how many. */
  admit(candidates: readonly Candidate[], origin: Origin): number {
    const { sieve } = this.#parts;
    const allowed = candidates.filter((candidate) => this.#isAllowed(candidate, origin));
    if (allowed.length === 0) return 0;
    const ids = this.#parts.store.lookup(fingerprintsOf(allowed));
    let admitted = 0;
    for (const [index, candidate] of allowed.entries()) {
      const isNew =
        ids[index] === 0 && this.#parts.notebook.unstoredId(candidate.url) === undefined;
      if (isNew && this.#enter(candidate, origin)) admitted += 1;
      sieve.add(candidate.high, candidate.low);
    }
    return admitted;
  }

  /** The id of a known URL, stored or only noted; 0 when it is unknown. */
  idOf(candidate: Candidate): number {
    const noted = this.#parts.notebook.unstoredId(candidate.url);
    return noted ?? (this.#parts.store.lookup(fingerprintsOf([candidate]))[0] as number);
  }

  #isAllowed({ url, high, low }: Candidate, origin: Origin): boolean {
    const { scope, tally, sieve, depthMax, onLink } = this.#parts;
    if (origin.depth > depthMax) {
      // Not for the sieve: the same page may yet be found on a shorter way.
      tally.refused("depth");
      return false;
    }
    const verdict = scope.decide(url);
    if (verdict.accepted && onLink?.(url, origin.from) !== false) return true;
    tally.refused(verdict.accepted ? "hook" : verdict.rule);
    sieve.add(high, low);
    return false;
  }

  #enter({ url, high, low }: Candidate, origin: Origin): boolean {
    const { roster, tally, notebook, refill, score } = this.#parts;
    const site = roster.of(siteOf(url));
    const rule = this.#judge(site, url, origin);
    if (rule !== undefined) {
      tally.refused(rule);
      return false;
    }
    const { depth, redirectedFromId, redirects, from } = origin;
    const row: WaitingUrl = {
      id: this.#nextUrlId++,
      url,
      siteId: site.id,
      depth,
      score: score({ url, depth, from }),
      attempts: 0,
      redirectedFromId,
      redirects,
      etag: "",
      lastModified: "",
    };
    notebook.noteUrl({
      id: row.id,
      url,
      fingerprintHigh: high,
      fingerprintLow: low,
      siteId: site.id,
      depth,
      score: row.score,
      redirectedFromId,
      redirects,
    });
    tally.found();
    site.known += 1;
    site.pending += 1;
    site.finishedAtMs = undefined;
    roster.changed(site);
    refill.feed(site, row);
    return true;
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
