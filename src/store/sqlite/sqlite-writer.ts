/**
 * The writing half of the SQLite store: puts a batch into the tables, inside the caller's transaction.
 *
 * Everything is appended in order of its number, except what must be found again by site and score.
 * A page lies under a number of its own (`seq`), counted in the order of recording, and its URL's row
 * points to it: pages are fetched in no order of their URLs, and would otherwise land at random.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { assert } from "../../base/assert.ts";
import type { Reason } from "../../page/outcome.ts";
import type { Visits } from "../../page/visits.ts";
import { NEXT_PARCEL, NO_PAGE, URLS_OF_SITE, WAITING } from "./migrations.ts";
import {
  PAGE_COLUMNS,
  factKey,
  pageRow,
  parcelSum,
  siteSum,
  textSum,
  topicSum,
  urlSum,
  visitColumns,
  visitSum,
} from "./sqlite-rows.ts";
import type { OutboxState } from "./sqlite-reader.ts";
import type { Batch, NewUrl, PageTopic, SiteRow, Totals } from "../store.ts";

/** How many sites' robots.txt are remembered as written, so as not to write them with every count. */
const ROBOTS_REMEMBERED_MAX = 10_000;
const NO_ROBOTS = -1;

export class SqliteWriter {
  readonly #statements: Statements;
  readonly #database: DatabaseSync;
  #states: Map<string, number>;
  /** For a site, when the robots.txt in the table was fetched. */
  readonly #robotsWritten = new Map<number, number>();
  #nextSeq: number;
  #outbox: OutboxState;

  constructor(database: DatabaseSync, nextSeq: number, outbox: OutboxState) {
    this.#database = database;
    this.#statements = prepareAll(database);
    this.#states = readStates(database);
    this.#nextSeq = nextSeq;
    this.#outbox = outbox;
  }

  /** The number that the next page will have. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  get outbox(): OutboxState {
    return this.#outbox;
  }

  /** All or nothing: what it throws has changed nothing. */
  transact(work: () => void): void {
    const seq = this.#nextSeq;
    const outbox = this.#outbox;
    this.#statements.begin.run();
    try {
      work();
      this.#statements.commit.run();
    } catch (error) {
      // After some errors SQLite has rolled back by itself.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      this.#nextSeq = seq;
      this.#outbox = outbox;
      this.#states = readStates(this.#database);
      this.#robotsWritten.clear();
      throw error;
    }
  }

  writeBatch(batch: Batch): void {
    for (const site of batch.sites) this.#writeSite(site);
    for (const url of batch.urls) this.#addUrl(url);
    const { retry, rescore, reopen } = this.#statements;
    for (const { id, score, visits } of batch.reopened) {
      assertKnown(reopen.run(score, id));
      this.#writeVisits(id, visits);
    }
    for (const { id, ...visits } of batch.visits) this.#writeVisits(id, visits);
    for (const { id, attempts } of batch.retried) assertKnown(retry.run(attempts, id));
    for (const { id, score } of batch.rescored) assertKnown(rescore.run(score, id));
    this.#writePagesAndEnds(batch);
    for (const topic of batch.topics) this.#writeTopic(topic);
    for (const [key, value] of Object.entries(batch.facts)) this.remember(key, value);
    if (batch.outgoing.length + batch.delivered.length > 0) this.#writeOutbox(batch);
    this.writeTotals(batch.totals);
    this.#writeMeta("marks", JSON.stringify(batch.marks));
  }

  writeTotals(totals: Totals): void {
    this.#writeMeta("totals", JSON.stringify(totals));
  }

  remember(key: string, value: string): void {
    this.#writeMeta(factKey(key), value);
  }

  /** Lets a site's URLs be walked; made for the first new round, so that one without has no cost of it. */
  indexSites(): void {
    this.#database.exec(`CREATE INDEX IF NOT EXISTS ${URLS_OF_SITE} ON url(site)`);
  }

  #writeSite(site: SiteRow): void {
    const { id, key, known, pending, pages, bytes, traps, rate, robots } = site;
    const sitemapsRead = site.sitemapsRead ? 1 : 0;
    const ledger = JSON.stringify(site.ledger);
    const round = site.round === undefined ? "" : JSON.stringify(site.round);
    const sum = siteSum(site, ledger, round);
    const counts = [known, pending, pages, bytes];
    this.#statements.site.run(id, key, ...counts, sitemapsRead, traps, ledger, round, rate, sum);
    const fetchedAtMs = robots === undefined ? NO_ROBOTS : robots.fetchedAtMs;
    if (this.#robotsWritten.get(id) === fetchedAtMs) return;
    if (robots === undefined) this.#statements.forgetRobots.run(id);
    else
      this.#statements.robots.run(
        id,
        robots.status,
        fetchedAtMs,
        robots.text,
        textSum(robots.text),
      );
    if (this.#robotsWritten.size >= ROBOTS_REMEMBERED_MAX) this.#robotsWritten.clear();
    this.#robotsWritten.set(id, fetchedAtMs);
  }

  #addUrl(url: NewUrl): void {
    this.#statements.url.run(
      url.id,
      url.url,
      url.fingerprintHigh | 0,
      url.fingerprintLow | 0,
      url.siteId,
      url.depth,
      url.redirectedFromId,
      url.redirects,
      url.score,
      urlSum(url),
      url.written ?? null,
    );
  }

  #writePagesAndEnds(batch: Batch): void {
    const { page, dropPage, settle, settleWithPage, pointToPage } = this.#statements;
    const seqs = new Map<number, number>();
    for (const record of batch.pages) {
      dropPage.run(record.id);
      page.run(...pageRow(this.#nextSeq, record));
      seqs.set(record.id, this.#nextSeq++);
    }
    for (const { id, reason, attempts } of batch.settled) {
      const seq = seqs.get(id);
      const state = this.#stateOf(reason);
      if (seq === undefined) assertKnown(settle.run(state, attempts, id));
      else assertKnown(settleWithPage.run(state, attempts, seq, id));
      seqs.delete(id);
    }
    for (const [id, seq] of seqs) assertKnown(pointToPage.run(seq, id));
  }

  #writeVisits(id: number, visits: Visits): void {
    const columns = visitColumns(visits);
    this.#statements.visit.run(id, ...columns, visitSum(id, columns));
  }

  #writeTopic(found: PageTopic): void {
    const { id, topic, confidence, from } = found;
    this.#statements.topic.run(id, topic, confidence, from, topicSum(found));
  }

  #writeOutbox({ outgoing, delivered }: Batch): void {
    let { nextParcelSeq, outboxCount, outboxBytes } = this.#outbox;
    const { putParcel, takeParcel } = this.#statements;
    for (const parcel of outgoing) {
      const { seq, to, body } = parcel;
      putParcel.run(seq, to, body, parcelSum(parcel));
      nextParcelSeq = seq + 1;
      outboxCount++;
      outboxBytes += body.length;
    }
    for (const seq of delivered) {
      const taken = takeParcel.get(seq);
      if (taken === undefined) continue;
      outboxCount--;
      outboxBytes -= taken["bytes"] as number;
    }
    if (outgoing.length > 0) this.#writeMeta(NEXT_PARCEL, String(nextParcelSeq));
    this.#outbox = { nextParcelSeq, outboxCount, outboxBytes };
  }

  #stateOf(reason: Reason): number {
    const known = this.#states.get(reason);
    if (known !== undefined) return known;
    const state = WAITING + this.#states.size;
    this.#statements.state.run(state, reason);
    this.#states.set(reason, state);
    return state;
  }

  #writeMeta(key: string, value: string): void {
    this.#statements.meta.run(key, value, textSum(value));
  }
}

type Statements = ReturnType<typeof prepareAll>;

function prepareAll(database: DatabaseSync): Readonly<Record<StatementName, StatementSync>> {
  const entries = Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)] as const);
  return Object.fromEntries(entries) as Record<StatementName, StatementSync>;
}

type StatementName = keyof typeof SQL;

const SQL = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  state: "INSERT INTO state(id, name) VALUES (?, ?)",
  site: `INSERT INTO site(id, key, known, pending, pages, bytes, sitemaps_read, traps, ledger,
      round, rate, sum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT(id) DO UPDATE SET known = excluded.known, pending = excluded.pending,
      pages = excluded.pages, bytes = excluded.bytes, sitemaps_read = excluded.sitemaps_read,
      traps = excluded.traps, ledger = excluded.ledger, round = excluded.round,
      rate = excluded.rate, sum = excluded.sum`,
  robots: "REPLACE INTO robots(site, status, fetched_at_ms, text, sum) VALUES (?, ?, ?, ?, ?)",
  forgetRobots: "DELETE FROM robots WHERE site = ?",
  url: `INSERT INTO url(id, url, high, low, site, depth, redirected_from, redirects, score,
      state, attempts, page, sum, written)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ${WAITING}, 0, ${NO_PAGE}, ?, ?)`,
  retry: "UPDATE url SET attempts = ? WHERE id = ?",
  rescore: "UPDATE url SET score = ? WHERE id = ?",
  settle: "UPDATE url SET state = ?, attempts = ? WHERE id = ?",
  settleWithPage: "UPDATE url SET state = ?, attempts = ?, page = ? WHERE id = ?",
  pointToPage: "UPDATE url SET page = ? WHERE id = ?",
  dropPage: "DELETE FROM page WHERE seq = (SELECT page FROM url WHERE id = ?)",
  page: `INSERT INTO page(${PAGE_COLUMNS}) VALUES (${PAGE_COLUMNS.replace(/\w+/g, "?")})`,
  reopen: `UPDATE url SET state = ${WAITING}, attempts = 0, score = ? WHERE id = ?`,
  visit: `REPLACE INTO visit(url, checks, changes, watched_ms, last_at_ms, was, sum)
    VALUES (?, ?, ?, ?, ?, ?, ?)`,
  topic: "REPLACE INTO page_topic(url, topic, confidence, node, sum) VALUES (?, ?, ?, ?, ?)",
  putParcel: "INSERT INTO outbox(seq, node, body, sum) VALUES (?, ?, ?, ?)",
  takeParcel: "DELETE FROM outbox WHERE seq = ? RETURNING length(body) AS bytes",
  meta: "REPLACE INTO meta(key, value, sum) VALUES (?, ?, ?)",
} as const;

function readStates(database: DatabaseSync): Map<string, number> {
  const rows = database.prepare("SELECT name, id FROM state").all();
  return new Map(rows.map((row) => [row["name"] as string, row["id"] as number]));
}

function assertKnown(result: { readonly changes: number | bigint }): void {
  assert(result.changes === 1, "a batch speaks of known URLs");
}
