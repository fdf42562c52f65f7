/**
 * The reading room: fetches one URL and does with the answer what must be done.
 *
 * A page is read, archived, and then noted together with its links and its end, in one go without
 * waiting (invariant 3). A redirect goes back to the gate, so that scope, robots.txt, politeness and
 * the address guard judge its target like any other URL.
 *
 * What failed and could succeed later is put behind the other URLs of its site. It costs the URL an attempt
 * only when the site responds to the next request (`frontier/blame.ts`); when its attempts are used up it
 * ends with its reason. A failure that is the site's costs nothing.
 */

import type { Purpose } from "../bandwidth/history/ledger.ts";
import { assert, unreachable } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { isLackOfRoom } from "../base/errors.ts";
import type { Settings } from "../config/schema.ts";
import type {
  Fetcher,
  FetchBusy,
  FetchFailed,
  FetchRedirect,
  FetchResult,
} from "../fetch/fetcher.ts";
import { NO_TRAFFIC } from "../fetch/transport.ts";
import type { Blame } from "../frontier/blame.ts";
import { isOfSite, whatItSays } from "../frontier/site-mood.ts";
import type { Workbench } from "../frontier/workbench.ts";
import type { Traces } from "../output/traces.ts";
import { isRetryable, type Reason } from "../page/outcome.ts";
import type { Store, WaitingUrl } from "../store/store.ts";
import type { Scope } from "../url/scope.ts";
import { type CanonicalUrl, pathOf, writtenOf } from "../url/url.ts";
import { endOf, type Progress } from "./fetch-loop.ts";
import { candidateOf, type Intake } from "./admit.ts";
import { type Job, jobOf, retryOf } from "./job.ts";
import type { Batch } from "./batch.ts";
import type { PageDesk } from "./page.ts";
import { PageTurns } from "./limit/page-slices.ts";
import { ruleText } from "./queue.ts";
import type { Roster, Site } from "./sites.ts";
import type { Settler } from "./end-url.ts";
import type { Tally } from "./counters.ts";

/** After 1, 4 and 16 s: each later attempt comes much later. */
const RETRY_FIRST_MS = 1000;
const RETRY_TIMES = 4;
const RETRY_MAX_MS = 60_000;

export interface RecorderParts {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly fetcher: Fetcher;
  readonly store: Store;
  readonly intake: Intake;
  readonly scope: Scope;
  readonly batch: Batch;
  readonly settler: Settler;
  readonly tally: Tally;
  readonly roster: Roster;
  readonly workbench: Workbench<Job>;
  readonly blame: Blame;
  /** Of a site nothing waits but what has failed: something else must show whether it responds. */
  readonly onDoubt: (site: Site) => void;
  /** A URL was charged for a failure of its own. */
  readonly onCharged: () => void;
  /** Told of every request; undefined where nobody wants to know. */
  readonly traces?: Traces | undefined;
  readonly desk: PageDesk;
  /** Whether the URL has ended, or its page is being taken in, although it was on the workbench. */
  readonly isSuperseded: (urlId: number) => boolean;
  readonly signal: AbortSignal;
}

export class Recorder {
  readonly #parts: RecorderParts;
  readonly #turns: PageTurns;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#turns = new PageTurns(parts.clock);
  }

  async fetchUrl(site: Site, row: WaitingUrl, { sent, passage, ended }: Progress): Promise<void> {
    const { fetcher, settler, tally, signal } = this.#parts;
    // Its page may have come by another way while it waited for its turn.
    if (this.#parts.isSuperseded(row.id)) {
      ended({ reason: "elsewhere", retryAfterMs: undefined, traffic: NO_TRAFFIC });
      return;
    }
    const trial = site.trials.get(row.id);
    if (trial !== undefined && trial.attempts > this.#parts.settings.retriesMax) {
      ended({ reason: "elsewhere", retryAfterMs: undefined, traffic: NO_TRAFFIC });
      const { attempts, reason, detail } = trial;
      return settler.settle(site, { ...row, attempts }, reason, detail);
    }
    // Asked at the last moment: the rules may have changed while the URL waited.
    const verdict = site.rules?.allows(pathOf(row.url));
    if (verdict?.allowed === false) {
      ended({ reason: "robots_denied", retryAfterMs: undefined, traffic: NO_TRAFFIC });
      return settler.settle(site, row, "robots_denied", ruleText(verdict));
    }
    const begun = this.#parts.blame.now();
    const result = await fetcher.fetch({
      url: row.url as CanonicalUrl,
      written: row.written,
      etag: row.etag,
      lastModified: row.lastModified,
      addresses: site.addresses,
      acceptTypes: this.#parts.settings.acceptTypes,
      onSent: sent,
      onBytes: passage.onBytes,
      onLength: passage.onLength,
      signal,
    });
    const end = endOf(result);
    ended(end);
    this.#parts.traces?.add({
      url: writtenOf(row),
      site: site.key,
      address: result.address,
      outcome: end.reason,
      status: result.reply?.status ?? 0,
      bytes: result.traffic.receivedBytes,
      atMs: result.atMs,
      durationMs: result.durationMs,
    });
    if (result.kind === "page" && passage.flow !== undefined) await this.#turns.next();
    if (!signal.aborted) this.#learn(site, row, { begun, reason: end.reason });
    const purpose = await this.#file(site, row, result);
    tally.ledger.book(site.books, result.traffic.receivedBytes, purpose);
  }

  /** Does with the answer what must be done, and says what its bytes were for. */
  #file(site: Site, row: WaitingUrl, result: FetchResult): Purpose | Promise<Purpose> {
    const { desk } = this.#parts;
    switch (result.kind) {
      case "page":
        return this.#keeping(site, row, () => desk.keep(site, row, result));
      case "not_modified":
        return this.#keeping(site, row, () => desk.confirm(site, row, result));
      case "redirect":
        return this.#keeping(site, row, async () => this.#redirect(site, row, result));
      case "busy":
        return this.#fail(site, row, result);
      case "failed":
        return this.#fail(site, row, result);
      default:
        return unreachable(result);
    }
  }

  /** What the end of a request tells about this URL, and about others that have failed before. */
  #learn(
    site: Site,
    { id }: WaitingUrl,
    { begun, reason }: { readonly begun: number; readonly reason: Reason },
  ): void {
    const { blame } = this.#parts;
    const mood = whatItSays(reason);
    if (mood === "well") this.charge(site, blame.responded(site.id, begun));
    else if (mood !== "nothing") blame.failed(site.id, begun, isOfSite(reason) ? undefined : id);
  }

  /** The failures of these URLs were their own. */
  charge(site: Site, urlIds: readonly number[]): void {
    for (const id of urlIds) {
      const trial = site.trials.get(id);
      if (trial === undefined) continue;
      const attempts = trial.attempts + 1;
      site.trials.set(id, { ...trial, attempts });
      this.#parts.batch.setAttempts(id, attempts);
      this.#parts.onCharged();
    }
  }

  async #fail(site: Site, row: WaitingUrl, result: FetchFailed | FetchBusy): Promise<Purpose> {
    const { desk, settler, signal } = this.#parts;
    // Cut off by our own stopping, it has not failed at all.
    if (signal.aborted) return this.#leaveWaiting(site, row);
    if (isRetryable(result.reason)) return this.#putBehind(site, row, result);
    assert(result.kind === "failed", "a busy response can be retried");
    const { reply } = result;
    if (reply?.truncated !== undefined && reply.body.length > 0)
      return this.#keeping(site, row, () => desk.keepPart(site, row, { ...result, reply }));
    settler.settle(site, row, result.reason, result.detail);
    return "error";
  }

  /** A page that finds no room in the archive has not been fetched; it comes again when there is. */
  async #keeping(site: Site, row: WaitingUrl, keep: () => Promise<Purpose>): Promise<Purpose> {
    try {
      return await keep();
    } catch (error) {
      if (!isLackOfRoom(error)) throw error;
      this.#parts.batch.reportTrouble(error);
      return this.#leaveWaiting(site, row);
    }
  }

  #redirect(site: Site, row: WaitingUrl, result: FetchRedirect): "redirect" {
    const { settler } = this.#parts;
    const { reason, detail } = this.#follow(site, row, result);
    settler.settle(site, row, reason, detail);
    return "redirect";
  }

  #follow(site: Site, row: WaitingUrl, { to }: FetchRedirect): { reason: Reason; detail?: string } {
    const { intake, scope, settings } = this.#parts;
    const target = candidateOf(to);
    const knownId = intake.idOf(target);
    if (knownId === row.id || (knownId !== 0 && this.#isOnTheWayTo(row, knownId)))
      return { reason: "redirect_loop" };
    if (row.redirects >= settings.redirectsMax) return { reason: "redirect_limit" };
    const verdict = row.depth === 0 ? scope.decideSeed(to.url) : scope.decide(to.url);
    if (!verdict.accepted) return { reason: "out_of_scope", detail: verdict.rule };
    intake.admit([target], {
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
    const { batch } = this.#parts;
    let fromId = row.redirectedFromId;
    for (let hops = row.redirects; hops > 0 && fromId !== 0; hops--) {
      if (fromId === id) return true;
      fromId = batch.url(fromId)?.redirectedFromId ?? 0;
    }
    return false;
  }

  /** It is requested again later, behind the other URLs of its site. */
  #putBehind(site: Site, row: WaitingUrl, result: FetchFailed | FetchBusy): "retry" {
    const { clock, workbench, onDoubt } = this.#parts;
    const { reason } = result;
    const attempts = site.trials.get(row.id)?.attempts ?? row.attempts;
    const delayMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * RETRY_TIMES ** attempts);
    const notBeforeMs = clock.nowMs() + delayMs;
    const detail = result.kind === "failed" ? result.detail : `status ${result.reply.status}`;
    site.trials.set(row.id, { attempts, reason, detail, notBeforeMs });
    // The site responded: with a failure of this URL.
    if (whatItSays(reason) === "well") this.charge(site, [row.id]);
    if (!workbench.has(site.id)) return "retry";
    workbench.putBack(site.id, retryOf(row, notBeforeMs));
    if (workbench.queued(site.id) === workbench.retries(site.id)) onDoubt(site);
    return "retry";
  }

  #leaveWaiting(site: Site, row: WaitingUrl): "retry" {
    const { workbench } = this.#parts;
    if (workbench.has(site.id)) workbench.putBack(site.id, jobOf(row));
    return "retry";
  }
}
