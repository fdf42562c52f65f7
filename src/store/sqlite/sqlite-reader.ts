/**
 * The read side of a store on disk, for the crawl itself and for read-only users.
 *
 * Long walks read some hundred rows at a time and keep nothing open in between: an open read would prevent
 * SQLite from restarting its log, and a commit may come between any two steps. Every statement converts its
 * errors to operator errors (`disk-trouble.ts`).
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { CrawlError } from "../../base/errors.ts";
import type { Reason } from "../../page/outcome.ts";
import type { PageRecord } from "../../page/page.ts";
import type { Visits } from "../../page/visits.ts";
import { bookedBytes } from "../batch.ts";
import type { EndedPage, SiteCounts, SiteQuery } from "../browse-query.ts";
import { explaining } from "../../base/disk-trouble.ts";
import { NEXT_PARCEL, URLS_BEHIND_SEEDS, URLS_OF_SITE, WAITING } from "./migrations.ts";
import {
  PAGE_COLUMNS,
  damagedRow,
  factKey,
  ledgerBefore,
  pageFrom,
  parcelSum,
  proven,
  roundFrom,
  siteSum,
  spellings,
  sumOfUrl,
  textSum,
  topicSum,
  visitSum,
} from "./sqlite-rows.ts";
import type { Row } from "./sqlite-rows.ts";
import { SqliteIndexes, type SeenPlace } from "./sqlite-indexes.ts";
import { NO_TOTALS } from "../store.ts";
import type {
  EndedUrl,
  Fingerprints,
  NumberedPage,
  OutgoingParcel,
  PageTopic,
  ReadableStore,
  SiteRow,
  Store,
} from "../store.ts";
import type { StoredUrl, Totals, WaitingUrl } from "../store.ts";
import type { Fingerprint } from "../../url/fingerprint.ts";

const SLICE_ROWS = 500;
/** Rows read by one query for ended URLs. */
const ROWS_READ_MAX = 200_000;
const URL_COLUMNS =
  "u.id, u.url, u.site, u.depth, u.redirected_from, u.redirects, u.sum, u.score, u.attempts, ";
const SITE_COLUMNS =
  "s.id, s.key, s.known, s.pending, s.pages, s.bytes, s.sitemaps_read, s.traps, s.sum, " +
  "r.status, r.text, r.fetched_at_ms, r.sum, ";
/** Those who look on may find a store that no newer Weir has opened for writing yet. */
const LEDGER_SINCE_VERSION = 2;
const ROUNDS_SINCE_VERSION = 3;
const TOPICS_SINCE_VERSION = 5;
const WRITTEN_SINCE_VERSION = 7;
const RATE_SINCE_VERSION = 8;
const VISIT_COLUMNS = "v.url, v.checks, v.changes, v.watched_ms, v.last_at_ms, v.was, v.sum";
/** The condition of a query for the page of a URL. */
const PAGE_OF_URL = "seq = (SELECT page FROM url WHERE id = ?)";
/** The condition of a query for sites: a part of the name, and a list of names as JSON that are left out. */
const MATCHING = "instr(key, ?) > 0 AND key NOT IN (SELECT value FROM json_each(?))";
const TOPIC_COLUMNS = "url, topic, confidence, node, sum";

export type OutboxState = Pick<Store, "nextParcelSeq" | "outboxCount" | "outboxBytes">;

export type OnDamagedRow = (damage: CrawlError) => void;

export class SqliteReader implements ReadableStore {
  /** When set, damaged rows are reported and left out instead of thrown. */
  onDamagedRow: OnDamagedRow | undefined;
  readonly #path: string;
  readonly #place: SeenPlace;
  #indexes: SqliteIndexes | undefined;
  readonly #database: DatabaseSync;
  /** By their text: each is prepared at its first use. */
  readonly #statements = new Map<string, StatementSync>();
  readonly #sites: string;
  readonly #urls: string;
  readonly #hasTopics: boolean;
  /** Names of the states met so far. */
  readonly #reasons = new Map<number, Reason>();

  constructor(path: string, database: DatabaseSync, place: SeenPlace) {
    this.#path = path;
    this.#place = place;
    this.#database = database;
    const version = this.#first("PRAGMA user_version") as number;
    const written = version < WRITTEN_SINCE_VERSION ? "NULL" : "u.written";
    const ledger = version < LEDGER_SINCE_VERSION ? "''" : "s.ledger";
    const round = version < ROUNDS_SINCE_VERSION ? "''" : "s.round";
    this.#urls = URL_COLUMNS + written;
    const rate = version < RATE_SINCE_VERSION ? "''" : "s.rate";
    this.#sites = `SELECT ${SITE_COLUMNS}${ledger}, ${round}, ${rate}
      FROM site s LEFT JOIN robots r ON r.site = s.id`;
    this.#hasTopics = version >= TOPICS_SINCE_VERSION;
  }

  /** Opened at the first use. */
  get indexes(): SqliteIndexes {
    return (this.#indexes ??= explaining(
      this.#path,
      () => new SqliteIndexes(this.#path, this.#database, this, this.#place),
    ));
  }

  get totals(): Totals {
    const text = this.#metaValue("totals");
    if (text === undefined) return NO_TOTALS;
    const totals = JSON.parse(text) as Totals;
    return { ...totals, ledger: totals.ledger ?? ledgerBefore(totals.bytes) };
  }

  get marks(): Readonly<Record<string, number>> {
    const text = this.#metaValue("marks");
    return text === undefined ? {} : (JSON.parse(text) as Record<string, number>);
  }

  get lastPageSeq(): number {
    return this.lastId("page");
  }

  lookup(fingerprints: Fingerprints): Uint32Array {
    return this.indexes.lookup(fingerprints);
  }

  pageWithDigest(digest: Uint8Array): number | undefined {
    return this.indexes.pageWithDigest(digest);
  }

  recall(key: string): string | undefined {
    return this.#metaValue(factKey(key));
  }

  lastId(table: "url" | "site" | "page"): number {
    const id = table === "page" ? "seq" : "id";
    return (this.#first(`SELECT max(${id}) FROM ${table}`) as number | null) ?? 0;
  }

  waiting(siteId: number, countMax: number): WaitingUrl[] {
    const rows = this.#rows(
      `SELECT ${this.#urls}, p.etag, p.last_modified FROM url u LEFT JOIN page p ON p.seq = u.page
       WHERE u.site = ? AND u.state = ${WAITING} ORDER BY u.score DESC, u.id LIMIT ?`,
      siteId,
      countMax,
    );
    return rows.map((row) => ({
      ...urlFrom(row),
      etag: (row[10] as string | null) ?? "",
      lastModified: (row[11] as string | null) ?? "",
    }));
  }

  *sites(): Iterable<SiteRow> {
    const slice = `${this.#sites} WHERE s.id > ? ORDER BY s.id LIMIT ${SLICE_ROWS}`;
    for (const row of this.#slices(slice)) {
      const site = this.#whole(() => siteFrom(row));
      if (site !== undefined) yield site;
    }
  }

  sitesWithWork(afterId: number, countMax: number): SiteRow[] {
    const sql = `${this.#sites} WHERE s.pending > 0 AND s.id > ? ORDER BY s.id LIMIT ?`;
    return this.#rows(sql, afterId, countMax).map(siteFrom);
  }

  siteByKey(key: string): SiteRow | undefined {
    const [row] = this.#rows(`${this.#sites} WHERE s.key = ?`, key);
    return row === undefined ? undefined : siteFrom(row);
  }

  /** Only where the index over a site's URLs has been made. */
  ended(siteId: number, afterId: number, countMax: number): EndedUrl[] {
    const sql = `SELECT u.id, u.depth, p.wire_bytes, p.fetched_at_ms, p.etag, p.last_modified,
         ${VISIT_COLUMNS}, u.state
       FROM url u INDEXED BY ${URLS_OF_SITE}
         LEFT JOIN page p ON p.seq = u.page LEFT JOIN visit v ON v.url = u.id
       WHERE u.site = ? AND u.id > ? AND u.state <> ${WAITING} ORDER BY u.id LIMIT ?`;
    return this.#rows(sql, siteId, afterId, countMax).map((row) => ({
      id: row[0] as number,
      depth: row[1] as number,
      reason: this.#reasonAt(row[0] as number, row[13] as number) as Reason,
      wireBytes: (row[2] as number | null) ?? 0,
      fetchedAtMs: (row[3] as number | null) ?? 0,
      hasValidators: ((row[4] as string | null) ?? "") !== "" || (row[5] ?? "") !== "",
      visits: visitsFrom(row.slice(6, 13)),
    }));
  }

  visits(id: number): Visits | undefined {
    const [row] = this.#rows(`SELECT ${VISIT_COLUMNS} FROM visit v WHERE v.url = ?`, id);
    return row === undefined ? undefined : visitsFrom(row);
  }

  /** Only where the index over a site's URLs has been made. */
  urlsOfSite(siteId: number, afterId: number, countMax: number): StoredUrl[] {
    const sql = `SELECT ${this.#urls}, u.state FROM url u INDEXED BY ${URLS_OF_SITE}
       WHERE u.site = ? AND u.id > ? ORDER BY u.id LIMIT ?`;
    return this.#rows(sql, siteId, afterId, countMax).map((row) => this.#storedUrl(row));
  }

  /** Reads of each parcel no more than its place: SQLite knows the length without the bytes. */
  readOutbox(): OutboxState {
    const sums = "SELECT count(*), total(length(body)), max(seq) FROM outbox";
    const [[count = 0, bytes = 0, last] = []] = this.#rows(sums);
    const text = this.#metaValue(NEXT_PARCEL) ?? "1";
    const nextParcelSeq = Number(text);
    if (!Number.isSafeInteger(nextParcelSeq) || nextParcelSeq <= Number(last ?? 0))
      throw damagedRow("meta", NEXT_PARCEL);
    return { nextParcelSeq, outboxCount: count as number, outboxBytes: bytes as number };
  }

  outbox(afterSeq: number, countMax: number): OutgoingParcel[] {
    const sql = "SELECT seq, node, body, sum FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?";
    return this.#rows(sql, afterSeq, countMax).map(parcelFrom);
  }

  url(id: number): StoredUrl | undefined {
    const sql = `SELECT ${this.#urls}, u.state FROM url u WHERE u.id = ?`;
    const [row] = this.#rows(sql, id);
    return row === undefined ? undefined : this.#whole(() => this.#storedUrl(row));
  }

  *urls(): Iterable<StoredUrl> {
    const slice = `SELECT ${this.#urls}, u.state FROM url u
      WHERE u.id > ? ORDER BY u.id LIMIT ${SLICE_ROWS}`;
    let id = 0;
    for (const row of this.#slices(slice)) {
      // Ids have no gaps; a row that is not there was lost with its neighbours' order.
      id += 1;
      if (row[0] !== id) {
        this.#whole(() => {
          throw damagedRow("url", id);
        });
        id = row[0] as number;
      }
      const url = this.#whole(() => this.#storedUrl(row));
      if (url !== undefined) yield url;
    }
  }

  *seedTargets(): Iterable<string> {
    const slice = `SELECT ${this.#urls} FROM url u INDEXED BY ${URLS_BEHIND_SEEDS}
       WHERE u.depth = 0 AND u.redirects > 0 AND u.id > ? ORDER BY u.id LIMIT ${SLICE_ROWS}`;
    for (const row of this.#slices(slice)) yield provenUrl(row);
  }

  page(id: number): PageRecord | undefined {
    const [row] = this.#rows(`SELECT ${PAGE_COLUMNS} FROM page WHERE ${PAGE_OF_URL}`, id);
    return row === undefined ? undefined : this.#whole(() => pageFrom(row));
  }

  *pages(): Iterable<PageRecord> {
    for (const { page } of this.pagesAfter(0)) yield page;
  }

  *pagesAfter(seq: number): Iterable<NumberedPage> {
    const slice = `SELECT ${PAGE_COLUMNS} FROM page WHERE seq > ? ORDER BY seq LIMIT ${SLICE_ROWS}`;
    for (const row of this.#slices(slice, seq)) {
      const page = this.#whole(() => pageFrom(row));
      if (page !== undefined) yield { seq: row[0] as number, page };
    }
  }

  /** Of the page that the URL has now. */
  digestOf(id: number): Uint8Array | undefined {
    return this.#first(`SELECT digest FROM page WHERE ${PAGE_OF_URL}`, id) as
      | Uint8Array
      | undefined;
  }

  leastPages(countMax: number): Fingerprint[] {
    // Halves are kept as SQLite's integers of 32 bits, with a sign.
    const [high, low] = ["high", "low"].map((half) => `url.${half} & 4294967295`);
    const least = `SELECT ${high}, ${low} FROM page JOIN url ON url.id = page.url
      ORDER BY 1, 2 LIMIT ?`;
    return this.#rows(least, countMax).map((row) => ({
      high: row[0] as number,
      low: row[1] as number,
    }));
  }

  topicOf(id: number): PageTopic | undefined {
    if (!this.#hasTopics) return undefined;
    const [row] = this.#rows(`SELECT ${TOPIC_COLUMNS} FROM page_topic WHERE url = ?`, id);
    return row === undefined ? undefined : topicFrom(row);
  }

  *pageTopics(): Iterable<PageTopic> {
    if (!this.#hasTopics) return;
    const slice = `SELECT ${TOPIC_COLUMNS} FROM page_topic
      WHERE url > ? ORDER BY url LIMIT ${SLICE_ROWS}`;
    for (const row of this.#slices(slice)) yield topicFrom(row);
  }

  /** Makes a record of a row; undefined for a damaged one that has been reported. */
  #whole<T>(make: () => T): T | undefined {
    try {
      return make();
    } catch (error) {
      if (this.onDamagedRow === undefined || !(error instanceof CrawlError)) throw error;
      this.onDamagedRow(error);
      return undefined;
    }
  }

  #metaValue(key: string): string | undefined {
    const [row] = this.#rows("SELECT value, sum FROM meta WHERE key = ?", key);
    if (row === undefined) return undefined;
    const text = row[0] as string;
    return proven("meta", key, () => (textSum(text) === row[1] ? text : undefined));
  }

  #storedUrl(row: Row): StoredUrl {
    return { ...urlFrom(row), reason: this.#reasonAt(row[0] as number, row[10] as number) };
  }

  #reasonAt(id: number, state: number): Reason | undefined {
    if (state === WAITING) return undefined;
    const known = this.#reasons.get(state);
    if (known !== undefined) return known;
    const name = this.#first("SELECT name FROM state WHERE id = ?", state);
    if (name === undefined) throw damagedRow("url", id);
    this.#reasons.set(state, name as Reason);
    return name as Reason;
  }

  /** Number of matching sites. */
  countSites({ find, without }: Pick<SiteQuery, "find" | "without">): number {
    const counted = `SELECT count(*) FROM site WHERE ${MATCHING}`;
    return this.#first(counted, find, JSON.stringify(without)) as number;
  }

  siteCounts({ order, descending, find, without, from, count }: SiteQuery): SiteCounts[] {
    const column = order === "site" ? "key" : order;
    const direction = descending ? "DESC" : "ASC";
    const sql = `SELECT key, known, pending, pages, bytes FROM site WHERE ${MATCHING}
       ORDER BY ${column} ${direction}, id LIMIT ? OFFSET ?`;
    const rows = this.#rows(sql, find, JSON.stringify(without), count, from);
    return rows.map(([site, known, pending, pages, bytes]) => {
      return { site, known, pending, pages, bytes } as SiteCounts;
    });
  }

  /**
   * URLs with this outcome and an id above `afterId`, in order of id. Reads a bounded number of rows, so that a rare
   * outcome among ten million URLs takes many short queries instead of a long one.
   */
  urlsWith(reason: string, afterId: number, count: number): EndedPage {
    const untilId = afterId + ROWS_READ_MAX;
    const sql = `SELECT id FROM url WHERE id > ? AND id <= ?
         AND state = (SELECT id FROM state WHERE name = ?) ORDER BY id LIMIT ?`;
    const ids = this.#rows(sql, afterId, untilId, reason, count);
    const urls = ids.flatMap(([id]) => this.url(id as number) ?? []);
    const readUntilId = urls.length < count ? untilId : (urls.at(-1)?.id ?? untilId);
    return { urls, nextAfterId: readUntilId >= this.lastId("url") ? undefined : readUntilId };
  }

  async close(): Promise<void> {
    this.#indexes?.close();
    this.#database.close();
  }

  #rows(sql: string, ...values: (string | number)[]): Row[] {
    return explaining(this.#path, () => {
      let statement = this.#statements.get(sql);
      if (statement === undefined) {
        statement = this.#database.prepare(sql, { returnArrays: true });
        this.#statements.set(sql, statement);
      }
      return statement.all(...values) as unknown as Row[];
    });
  }

  /** The first column of the first row. */
  #first(sql: string, ...values: (string | number)[]): Row[number] | undefined {
    return this.#rows(sql, ...values)[0]?.[0];
  }

  /** All rows, in order of their first column. */
  *#slices(sql: string, from = 0): Iterable<Row> {
    for (let after = from; ;) {
      const rows = this.#rows(sql, after);
      yield* rows;
      if (rows.length < SLICE_ROWS) return;
      after = rows.at(-1)?.[0] as number;
    }
  }
}

/** What a waiting and an ended URL have in common. */
function urlFrom(row: Row) {
  return {
    id: row[0] as number,
    url: provenUrl(row),
    written: writtenIn(row),
    siteId: row[2] as number,
    depth: row[3] as number,
    score: row[7] as number,
    attempts: row[8] as number,
    redirectedFromId: row[4] as number,
    redirects: row[5] as number,
  };
}

function provenUrl(row: Row): string {
  const url = row[1] as string;
  return proven("url", row[0] as number, () => {
    const origin = (row[4] as number) ^ ((row[5] as number) << 24);
    const texts = spellings(url, writtenIn(row));
    const sum = sumOfUrl(texts, row[2] as number, row[3] as number, origin);
    return sum === row[6] ? url : undefined;
  });
}

function writtenIn(row: Row): string | undefined {
  return (row[9] as string | null) ?? undefined;
}

function siteFrom(row: Row): SiteRow {
  return proven("site", row[0] as number, () => {
    const site = unprovenSite(row);
    const { robots } = site;
    const isGood =
      siteSum(site, row[13] as string, row[14] as string) === row[8] &&
      bookedBytes(site.ledger) <= site.bytes &&
      (robots === undefined || textSum(robots.text) === row[12]);
    return isGood ? site : undefined;
  });
}

function unprovenSite(row: Row): SiteRow {
  const bytes = row[5] as number;
  const status = row[9] as number | null;
  const ledger = row[13] as string;
  return {
    id: row[0] as number,
    key: row[1] as string,
    known: row[2] as number,
    pending: row[3] as number,
    pages: row[4] as number,
    bytes,
    ledger: ledger === "" ? ledgerBefore(bytes) : (JSON.parse(ledger) as SiteRow["ledger"]),
    robots:
      status === null
        ? undefined
        : { status, text: row[10] as string, fetchedAtMs: row[11] as number },
    sitemapsRead: row[6] === 1,
    traps: row[7] as string,
    rate: row[15] as string,
    round: roundFrom(row[14] as string),
  };
}

function parcelFrom([seq, to, body, sum]: Row): OutgoingParcel {
  return proven("outbox", seq as number, () => {
    const parcel = { seq, to, body } as OutgoingParcel;
    return parcelSum(parcel) === sum ? parcel : undefined;
  });
}

function topicFrom([id, topic, confidence, from, sum]: Row): PageTopic {
  return proven("page_topic", id as number, () => {
    const found = { id, topic, confidence, from } as PageTopic;
    return topicSum(found) === sum ? found : undefined;
  });
}

/** From a row of nothing but its columns; all of them are absent where a join found none. */
function visitsFrom(row: Row): Visits | undefined {
  const [url, checks, changes, watchedMs, lastAtMs, was, sum] = row;
  if (url === null) return undefined;
  return proven("visit", url as number, () =>
    visitSum(url as number, [checks, changes, watchedMs, lastAtMs, was]) === sum
      ? ({ checks, changes, watchedMs, lastAtMs, was } as Visits)
      : undefined,
  );
}
