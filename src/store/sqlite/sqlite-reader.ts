/**
 * The reading half of the SQLite store, the same for the crawl itself and for those who look on.
 *
 * Long walks read some hundred rows at a time and keep nothing open in between: an open read would
 * hold SQLite's log at its length, and a commit may come between any two steps.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { CrawlError } from "../../base/errors.ts";
import type { Reason } from "../../page/outcome.ts";
import type { PageRecord } from "../../page/page.ts";
import type { Visits } from "../../page/visits.ts";
import { bookedBytes } from "../batch.ts";
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
import { NO_TOTALS } from "../store.ts";
import type {
  EndedUrl,
  NumberedPage,
  OutgoingParcel,
  PageTopic,
  SiteRow,
  Store,
} from "../store.ts";
import type { StoredUrl, Totals, WaitingUrl } from "../store.ts";
import type { Fingerprint } from "../../url/fingerprint.ts";

const SLICE_ROWS = 500;
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
const VISIT_COLUMNS = "v.url, v.checks, v.changes, v.watched_ms, v.last_at_ms, v.was, v.sum";
const TOPIC_COLUMNS = "url, topic, confidence, node, sum";

export type OutboxState = Pick<Store, "nextParcelSeq" | "outboxCount" | "outboxBytes">;

export type OnDamagedRow = (damage: CrawlError) => void;

export class SqliteReader {
  /** When set, damaged rows are reported and left out instead of thrown. */
  onDamagedRow: OnDamagedRow | undefined;
  readonly #database: DatabaseSync;
  readonly #waiting: StatementSync;
  readonly #url: StatementSync;
  readonly #page: StatementSync;
  readonly #digest: StatementSync;
  readonly #sites: string;
  readonly #siteByKey: StatementSync;
  readonly #sitesWithWork: StatementSync;
  readonly #meta: StatementSync;
  #ended: StatementSync | undefined;
  #visits: StatementSync | undefined;
  #urlsOfSite: StatementSync | undefined;
  #outbox: StatementSync | undefined;
  #topic: StatementSync | undefined;
  readonly #hasTopics: boolean;
  readonly #urlColumns: string;
  readonly #lastIds: Readonly<Record<"url" | "site" | "page", StatementSync>>;
  /** Names of the states met so far. */
  readonly #reasons = new Map<number, Reason>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    const version = first(this.#prepare("PRAGMA user_version")) as number;
    this.#urlColumns = URL_COLUMNS + (version < WRITTEN_SINCE_VERSION ? "NULL" : "u.written");
    this.#waiting = this.#prepare(
      `SELECT ${this.#urlColumns}, p.etag, p.last_modified FROM url u LEFT JOIN page p ON p.seq = u.page
       WHERE u.site = ? AND u.state = ${WAITING} ORDER BY u.score DESC, u.id LIMIT ?`,
    );
    this.#url = this.#prepare(`SELECT ${this.#urlColumns}, u.state FROM url u WHERE u.id = ?`);
    this.#page = this.#prepare(
      `SELECT ${PAGE_COLUMNS} FROM page WHERE seq = (SELECT page FROM url WHERE id = ?)`,
    );
    this.#digest = this.#prepare(
      `SELECT digest FROM page WHERE seq = (SELECT page FROM url WHERE id = ?)`,
    );
    this.#hasTopics = version >= TOPICS_SINCE_VERSION;
    const ledger = version < LEDGER_SINCE_VERSION ? "''" : "s.ledger";
    const round = version < ROUNDS_SINCE_VERSION ? "''" : "s.round";
    this.#sites = `SELECT ${SITE_COLUMNS}${ledger}, ${round}
      FROM site s LEFT JOIN robots r ON r.site = s.id`;
    this.#siteByKey = this.#prepare(`${this.#sites} WHERE s.key = ?`);
    this.#sitesWithWork = this.#prepare(
      `${this.#sites} WHERE s.pending > 0 AND s.id > ? ORDER BY s.id LIMIT ?`,
    );
    this.#lastIds = {
      url: this.#prepare("SELECT max(id) FROM url"),
      site: this.#prepare("SELECT max(id) FROM site"),
      page: this.#prepare("SELECT max(seq) FROM page"),
    };
    this.#meta = this.#prepare("SELECT value, sum FROM meta WHERE key = ?");
  }

  readTotals(): Totals {
    const text = this.#metaValue("totals");
    if (text === undefined) return NO_TOTALS;
    const totals = JSON.parse(text) as Totals;
    return { ...totals, ledger: totals.ledger ?? ledgerBefore(totals.bytes) };
  }

  readMarks(): Readonly<Record<string, number>> {
    const text = this.#metaValue("marks");
    return text === undefined ? {} : (JSON.parse(text) as Record<string, number>);
  }

  recall(key: string): string | undefined {
    return this.#metaValue(factKey(key));
  }

  lastId(table: "url" | "site" | "page"): number {
    return (first(this.#lastIds[table]) as number | null) ?? 0;
  }

  waiting(siteId: number, countMax: number): WaitingUrl[] {
    return rowsOf(this.#waiting, siteId, countMax).map((row) => {
      return {
        id: row[0] as number,
        url: provenUrl(row),
        written: writtenIn(row),
        siteId,
        depth: row[3] as number,
        score: row[7] as number,
        attempts: row[8] as number,
        redirectedFromId: row[4] as number,
        redirects: row[5] as number,
        etag: (row[10] as string | null) ?? "",
        lastModified: (row[11] as string | null) ?? "",
      };
    });
  }

  *sites(): Iterable<SiteRow> {
    const slice = this.#prepare(`${this.#sites} WHERE s.id > ? ORDER BY s.id LIMIT ${SLICE_ROWS}`);
    for (const row of slices(slice)) {
      const site = this.#whole(() => siteFrom(row));
      if (site !== undefined) yield site;
    }
  }

  sitesWithWork(afterId: number, countMax: number): SiteRow[] {
    return rowsOf(this.#sitesWithWork, afterId, countMax).map(siteFrom);
  }

  siteByKey(key: string): SiteRow | undefined {
    const [row] = rowsOf(this.#siteByKey, key);
    return row === undefined ? undefined : siteFrom(row);
  }

  /** Only where the index over a site's URLs has been made. */
  ended(siteId: number, afterId: number, countMax: number): EndedUrl[] {
    this.#ended ??= this.#prepare(
      `SELECT u.id, u.depth, p.wire_bytes, p.fetched_at_ms, p.etag, p.last_modified,
         ${VISIT_COLUMNS}, u.state
       FROM url u INDEXED BY ${URLS_OF_SITE}
         LEFT JOIN page p ON p.seq = u.page LEFT JOIN visit v ON v.url = u.id
       WHERE u.site = ? AND u.id > ? AND u.state <> ${WAITING} ORDER BY u.id LIMIT ?`,
    );
    return rowsOf(this.#ended, siteId, afterId, countMax).map((row) => ({
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
    this.#visits ??= this.#prepare(`SELECT ${VISIT_COLUMNS} FROM visit v WHERE v.url = ?`);
    const [row] = rowsOf(this.#visits, id);
    return row === undefined ? undefined : visitsFrom(row);
  }

  /** Only where the index over a site's URLs has been made. */
  urlsOfSite(siteId: number, afterId: number, countMax: number): StoredUrl[] {
    this.#urlsOfSite ??= this.#prepare(
      `SELECT ${this.#urlColumns}, u.state FROM url u INDEXED BY ${URLS_OF_SITE}
       WHERE u.site = ? AND u.id > ? ORDER BY u.id LIMIT ?`,
    );
    return rowsOf(this.#urlsOfSite, siteId, afterId, countMax).map((row) => this.#urlFrom(row));
  }

  /** Reads of each parcel no more than its place: SQLite knows the length without the bytes. */
  readOutbox(): OutboxState {
    const sums = this.#prepare("SELECT count(*), total(length(body)), max(seq) FROM outbox");
    const [[count = 0, bytes = 0, last] = []] = rowsOf(sums);
    const text = this.#metaValue(NEXT_PARCEL) ?? "1";
    const nextParcelSeq = Number(text);
    if (!Number.isSafeInteger(nextParcelSeq) || nextParcelSeq <= Number(last ?? 0))
      throw damagedRow("meta", NEXT_PARCEL);
    return { nextParcelSeq, outboxCount: count as number, outboxBytes: bytes as number };
  }

  outbox(afterSeq: number, countMax: number): OutgoingParcel[] {
    this.#outbox ??= this.#prepare(
      "SELECT seq, node, body, sum FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?",
    );
    return rowsOf(this.#outbox, afterSeq, countMax).map(parcelFrom);
  }

  url(id: number): StoredUrl | undefined {
    const [row] = rowsOf(this.#url, id);
    return row === undefined ? undefined : this.#whole(() => this.#urlFrom(row));
  }

  *urls(): Iterable<StoredUrl> {
    const slice = this.#prepare(
      `SELECT ${this.#urlColumns}, u.state FROM url u WHERE u.id > ? ORDER BY u.id LIMIT ${SLICE_ROWS}`,
    );
    let id = 0;
    for (const row of slices(slice)) {
      // Ids have no gaps; a row that is not there was lost with its neighbours' order.
      id += 1;
      if (row[0] !== id) {
        this.#whole(() => {
          throw damagedRow("url", id);
        });
        id = row[0] as number;
      }
      const url = this.#whole(() => this.#urlFrom(row));
      if (url !== undefined) yield url;
    }
  }

  *seedTargets(): Iterable<string> {
    const slice = this.#prepare(
      `SELECT ${this.#urlColumns} FROM url u INDEXED BY ${URLS_BEHIND_SEEDS}
       WHERE u.depth = 0 AND u.redirects > 0 AND u.id > ? ORDER BY u.id LIMIT ${SLICE_ROWS}`,
    );
    for (const row of slices(slice)) yield provenUrl(row);
  }

  page(id: number): PageRecord | undefined {
    const [row] = rowsOf(this.#page, id);
    return row === undefined ? undefined : this.#whole(() => pageFrom(row));
  }

  *pagesAfter(seq: number): Iterable<NumberedPage> {
    const slice = this.#prepare(
      `SELECT ${PAGE_COLUMNS} FROM page WHERE seq > ? ORDER BY seq LIMIT ${SLICE_ROWS}`,
    );
    for (const row of slices(slice, seq)) {
      const page = this.#whole(() => pageFrom(row));
      if (page !== undefined) yield { seq: row[0] as number, page };
    }
  }

  /** Of the page that the URL has now. */
  digestOf(id: number): Uint8Array | undefined {
    return first(this.#digest, id) as Uint8Array | undefined;
  }

  leastPages(countMax: number): Fingerprint[] {
    // Halves are kept as SQLite's integers of 32 bits, with a sign.
    const [high, low] = ["high", "low"].map((half) => `url.${half} & 4294967295`);
    const least = this.#prepare(
      `SELECT ${high}, ${low} FROM page JOIN url ON url.id = page.url ORDER BY 1, 2 LIMIT ?`,
    );
    return rowsOf(least, countMax).map((row) => ({
      high: row[0] as number,
      low: row[1] as number,
    }));
  }

  topicOf(id: number): PageTopic | undefined {
    if (!this.#hasTopics) return undefined;
    this.#topic ??= this.#prepare(`SELECT ${TOPIC_COLUMNS} FROM page_topic WHERE url = ?`);
    const [row] = rowsOf(this.#topic, id);
    return row === undefined ? undefined : topicFrom(row);
  }

  *pageTopics(): Iterable<PageTopic> {
    if (!this.#hasTopics) return;
    const slice = this.#prepare(
      `SELECT ${TOPIC_COLUMNS} FROM page_topic WHERE url > ? ORDER BY url LIMIT ${SLICE_ROWS}`,
    );
    for (const row of slices(slice)) yield topicFrom(row);
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
    const [row] = rowsOf(this.#meta, key);
    if (row === undefined) return undefined;
    const text = row[0] as string;
    return proven("meta", key, () => (textSum(text) === row[1] ? text : undefined));
  }

  #urlFrom(row: Row): StoredUrl {
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
      reason: this.#reasonAt(row[0] as number, row[10] as number),
    };
  }

  #reasonAt(id: number, state: number): Reason | undefined {
    if (state === WAITING) return undefined;
    const known = this.#reasons.get(state);
    if (known !== undefined) return known;
    const name = first(this.#prepare("SELECT name FROM state WHERE id = ?"), state);
    if (name === undefined) throw damagedRow("url", id);
    this.#reasons.set(state, name as Reason);
    return name as Reason;
  }

  #prepare(sql: string): StatementSync {
    return this.#database.prepare(sql, { returnArrays: true });
  }
}

/** All rows, walked in order of their first column. */
function* slices(statement: StatementSync, first = 0): Iterable<Row> {
  for (let after = first; ;) {
    const rows = rowsOf(statement, after);
    yield* rows;
    if (rows.length < SLICE_ROWS) return;
    after = rows.at(-1)?.[0] as number;
  }
}

function rowsOf(statement: StatementSync, ...values: (string | number)[]): Row[] {
  return statement.all(...values) as unknown as Row[];
}

/** The first column of the first row. */
function first(statement: StatementSync, ...values: (string | number)[]): Row[number] | undefined {
  return (statement.get(...values) as unknown as Row | undefined)?.[0];
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
