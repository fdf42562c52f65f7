/**
 * Decides when a URL that has failed is requested again, and which failures count against it.
 *
 * A failed URL goes behind the other URLs of its site. It is charged an attempt only when the site responds to the
 * next request (`frontier/blame.ts`): a failure that is the site's costs its URLs nothing.
 */

import type { FetchBusy, FetchFailed } from "../fetch/fetcher.ts";
import { Blame } from "../frontier/blame.ts";
import { isOfSite, whatItSays } from "../frontier/site-mood.ts";
import type { Reason } from "../page/outcome.ts";
import type { WaitingUrl } from "../store/store.ts";
import type { CrawlContext } from "./context.ts";
import { type Request, requestFor, retryFor } from "./requests.ts";
import type { Site, Trial } from "./site.ts";

/** Pauses of 1, 4 and 16 s before the retries of a URL. */
const RETRY_FIRST_MS = 1000;
const RETRY_TIMES = 4;
const RETRY_MAX_MS = 60_000;

export class Retries {
  readonly #context: CrawlContext;
  readonly #blame = new Blame();

  constructor(context: CrawlContext) {
    this.#context = context;
  }

  /** A request is about to be sent. */
  begin(request: Request): void {
    request.moment = this.#blame.now();
  }

  /** Charges failures to URLs: that of the request, or earlier ones of URLs whose site has responded now. */
  learn({ site, row, moment }: Request, reason: Reason): void {
    const mood = whatItSays(reason);
    if (mood === "nothing") return;
    if (mood === "well") return this.#charge(site, this.#blame.responded(site.id, moment));
    // The first refusal may be due to the rate. A retry waits until the rate cannot be the cause (`found-rate.ts`).
    const isFirst = row !== undefined && !isRefused(site.trial(row.id));
    const isOfUrl = !isOfSite(reason) && !(mood === "busy" && isFirst);
    this.#blame.failed(site.id, moment, isOfUrl ? row?.id : undefined);
  }

  /** The URL is requested again later, behind the others of its site. */
  putBehind(site: Site, row: WaitingUrl, result: FetchFailed | FetchBusy): "retry" {
    const { clock, workbench, settings, emit } = this.#context;
    const known = site.trial(row.id);
    const attempts = known?.attempts ?? row.attempts;
    const detail = result.kind === "failed" ? result.detail : `status ${result.reply.status}`;
    const now = { reason: result.reason, detail };
    // A response that was charged says more about the URL than a timeout after it.
    const isVague = attempts > 0 && !now.reason.startsWith("http_");
    const { reason, detail: why } =
      isVague && known?.reason.startsWith("http_") === true ? known : now;
    // If this failure is charged, no attempt is left.
    const isLast = attempts >= settings.retriesMax;
    const timesFirst = isLast ? 1 : RETRY_TIMES ** attempts;
    const delayMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * timesFirst);
    const notBeforeMs = clock.nowMs() + delayMs;
    site.failed(row.id, { attempts, reason, detail: why, notBeforeMs });
    // The site responded, so the failure is that of the URL.
    if (whatItSays(result.reason) === "well") this.#charge(site, [row.id]);
    if (!workbench.has(site.id)) return "retry";
    workbench.putBack(site.id, retryFor(row, notBeforeMs));
    if (workbench.queued(site.id) === workbench.retries(site.id))
      emit({ kind: "siteDoubted", site });
    return "retry";
  }

  /** The URL waits as before: the failure was not its own. */
  leaveWaiting(site: Site, row: WaitingUrl): "retry" {
    const { workbench } = this.#context;
    if (workbench.has(site.id)) workbench.putBack(site.id, requestFor(row));
    return "retry";
  }

  /** The failures of these URLs were their own. */
  #charge(site: Site, urlIds: readonly number[]): void {
    for (const id of urlIds) {
      const trial = site.trial(id);
      if (trial === undefined) continue;
      // The first refusal was not charged when it happened.
      const attempts = trial.attempts + (isRefused(trial) && trial.attempts === 0 ? 2 : 1);
      site.failed(id, { ...trial, attempts });
      this.#context.batch.setAttempts(id, attempts);
      this.#context.emit({ kind: "urlCharged" });
    }
  }
}

/** Whether a URL has failed with 429 or 503. */
function isRefused(trial: Trial | undefined): boolean {
  return trial !== undefined && whatItSays(trial.reason) === "busy";
}
