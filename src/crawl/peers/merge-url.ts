/**
 * Takes in URLs that other processes found, or that waited or ended there before they became ours.
 *
 * New ones are admitted like any link. One that is known here may have been sent away when it was another's: then
 * it waits here again. It may wait here and have been fetched elsewhere: then it ends. A URL that should not have
 * come here, because its sender did not know of a new owner yet, is sent on.
 */

import type { UrlMessage, MovedUrl, SentUrl } from "../../exchange/url-message.ts";
import type { Visits } from "../../page/visits.ts";
import type { StoredUrl } from "../../store/store.ts";
import { siteOf } from "../../url/site.ts";
import { canonicalUrl, isRefused, isSpellingOf } from "../../url/url.ts";
import type { Admission } from "../admit.ts";
import { type Candidate, candidateOf, fingerprintsOf } from "../candidate.ts";
import type { CrawlContext } from "../context.ts";
import { endUrl } from "../end-url.ts";
import { countsBacklinks } from "../ordering.ts";
import type { Ownership } from "../ownership.ts";
import type { Queue } from "../queue.ts";
import type { Site } from "../site.ts";
import { COUNTED_DEPTH, type FoundUrl, type LinkRouter } from "./route-links.ts";

interface UrlMergeParts {
  readonly ownership: Ownership;
  readonly queue: Queue;
  readonly admission: Admission;
  readonly router: LinkRouter;
}

export class UrlMerge {
  readonly #context: CrawlContext;
  readonly #parts: UrlMergeParts;
  #received = 0;

  constructor(context: CrawlContext, parts: UrlMergeParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** URLs received from other processes since the process started. */
  get received(): number {
    return this.#received;
  }

  takeIn(message: UrlMessage): void {
    this.#received += message.urls.length;
    const found: FoundUrl[] = [];
    for (const sent of message.urls) {
      const one = foundUrl(sent);
      if (one === undefined) continue;
      this.#parts.router.popularFound?.received(one.candidate.high, one.candidate.low);
      found.push(one);
    }
    this.#takeAll(found);
  }

  /** A URL that has ended waits again, because its page is needed here after all. */
  reopen(known: StoredUrl): void {
    const { reason } = this.#context.batch.url(known.id) ?? known;
    if (reason !== undefined)
      this.#reopen(this.#context.sites.of(siteOf(known.url)), known, reason);
  }

  #takeAll(found: readonly FoundUrl[]): void {
    const { batch, sieve } = this.#context;
    const ids = batch.lookup(fingerprintsOf(found.map(({ candidate }) => candidate)));
    const met = new Set<string>();
    for (const [index, one] of found.entries()) {
      const { candidate } = one;
      // A message may name a URL twice.
      const id = met.has(candidate.url) ? batch.idOf(candidate) : (ids[index] as number);
      met.add(candidate.url);
      this.#take(one, id);
      sieve.add(candidate.high, candidate.low);
    }
  }

  #take(found: FoundUrl, id: number): void {
    const { ownership, router, admission } = this.#parts;
    const { candidate, origin, state, links } = found;
    const isOwn = ownership.isOwn(candidate.url);
    if (!isOwn && (state === "waiting" || state === "ended")) router.passOn(found);
    else if (id !== 0) {
      if (isOwn) this.#meet(id, found);
    } else if (state === "ended") admission.addEnded(candidate, origin);
    else if (state !== "counted") admission.admitForeign(candidate, origin, links);
  }

  #meet(id: number, found: FoundUrl): void {
    const known = this.#context.batch.url(id);
    if (known === undefined) return;
    const site = this.#context.sites.of(siteOf(known.url));
    const { reason } = known;
    if (reason === undefined) this.#whileWaiting(site, known, found);
    else if (found.state === "counted") return;
    else if (reason === "sent" || reason === "moved_away") {
      this.#reopen(site, known, reason);
      // Ended from now on, and not only in a message: its next owner must learn of it too.
      if (found.state === "ended") this.#whileWaiting(site, known, found);
    }
  }

  #whileWaiting(site: Site, known: StoredUrl, { state, links }: FoundUrl): void {
    const { batch, requests } = this.#context;
    const { queue } = this.#parts;
    if (state === "ended" && !requests.isUnderWay(known.id)) {
      queue.withdraw(site, known.id);
      const row = { ...known, etag: "", lastModified: "" };
      endUrl(this.#context, site, row, { reason: "elsewhere" });
      queue.sleepIfDone(site);
    } else if (countsBacklinks(this.#context)) batch.setScore(known.id, known.score + links);
  }

  #reopen(site: Site, { id, score }: StoredUrl, reason: Visits["was"]): void {
    const { batch, counters } = this.#context;
    const visits = { checks: 0, changes: 0, watchedMs: 0, lastAtMs: 0, was: reason };
    batch.reopenUrl(site.id, { id, score, visits });
    counters.reopened(reason);
    site.reopened();
    this.#parts.queue.reopened(site);
  }
}

/** A URL that a peer names; undefined when a peer with other rules, or none at all, names it. */
export function candidateFrom(sent: Pick<SentUrl, "url" | "written">): Candidate | undefined {
  const url = canonicalUrl(sent.url);
  if (isRefused(url)) return undefined;
  const { written } = sent;
  const isGood = written !== undefined && isSpellingOf(written, url);
  return candidateOf({ url, written: isGood ? written : undefined });
}

function foundUrl(sent: SentUrl | MovedUrl): FoundUrl | undefined {
  const candidate = candidateFrom(sent);
  if (candidate === undefined) return undefined;
  const { depth, redirects, links, score } = sent;
  const none = { from: undefined, fromDomain: undefined, redirectedFromId: 0 };
  return { candidate, origin: { ...none, depth, redirects }, links, score, state: stateOf(sent) };
}

function stateOf(sent: SentUrl | MovedUrl): FoundUrl["state"] {
  if ("state" in sent) return sent.state;
  return sent.depth === COUNTED_DEPTH ? "counted" : "found";
}
