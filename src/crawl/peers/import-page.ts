/**
 * Pages that cross the border: takes in what other processes fetched and what is ours by its content, as if
 * it had been fetched here.
 *
 * While a page is on its way into the archive its URL counts as under way, so nobody asks for it. A page
 * whose URL is being fetched here at this very moment has to wait: it will be sent again.
 */

import { assert } from "../../base/assert.ts";
import { isLackOfRoom } from "../../base/errors.ts";
import { NO_TRAFFIC } from "../../fetch/transport.ts";
import { decodeBody } from "../../fetch/decode.ts";
import type { FetchedPage } from "../../fetch/fetcher.ts";
import type { PageLetter, SentPage } from "../../exchange/page-letter.ts";
import type { Remark } from "../../page/page.ts";
import type { Store, WaitingUrl } from "../../store/store.ts";
import { siteOf } from "../../url/site.ts";
import { candidateFrom } from "./route-links.ts";
import type { Candidate, Intake } from "../admit.ts";
import type { Batch } from "../batch.ts";
import type { PageDesk } from "../page.ts";
import type { Placement } from "../topics/assign.ts";
import type { Reunion } from "./merge-url.ts";
import type { Roster } from "../sites.ts";

export interface CustomsParts {
  readonly store: Store;
  readonly batch: Batch;
  readonly roster: Roster;
  readonly intake: Intake;
  readonly reunion: Reunion;
  readonly desk: PageDesk;
  readonly decodedBytesMax: number;
  readonly isFetching: (urlId: number) => boolean;
}

/** A page as its owner gets it. */
export function sentPageOf(
  row: WaitingUrl,
  result: FetchedPage,
  { topic, confidence }: Placement,
): SentPage {
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

export class Customs {
  readonly #parts: CustomsParts;
  readonly #importing = new Set<number>();

  constructor(parts: CustomsParts) {
    this.#parts = parts;
  }

  isImporting(urlId: number): boolean {
    return this.#importing.has(urlId);
  }

  /** Calls `taken` in the go in which the page is noted, or found to be known. False: not now. */
  async takeIn({ page }: PageLetter, from: string, taken: () => void): Promise<boolean> {
    const { roster, desk } = this.#parts;
    const candidate = candidateFrom(page);
    const result = candidate === undefined ? undefined : await this.#resultOf(page);
    // Nothing that could be kept: a peer with other rules sent it.
    if (candidate === undefined || result === undefined) return this.#done(taken);
    const row = this.#rowFor(candidate, page);
    if (row === "known") return this.#done(taken);
    if (row === "busy") return false;
    const site = roster.of(siteOf(candidate.url));
    this.#importing.add(row.id);
    site.uses += 1;
    try {
      await desk.keep(site, row, result, { from, onNoted: taken });
      return true;
    } catch (error) {
      if (!isLackOfRoom(error)) throw error;
      // It is sent again, until there is room.
      this.#parts.batch.reportTrouble(error);
      return false;
    } finally {
      site.uses -= 1;
      this.#importing.delete(row.id);
    }
  }

  #done(taken: () => void): true {
    taken();
    this.#parts.batch.touch();
    return true;
  }

  /** The URL as one that waits; "known" when its page is here, "busy" when it must come again. */
  #rowFor(candidate: Candidate, page: SentPage): WaitingUrl | "known" | "busy" {
    const { batch, intake, reunion, isFetching } = this.#parts;
    const id = intake.idOf(candidate);
    const { depth, redirects } = page;
    const origin = { depth, redirects, from: undefined, fromDomain: undefined };
    if (id === 0) return intake.adopt(candidate, { ...origin, redirectedFromId: 0 });
    const known = batch.url(id);
    assert(known !== undefined, "a URL with an id is known");
    if (known.reason === "ok" || known.reason === "not_modified") return "known";
    if (known.reason !== undefined) {
      reunion.reopen(known);
      return "busy";
    }
    if (isFetching(id) || this.#importing.has(id)) return "busy";
    return { ...known, etag: "", lastModified: "" };
  }

  async #resultOf(page: SentPage): Promise<FetchedPage | undefined> {
    const { requestHead, status, statusText, httpVersion, headers, body } = page;
    const coding = headers.find(([name]) => name.toLowerCase() === "content-encoding")?.[1] ?? "";
    const decoded = await decodeBody(body, coding, this.#parts.decodedBytesMax);
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
