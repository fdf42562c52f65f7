/**
 * Sends the request of one URL, and records its response.
 *
 * A page is processed, archived, and then recorded together with its links and its end in one tick (invariant 3).
 * A redirect goes back to admission, so that scope, robots.txt, politeness and the address guard judge its target
 * like any other URL. A URL that failed is requested again if that could help (`retries.ts`), or ends.
 */

import type { Purpose } from "../bandwidth/history/ledger.ts";
import { assert, unreachable } from "../base/assert.ts";
import { isLackOfRoom } from "../base/errors.ts";
import type {
  FetchBusy,
  FetchedPage,
  FetchFailed,
  FetchRedirect,
  FetchResult,
} from "../fetch/fetcher.ts";
import { isRetryable } from "../page/outcome.ts";
import type { WaitingUrl } from "../store/store.ts";
import { type CanonicalUrl, pathOf, writtenOf } from "../url/url.ts";
import type { Admission } from "./admit.ts";
import { candidateOf } from "./candidate.ts";
import type { CrawlContext } from "./context.ts";
import { endUrl, type UrlEnd } from "./end-url.ts";
import type { PageStorage } from "./page.ts";
import { ruleText } from "./queue.ts";
import { type Answer, endOf, type Refused, type Request } from "./requests.ts";
import type { Retries } from "./retries.ts";
import type { Site } from "./site.ts";

interface UrlFetchParts {
  readonly admission: Admission;
  readonly pages: PageStorage;
  readonly retries: Retries;
}

export class UrlFetch {
  readonly #context: CrawlContext;
  readonly #parts: UrlFetchParts;

  constructor(context: CrawlContext, parts: UrlFetchParts) {
    this.#context = context;
    this.#parts = parts;
  }

  send(request: Request): Promise<FetchResult> | Refused {
    const { fetcher, settings, signal } = this.#context;
    const { site, row } = request;
    assert(row !== undefined, "a request without a file has a URL");
    const refused = this.#refuse(request, row);
    if (refused !== undefined) return refused;
    this.#parts.retries.begin(request);
    return fetcher.fetch({
      url: row.url as CanonicalUrl,
      written: row.written,
      etag: row.etag,
      lastModified: row.lastModified,
      addresses: site.addresses,
      acceptTypes: settings.acceptTypes,
      onSent: request.onSent,
      onBytes: request.onBytes,
      onLength: request.onLength,
      signal,
    });
  }

  /** Checked just before sending, because rules may have changed while the URL waited. */
  #refuse(request: Request, row: WaitingUrl): Refused | undefined {
    const { settings, ownership, requests, batch } = this.#context;
    const { site } = request;
    // Another process may have sent its page.
    if (
      ownership?.ownsContents === true &&
      (requests.of(row.id) !== request || batch.url(row.id)?.reason !== undefined)
    )
      return { kind: "refused", reason: "elsewhere", end: undefined };
    const trial = site.trial(row.id);
    if (trial !== undefined && trial.attempts > settings.retriesMax) {
      const { attempts, reason, detail } = trial;
      const end = { row: { ...row, attempts }, reason, detail };
      return { kind: "refused", reason: "elsewhere", end };
    }
    const verdict = site.rules?.allows(pathOf(row.url));
    if (verdict?.allowed !== false) return undefined;
    const reason = "robots_denied";
    return { kind: "refused", reason, end: { row, reason, detail: ruleText(verdict) } };
  }

  /** Records the outcome; returns whether the URL is queued again. */
  async record(request: Request, answer: Answer): Promise<"recorded" | "queued"> {
    const { site, row } = request;
    assert(row !== undefined, "a request without a file has a URL");
    if (answer.kind === "refused") {
      if (answer.end !== undefined) endUrl(this.#context, site, answer.end.row, answer.end);
      return "recorded";
    }
    const { counters, signal } = this.#context;
    const { reason, traffic } = endOf(answer);
    this.#trace(site, row, answer);
    if (!signal.aborted) this.#parts.retries.learn(request, reason);
    let purpose: Purpose;
    try {
      purpose =
        answer.kind === "page"
          ? await this.#parts.pages.keep(site, row, answer)
          : await this.#recordOther(site, row, answer);
    } catch (error) {
      if (!isLackOfRoom(error)) throw error;
      // A page that finds no room in the archive is fetched again when there is room.
      this.#context.batch.reportTrouble(error);
      purpose = this.#parts.retries.leaveWaiting(site, row);
    }
    counters.ledger.book(site.books, traffic.receivedBytes, purpose);
    return purpose === "retry" ? "queued" : "recorded";
  }

  #trace(site: Site, row: WaitingUrl, result: FetchResult): void {
    this.#context.traces?.add({
      url: writtenOf(row),
      site: site.key,
      address: result.address,
      outcome: endOf(result).reason,
      status: result.reply?.status ?? 0,
      bytes: result.traffic.receivedBytes,
      atMs: result.atMs,
      durationMs: result.durationMs,
    });
  }

  /** Returns the purpose of the bytes. */
  #recordOther(
    site: Site,
    row: WaitingUrl,
    result: Exclude<FetchResult, FetchedPage>,
  ): Promise<Purpose> | Purpose {
    switch (result.kind) {
      case "not_modified":
        return this.#parts.pages.confirm(site, row, result);
      case "redirect":
        endUrl(this.#context, site, row, this.#follow(site, row, result));
        return "redirect";
      case "busy":
      case "failed":
        return this.#fail(site, row, result);
      default:
        return unreachable(result);
    }
  }

  #fail(site: Site, row: WaitingUrl, result: FetchFailed | FetchBusy): Promise<Purpose> | Purpose {
    const { pages, retries } = this.#parts;
    // A request that was cut off because the crawl stops has not failed.
    if (this.#context.signal.aborted) return retries.leaveWaiting(site, row);
    if (isRetryable(result.reason)) return retries.putBehind(site, row, result);
    assert(result.kind === "failed", "a busy response can be retried");
    const { reply } = result;
    if (reply?.truncated !== undefined && reply.body.length > 0)
      return pages.keepPart(site, row, { ...result, reply });
    endUrl(this.#context, site, row, result);
    return "error";
  }

  #follow(site: Site, row: WaitingUrl, { to }: FetchRedirect): UrlEnd {
    const { batch, scope, settings } = this.#context;
    const target = candidateOf(to);
    const knownId = batch.idOf(target);
    if (knownId === row.id || (knownId !== 0 && this.#isOnTheWayTo(row, knownId)))
      return { reason: "redirect_loop" };
    if (row.redirects >= settings.redirectsMax) return { reason: "redirect_limit" };
    const verdict = row.depth === 0 ? scope.decideSeed(to.url) : scope.decide(to.url);
    if (!verdict.accepted) return { reason: "out_of_scope", detail: verdict.rule };
    this.#parts.admission.admit([target], {
      depth: row.depth,
      from: row.depth === 0 ? undefined : (row.url as CanonicalUrl),
      fromDomain: site.domain,
      redirectedFromId: row.id,
      redirects: row.redirects + 1,
    });
    return { reason: "redirect" };
  }

  /** Whether the redirects that led to `row` began at, or went through, that URL. */
  #isOnTheWayTo(row: WaitingUrl, id: number): boolean {
    let fromId = row.redirectedFromId;
    for (let hops = row.redirects; hops > 0 && fromId !== 0; hops--) {
      if (fromId === id) return true;
      fromId = this.#context.batch.url(fromId)?.redirectedFromId ?? 0;
    }
    return false;
  }
}
