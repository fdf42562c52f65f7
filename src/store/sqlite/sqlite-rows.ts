/**
 * How records become rows and rows records again, with a checksum to tell a damaged row.
 *
 * SQLite proves its structure, not its content: a bit that flips inside a text is served as good.
 * So every row carries the CRC-32 of what never changes in it, and reading it asks for the same.
 */

import { crc32 } from "node:zlib";
import type { SQLInputValue, SQLOutputValue } from "node:sqlite";
import { CrawlError } from "../../base/errors.ts";
import type { Likeness, PageRecord, Remark } from "../../page/page.ts";
import type { Visits } from "../../page/visits.ts";
import type { NewUrl, OutgoingParcel, PageTopic, SiteRow, StoredRound } from "../store.ts";

export type Row = SQLOutputValue[];

/** A stored row that is not what was written. */
export function damagedRow(table: string, id: number | string): CrawlError {
  return new CrawlError("STORE_CORRUPT", `crawl.db: row ${id} of table ${table} is damaged`);
}

/** Makes a record of a row; whatever is wrong with the row, it is its damage. */
export function proven<T>(table: string, id: number | string, make: () => T | undefined): T {
  let record: T | undefined;
  try {
    record = make();
  } catch {
    // A text where a number was, or none at all: the making stumbles over it.
  }
  if (record === undefined) throw damagedRow(table, id);
  return record;
}

export function urlSum(url: NewUrl): number {
  const { siteId, depth, redirectedFromId, redirects } = url;
  return sumOfUrl(
    spellings(url.url, url.written),
    siteId,
    depth,
    redirectedFromId ^ (redirects << 24),
  );
}

/** The texts of a URL's row; those from before there were spellings keep their sum. */
export function spellings(url: string, written: string | undefined): string {
  return written === undefined ? url : `${url}\n${written}`;
}

/** Of the columns url and written, site, depth, redirected_from and redirects. */
export function sumOfUrl(url: string, siteId: number, depth: number, origin: number): number {
  const seed = Math.imul(siteId, 0x9e3779b1) ^ Math.imul(depth, 0x85ebca6b) ^ origin;
  return crc32(url, seed >>> 0) | 0;
}

export function textSum(text: string): number {
  return crc32(text) | 0;
}

/** Facts to remember lie among our own values under names that we never use. */
export function factKey(key: string): string {
  return `fact ${key}`;
}

/** Of the texts in the row; rows from before there were ledgers or rounds lack them, and keep their sum. */
export function siteSum({ key, traps }: SiteRow, ledger: string, round: string): number {
  const later = [ledger, round].filter((text) => text !== "");
  return crc32([key, traps, ...later].join("\n")) | 0;
}

/** Absent values are left out of the text. */
export function roundFrom(text: string): StoredRound | undefined {
  if (text === "") return undefined;
  const { expectedBytes, openedTo, ...round } = JSON.parse(text) as StoredRound;
  return { ...round, expectedBytes, openedTo };
}

/** The columns of a visit but its URL and its sum. */
export function visitColumns(visits: Visits): (number | string)[] {
  const { checks, changes, watchedMs, lastAtMs, was } = visits;
  return [checks, changes, watchedMs, lastAtMs, was];
}

export function visitSum(id: number, columns: readonly unknown[]): number {
  return textSum(`${id} ${columns.join(" ")}`);
}

export function parcelSum({ seq, to, body }: OutgoingParcel): number {
  return crc32(body, crc32(`${seq} ${to}`)) | 0;
}

export function topicSum({ id, topic, confidence, from }: PageTopic): number {
  return textSum(`${id} ${confidence} ${from}\n${topic}`);
}

/** Before there were ledgers: nearly all bytes are those of pages. */
export function ledgerBefore(bytes: number): Readonly<Record<string, number>> {
  return { page: bytes };
}

export const PAGE_COLUMNS =
  "seq, url, status, fetched_at_ms, duration_ms, wire_bytes, body_bytes, content_type, charset, " +
  "title, language, digest, near_high, near_low, etag, last_modified, likeness, likeness_of, " +
  "remarks, links, archive_file, archive_offset, archive_length, sum";

export function pageRow(seq: number, page: PageRecord): SQLInputValue[] {
  const { likeness, archived } = page;
  return [
    seq,
    page.id,
    page.status,
    page.fetchedAtMs,
    page.durationMs,
    page.wireBytes,
    page.bodyBytes,
    page.contentType,
    page.charset,
    page.title,
    page.language,
    page.digest,
    page.nearHigh | 0,
    page.nearLow | 0,
    page.etag,
    page.lastModified,
    likeness === undefined ? null : likeness.kind,
    likeness === undefined ? null : likeness.ofId,
    page.remarks.join(" "),
    page.links,
    archived === undefined ? null : archived.file,
    archived === undefined ? null : archived.offset,
    archived === undefined ? null : archived.length,
    pageSum(page),
  ];
}

export function pageFrom(row: Row): PageRecord {
  return proven("page", row[0] as number, () => {
    const page = unprovenPage(row);
    return pageSum(page) === row[23] ? page : undefined;
  });
}

function unprovenPage(row: Row): PageRecord {
  const likeness = row[16] as Likeness["kind"] | null;
  const remarks = row[18] as string;
  const file = row[20] as string | null;
  return {
    id: row[1] as number,
    status: row[2] as number,
    fetchedAtMs: row[3] as number,
    durationMs: row[4] as number,
    wireBytes: row[5] as number,
    bodyBytes: row[6] as number,
    contentType: row[7] as string,
    charset: row[8] as string,
    title: row[9] as string,
    language: row[10] as string,
    digest: row[11] as Uint8Array,
    nearHigh: (row[12] as number) >>> 0,
    nearLow: (row[13] as number) >>> 0,
    etag: row[14] as string,
    lastModified: row[15] as string,
    likeness: likeness === null ? undefined : { kind: likeness, ofId: row[17] as number },
    remarks: remarks === "" ? [] : (remarks.split(" ") as Remark[]),
    links: row[19] as Uint8Array,
    archived:
      file === null ? undefined : { file, offset: row[21] as number, length: row[22] as number },
  };
}

function pageSum(page: PageRecord): number {
  const { archived } = page;
  const place = archived === undefined ? "" : `${archived.file} ${archived.offset}`;
  const text =
    `${page.title}\n${page.contentType}\n${page.charset}\n${page.language}\n` +
    `${page.etag}\n${page.lastModified}\n${page.status} ${page.fetchedAtMs} ${place}`;
  return crc32(page.links, crc32(page.digest, crc32(text))) | 0;
}
