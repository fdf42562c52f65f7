/**
 * Stores a page: parses it, archives it, and records it with its links and its outcome.
 *
 * Exact copies are found by digest, near copies by fingerprint. Everything after the write to the archive happens in
 * one tick, so that it is all in one commit (invariant 3).
 */

import { assert } from "../base/assert.ts";
import { CrawlError } from "../base/errors.ts";
import type { FetchedPage, FetchFailed, FetchNotModified, Reply } from "../fetch/fetcher.ts";
import type { Original, Worth } from "../frontier/traps.ts";
import type { Capture } from "../output/output.ts";
import type { PageIndex } from "../search/index-thread.ts";
import type { FreshLink } from "../page/links.ts";
import { NearIndex } from "../page/near-index.ts";
import type { ArchivePlace, Likeness, PageRecord, Remark } from "../page/page.ts";
import { textPlaceOf } from "../results/text-place.ts";
import type { WaitingUrl } from "../store/store.ts";
import { type CanonicalUrl, splitPath, writtenOf } from "../url/url.ts";
import type { Admission } from "./admit.ts";
import { entriesIn, NEAR } from "./allotments.ts";
import { candidateOf, type Origin } from "./candidate.ts";
import type { CrawlContext } from "./context.ts";
import { endUrl } from "./end-url.ts";
import type { AdmittedReading, Ordering } from "./ordering.ts";
import { LaterTurns } from "./later-turns.ts";
import { pageForHook, PageReader, type Placement, type Reading } from "./parse-page.ts";
import type { Site } from "./site.ts";

/** Store key, written by earlier versions: pages were requested in earlier rounds. */
const ROUNDS = "rounds";

/** What a page says of itself that makes it worthless. */
const WORTHLESS: readonly Remark[] = ["noindex", "login_wall"];

/** "retry": the crawl ended before the page was stored. */
type Kept = "page" | "duplicate" | "retry";

export class PageStorage {
  readonly #context: CrawlContext;
  readonly #admission: Admission;
  readonly #ordering: Ordering | undefined;
  readonly #reader: PageReader;
  /** undefined when near-duplicates are not looked for. */
  readonly #near: NearIndex | undefined;
  /** Whether a waiting URL may have a page from an earlier round. */
  readonly #hasEarlierRounds: boolean;
  readonly #turns: LaterTurns;
  /** Contents on their way to the archive, each with the copies that wait to refer to it. */
  readonly #underWay = new Map<string, (() => void)[]>();

  constructor(context: CrawlContext, admission: Admission, ordering: Ordering | undefined) {
    const { settings, store, topics, aside } = context;
    this.#context = context;
    this.#admission = admission;
    this.#ordering = ordering;
    this.#reader = new PageReader(settings, topics?.classifier, aside);
    this.#turns = new LaterTurns(context.clock, context.signal);
    this.#near = settings.nearDuplicates ? new NearIndex(entriesIn(settings, NEAR)) : undefined;
    this.#hasEarlierRounds = store.recall(ROUNDS) !== undefined;
  }

  /** Returns the purpose of the bytes. */
  async keep(site: Site, row: WaitingUrl, result: FetchedPage, foreign?: Foreign): Promise<Kept> {
    const { settings, ownership, topics, batch, sieve } = this.#context;
    if (ownership?.isOnlySampled(row.url) === true) {
      endUrl(this.#context, site, row, { reason: "sampled" });
      return "page";
    }
    const url = { url: row.url as CanonicalUrl, written: row.written };
    const read = this.#reader.read(url, result, (high, low) => sieve.has(high, low));
    const reading = read instanceof Promise ? await read : read;
    const placement = topics?.placing.place(reading);
    const owner = foreign === undefined ? ownership?.otherOwnerOf(placement?.bucket) : undefined;
    if (owner !== undefined && placement !== undefined && settings.boundary === "page") {
      // A boundary page is sent away with its content, and its owner follows its links.
      this.#context.emit({ kind: "foreignPage", row, result, owner, placement });
      endUrl(this.#context, site, row, { reason: "exported", detail: owner });
      return "page";
    }
    const content = Buffer.from(reading.digest).toString("latin1");
    // Of two equal pages in progress, the second waits, because it refers to the record of the first.
    for (;;) {
      const copies = this.#underWay.get(content);
      if (copies === undefined) break;
      await new Promise<void>((goOn) => copies.push(goOn));
    }
    const copiedId = batch.pageWithDigest(reading.digest);
    // A page that equals its own last version is unchanged, not a duplicate.
    const isUnchanged = copiedId === row.id;
    const likeness = isUnchanged ? undefined : this.#likenessOf(row.id, reading, copiedId);
    const page = { result, reading, copiedId, isUnchanged, likeness, placement, foreign, owner };
    if (copiedId !== undefined) return this.#keepReading(site, row, page);
    const copies: (() => void)[] = [];
    this.#underWay.set(content, copies);
    try {
      return await this.#keepReading(site, row, page);
    } finally {
      this.#underWay.delete(content);
      for (const goOn of copies) goOn();
    }
  }

  async #keepReading(site: Site, row: WaitingUrl, page: ReadPage): Promise<Kept> {
    const { hooks, output, index } = this.#context;
    const { result, reading, copiedId, isUnchanged, likeness, placement, foreign } = page;
    if (hooks.onPage !== undefined)
      await hooks.onPage(pageForHook(row, result, reading, likeness?.kind));
    const repeatsId = isUnchanged || likeness?.kind === "exact" ? copiedId : undefined;
    const firstNewId = this.#admission.nextUrlId;
    if ((await this.#admitLater(site, row, page)) === "cut off") return "retry";
    let archived: ArchivePlace | undefined;
    if (output !== undefined) {
      const capture = this.#captureOf(row, result, repeatsId);
      const isPlain = result.body === result.reply.body;
      archived = await output.write(isPlain ? { ...capture, bodyDigest: reading.digest } : capture);
    }
    const record = recordOf(row, page, archived);
    // An unchanged page is in the index, and the archive has its text at its first place.
    if (index !== undefined && !isUnchanged) await this.#takeInto(index, row, page, record);
    const earlier = this.#earlierOf(site, row);
    const firstLinkId = this.#admission.nextUrlId;
    this.#addPage(site, row, record, earlier);
    const hasChanged = earlier && Buffer.compare(earlier.digest, record.digest) !== 0;
    endUrl(this.#context, site, row, { reason: "ok", hasChanged });
    this.#recordTopic(row.id, page);
    if (earlier === undefined && placement !== undefined) {
      const { url } = row;
      const isImported = foreign !== undefined;
      this.#context.emit({ kind: "pageClassified", url, reading, placement, isImported });
    }
    // The links of a trap's copies differ only because they are relative to another URL.
    if (this.#isTemplate(site, likeness))
      this.#context.counters.refused("trap_duplicates", reading.fresh.length);
    else if (page.owner !== undefined) this.#sendLinks(page.owner, row, reading);
    else this.#admitLinks(site, row, { ...reading, firstNewId });
    if (earlier === undefined && reading.later === undefined)
      this.#learnWorth(site, row, record, firstLinkId);
    foreign?.onRecorded();
    return repeatsId === undefined ? "page" : "duplicate";
  }

  #isTemplate(site: Site, likeness: Likeness | undefined): boolean {
    return likeness?.kind === "exact" && this.#context.traps.isSuspect(site.id);
  }

  /**
   * Takes the links of a page beyond the first 2,000, a portion at a time, each committed on its own before the
   * page: a batch of the store is bounded however many links a page has. A kill in between leaves the page
   * waiting, and its links are known when it is fetched again.
   */
  async #admitLater(site: Site, row: WaitingUrl, page: ReadPage): Promise<"taken" | "cut off"> {
    const { later } = page.reading;
    if (later === undefined) return "taken";
    if (this.#isTemplate(site, page.likeness)) {
      this.#context.counters.refused("trap_duplicates", later.count);
      return "taken";
    }
    const portions = later.portions();
    for (let isDone = false; !isDone;)
      await this.#turns.take(() => {
        const portion = this.#context.signal.aborted ? undefined : portions.next().value;
        if (portion === undefined) isDone = true;
        else this.#takePortion(site, row, page, portion);
      });
    return this.#context.signal.aborted ? "cut off" : "taken";
  }

  #takePortion(site: Site, row: WaitingUrl, page: ReadPage, portion: FreshLink[]): void {
    const { batch, counters } = this.#context;
    const links = portion.filter((link) => !link.nofollow);
    counters.refused("nofollow", portion.length - links.length);
    this.#ordering?.linking?.(row.url, page.reading);
    if (page.owner === undefined) this.#admission.admit(links, originOf(site, row));
    else this.#sendLinks(page.owner, row, { fresh: links, refresh: undefined });
    // The batch waits until there is room, and the page is fetched again then.
    if (!batch.commit()) throw new CrawlError("DISK_FULL", "no room for the links of a page");
  }

  /** The page is stored here, and the owner of its content follows its links. */
  #sendLinks(
    owner: string,
    row: WaitingUrl,
    { fresh, refresh }: Pick<Reading, "fresh" | "refresh">,
  ): void {
    const isEndless = row.redirects >= this.#reader.redirectsMax;
    const target = refresh === undefined || isEndless ? undefined : candidateOf(refresh);
    this.#context.emit({ kind: "foreignLinks", row, owner, links: fresh, refresh: target });
  }

  #recordTopic(id: number, { placement, foreign }: ReadPage): void {
    if (placement === undefined) return;
    const { topic, confidence } = placement;
    this.#context.batch.setTopic({ id, topic, confidence, from: foreign?.from ?? "" });
  }

  /** Waits if the index is behind; the page is recorded right after, so that store and index agree. */
  #takeInto(
    index: PageIndex,
    row: WaitingUrl,
    { reading, placement }: ReadPage,
    record: PageRecord,
  ): Promise<void> {
    const { id, title, language, fetchedAtMs, digest } = record;
    return index.take({
      id,
      title,
      language,
      fetchedAtMs,
      digest,
      url: writtenOf(row),
      topic: placement?.topic ?? "",
      text: reading.text,
      archived: textPlaceOf(this.#context.batch, record),
    });
  }

  /** The server answered 304: the record stays, with a new date. */
  async confirm(site: Site, row: WaitingUrl, result: FetchNotModified): Promise<"duplicate"> {
    const { output, batch, counters } = this.#context;
    const earlier = batch.page(row.id);
    assert(earlier !== undefined, "a conditional request is for a page that was fetched");
    await output?.write(this.#captureOf(row, result, row.id, "not_modified"));
    batch.addPage({ ...earlier, fetchedAtMs: result.atMs, durationMs: result.durationMs });
    counters.confirmed();
    endUrl(this.#context, site, row, { reason: "not_modified", hasChanged: false });
    return "duplicate";
  }

  /** Archives the part of a response that was received before it broke off; its URL has failed. */
  async keepPart(
    site: Site,
    row: WaitingUrl,
    result: FetchFailed & { readonly reply: Reply },
  ): Promise<"error"> {
    await this.#context.output?.write(this.#captureOf(row, result, undefined));
    endUrl(this.#context, site, row, result);
    return "error";
  }

  /** `earlier` is the record of an earlier round, which is replaced. */
  #addPage(site: Site, row: WaitingUrl, record: PageRecord, earlier: PageRecord | undefined): void {
    const { batch, counters, traps } = this.#context;
    batch.addPage(record);
    counters.stored(record, earlier);
    if (earlier !== undefined) return;
    site.pageStored();
    const place = { siteId: site.id, ...splitPath(row.url) };
    traps.recordPage(place, this.#originalOf(site, record.likeness));
  }

  /** Learns what a new page was worth, after its links have been admitted: their ids begin with `firstNewId`. */
  #learnWorth(site: Site, row: WaitingUrl, record: PageRecord, firstNewId: number): void {
    const { traps, batch, emit } = this.#context;
    if (row.depth === 0) return;
    const place = { siteId: site.id, ...splitPath(row.url) };
    const worth = worthOf(this.#originalOf(site, record.likeness), record.remarks);
    // A page that is no content may list pages that are.
    if (worth !== "content")
      for (let id = firstNewId; id < this.#admission.nextUrlId; id++) {
        const found = batch.url(id);
        if (found !== undefined && traps.leadsTo(place, splitPath(found.url))) return;
      }
    if (traps.recordWorth(place, worth)) emit({ kind: "shapeWorthless", site });
  }

  /** The record of the URL from an earlier round. */
  #earlierOf(site: Site, row: WaitingUrl): PageRecord | undefined {
    const hasEarlier = this.#hasEarlierRounds || site.round.number > 1;
    return hasEarlier ? this.#context.batch.page(row.id) : undefined;
  }

  /** The page of the same site that this one repeats, for the detection of traps. */
  #originalOf(site: Site, likeness: Likeness | undefined): Original | undefined {
    if (likeness === undefined || likeness.kind === "not_modified") return undefined;
    const original = this.#context.batch.url(likeness.ofId);
    if (original === undefined || original.siteId !== site.id) return undefined;
    return { ...splitPath(original.url), likeness: likeness.kind };
  }

  #likenessOf(id: number, reading: Reading, copiedId: number | undefined): Likeness | undefined {
    if (copiedId !== undefined) return { kind: "exact", ofId: copiedId };
    const near = this.#near;
    if (near === undefined || (reading.nearHigh === 0 && reading.nearLow === 0)) return undefined;
    const ofId = near.find(reading.nearHigh, reading.nearLow);
    near.put(reading.nearHigh, reading.nearLow, id);
    return ofId === undefined || ofId === id ? undefined : { kind: "near", ofId };
  }

  #admitLinks(site: Site, row: WaitingUrl, reading: AdmittedReading): void {
    const { counters } = this.#context;
    for (const [rule, count] of Object.entries(reading.refusedLinks)) counters.refused(rule, count);
    this.#ordering?.linking?.(row.url, reading);
    const origin = originOf(site, row);
    if (reading.fresh.length > 0) this.#admission.admit(reading.fresh, origin);
    if (reading.refresh !== undefined) {
      const target = candidateOf(reading.refresh);
      // A refresh in a page is a redirect, with the same limit.
      const isEndless = row.redirects >= this.#reader.redirectsMax;
      if (isEndless) counters.refused("redirect_limit");
      else
        this.#admission.admit([target], {
          ...origin,
          redirectedFromId: row.id,
          redirects: row.redirects + 1,
        });
    }
    this.#ordering?.linked(row.id, reading);
  }

  #captureOf(
    row: WaitingUrl,
    result: (FetchedPage | FetchNotModified | FetchFailed) & { readonly reply: Reply },
    repeatsId: number | undefined,
    kind: "exact" | "not_modified" = "exact",
  ): Capture {
    const { batch } = this.#context;
    const repeated = repeatsId === undefined ? undefined : batch.page(repeatsId);
    const repeatedRow = repeatsId === undefined ? undefined : batch.url(repeatsId);
    return {
      ...result.reply,
      url: writtenOf(row),
      atMs: result.atMs,
      address: result.address,
      repeats:
        repeated === undefined || repeatedRow === undefined || repeatsId === undefined
          ? undefined
          : {
              likeness: { kind, ofId: repeatsId },
              url: writtenOf(repeatedRow),
              atMs: repeated.fetchedAtMs,
            },
    };
  }
}

/** A page that its site asks not to index was not made for readers. */
function worthOf(original: Original | undefined, remarks: readonly Remark[]): Worth {
  if (original?.likeness === "exact" || remarks.some((remark) => WORTHLESS.includes(remark)))
    return "worthless";
  return original === undefined ? "content" : "near copy";
}

/** A page that another process fetched; `onRecorded` is called in the tick that records it. */
interface Foreign {
  readonly from: string;
  readonly onRecorded: () => void;
}

interface ReadPage {
  /** The process that follows its links, if it owns the content and the page is stored here. */
  readonly owner: string | undefined;
  readonly placement: Placement | undefined;
  readonly foreign: Foreign | undefined;
  readonly result: FetchedPage;
  readonly reading: Reading;
  /** The page that had the same content first. */
  readonly copiedId: number | undefined;
  readonly isUnchanged: boolean;
  readonly likeness: Likeness | undefined;
}

function originOf(site: Site, row: WaitingUrl): Origin {
  return {
    depth: row.depth + 1,
    from: row.url as CanonicalUrl,
    fromDomain: site.domain,
    redirectedFromId: 0,
    redirects: 0,
  };
}

function recordOf(
  row: WaitingUrl,
  { result, reading, likeness }: ReadPage,
  archived: ArchivePlace | undefined,
): PageRecord {
  return {
    id: row.id,
    status: result.reply.status,
    fetchedAtMs: result.atMs,
    durationMs: Math.round(result.durationMs),
    wireBytes: result.traffic.receivedBytes,
    bodyBytes: result.body.length,
    contentType: result.contentType,
    charset: reading.charset,
    title: reading.title,
    language: reading.language,
    digest: reading.digest,
    nearHigh: reading.nearHigh,
    nearLow: reading.nearLow,
    etag: result.etag,
    lastModified: result.lastModified,
    likeness,
    remarks: reading.remarks,
    links: reading.links,
    archived,
  };
}
