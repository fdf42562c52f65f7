/**
 * Takes in pages that other processes fetched and whose content is ours, as if they had been fetched here.
 *
 * While a page is on its way into the archive its URL counts as under way, so it is not requested. A page whose
 * URL is being fetched here at this moment has to wait: it will be sent again.
 */

import { assert } from "../../base/assert.ts";
import { isLackOfRoom } from "../../base/errors.ts";
import { decodeBody } from "../../fetch/decode.ts";
import type { FetchedPage } from "../../fetch/fetcher.ts";
import { NO_TRAFFIC } from "../../fetch/transport.ts";
import type { PageMessage, SentPage } from "../../exchange/page-message.ts";
import type { Remark } from "../../page/page.ts";
import type { WaitingUrl } from "../../store/store.ts";
import { siteOf } from "../../url/site.ts";
import type { Admission } from "../admit.ts";
import type { Candidate } from "../candidate.ts";
import type { CrawlContext } from "../context.ts";
import type { PageStorage } from "../page.ts";
import type { Placement } from "../parse-page.ts";
import { candidateFrom, type UrlMerge } from "./merge-url.ts";

interface PageImportParts {
  readonly admission: Admission;
  readonly merge: UrlMerge;
  readonly pages: PageStorage;
}

/** A page as its owner gets it. */
export function sentPageOf({
  row,
  result,
  placement,
}: {
  readonly row: WaitingUrl;
  readonly result: FetchedPage;
  readonly placement: Placement;
}): SentPage {
  const { topic, confidence } = placement;
  const { reply, atMs, durationMs, address, contentType, etag, lastModified, remarks } = result;
  const { requestHead, status, statusText, httpVersion, headers, body } = reply;
  return {
    url: row.url,
    written: row.written,
    depth: row.depth,
    redirects: row.redirects,
    topic,
    confidence,
    atMs,
    durationMs,
    wireBytes: result.traffic.receivedBytes,
    address,
    requestHead,
    status,
    statusText,
    httpVersion,
    headers,
    contentType,
    etag,
    lastModified,
    remarks,
    body,
  };
}

export class PageImport {
  readonly #context: CrawlContext;
  readonly #parts: PageImportParts;

  constructor(context: CrawlContext, parts: PageImportParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** Calls `taken` in the tick in which the page is recorded, or found to be known. False: not now. */
  async takeIn({ page }: PageMessage, from: string, taken: () => void): Promise<boolean> {
    const { sites, requests, batch } = this.#context;
    const candidate = candidateFrom(page);
    const result = candidate === undefined ? undefined : await this.#resultOf(page);
    // It cannot be stored: a peer with other rules sent it.
    if (candidate === undefined || result === undefined) return this.#done(taken);
    const row = this.#rowFor(candidate, page);
    if (row === "known") return this.#done(taken);
    if (row === "busy") return false;
    const site = sites.of(siteOf(candidate.url));
    const request = requests.beginImport(site, row);
    try {
      const kept = await this.#parts.pages.keep(site, row, result, { from, onRecorded: taken });
      requests.end(request, kept === "retry" ? "queued" : "recorded");
      return kept !== "retry";
    } catch (error) {
      requests.end(request, "queued");
      if (!isLackOfRoom(error)) throw error;
      // It is sent again, until there is room.
      batch.reportTrouble(error);
      return false;
    }
  }

  #done(taken: () => void): true {
    taken();
    this.#context.batch.touch();
    return true;
  }

  /** The URL as one that waits; "known" when its page is here, "busy" when it must be sent again. */
  #rowFor(candidate: Candidate, page: SentPage): WaitingUrl | "known" | "busy" {
    const { batch, requests } = this.#context;
    const { admission, merge } = this.#parts;
    const id = batch.idOf(candidate);
    const { depth, redirects } = page;
    const origin = { depth, redirects, from: undefined, fromDomain: undefined };
    if (id === 0) return admission.adopt(candidate, { ...origin, redirectedFromId: 0 });
    const known = batch.url(id);
    assert(known !== undefined, "a URL with an id is known");
    if (known.reason === "ok" || known.reason === "not_modified") return "known";
    if (requests.isUnderWay(id)) return "busy";
    // Imported in the same tick: a URL that waited for the page to be sent again could be requested meanwhile.
    merge.reopen(known);
    const { reason: _, ...row } = known;
    return { ...row, etag: "", lastModified: "" };
  }

  async #resultOf(page: SentPage): Promise<FetchedPage | undefined> {
    const { requestHead, status, statusText, httpVersion, headers, body } = page;
    const coding = headers.find(([name]) => name.toLowerCase() === "content-encoding")?.[1] ?? "";
    const decoded = await decodeBody(body, coding, this.#context.settings.decodedBytesMax);
    if (decoded.kind === "failed") return undefined;
    const { atMs, durationMs, address, contentType, etag, lastModified } = page;
    return {
      kind: "page",
      reply: { requestHead, status, statusText, httpVersion, headers, body, truncated: undefined },
      body: decoded.body,
      contentType,
      etag,
      lastModified,
      remarks: page.remarks as readonly Remark[],
      atMs,
      durationMs,
      address,
      traffic: { ...NO_TRAFFIC, receivedBytes: page.wireBytes },
    };
  }
}
