/**
 * Checks a collection: every record of its archive, every row of its store, and one against the other.
 *
 * Reads the archive once, in order, and keeps 16 bytes per record and 5 per URL. Nothing is changed.
 */

import { existsSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { crc32 } from "node:zlib";
import { CrawlError } from "../base/errors.ts";
import { hideCredentials } from "../base/visible.ts";
import { archivesOf } from "../output/warc/archives.ts";
import { checkedRecords, type CheckedRecord } from "../output/warc/check-records.ts";
import type { Marks } from "../output/warc/warc-files.ts";
import type { DamagedRecord } from "../output/warc/warc-read.ts";
import { type Reason, settlementOf } from "../page/outcome.ts";
import type { PageRecord } from "../page/page.ts";
import { openReadOnly } from "../store/joined/open-read-only.ts";
import type { StoredUrl } from "../store/store.ts";
import { readTeam, storeFolders } from "../store/team-file.ts";
import { writtenOf } from "../url/url.ts";

/** What is wrong, from a closed list. */
type FaultKind =
  | "damaged_record"
  | "wrong_digest"
  | "missing_file"
  | "short_file"
  | "missing_record"
  | "other_record"
  | "damaged_row"
  | "accounts";

export interface Fault {
  readonly kind: FaultKind;
  /** The file, URL or account concerned. */
  readonly where: string;
  readonly detail: string;
}

export interface CheckSums {
  files: number;
  bytes: number;
  /** Records that can be read, with right or wrong digests. */
  records: number;
  /** Declared digests that were compared with the content. */
  digests: number;
  urls: number;
  pages: number;
  /** Whether the accounts were compared: not while the crawl runs, and not with damaged rows. */
  accounts: boolean;
  readonly faults: Partial<Record<FaultKind, number>>;
}

export interface CheckHooks {
  readonly onFault: (fault: Fault) => void;
  /** Called after each record that can be read and has no wrong digest. */
  readonly onWhole?: (file: string, record: CheckedRecord) => void;
  readonly onProgress?: (sums: CheckSums) => void;
}

const PROGRESS_RECORDS = 1000;

export function checkCollection(folder: string, isRunning: boolean, hooks: CheckHooks): CheckSums {
  const check = new Check(hooks);
  const isTeam = readTeam(folder) !== undefined;
  for (const part of storeFolders(folder))
    check.part(part, isTeam ? `${basename(part)}/` : "", !isRunning);
  return check.sums;
}

/** Checks archive files of any tool. */
export function checkFiles(paths: readonly string[], hooks: CheckHooks): CheckSums {
  const check = new Check(hooks);
  for (const path of paths) check.file(path, basename(path), statSync(path).size);
  return check.sums;
}

class Check {
  readonly sums: CheckSums = {
    files: 0,
    bytes: 0,
    records: 0,
    digests: 0,
    urls: 0,
    pages: 0,
    accounts: false,
    faults: {},
  };
  readonly #hooks: CheckHooks;

  constructor(hooks: CheckHooks) {
    this.#hooks = hooks;
  }

  /** Returns the places of responses and revisits. */
  file(path: string, name: string, bytes: number): Places {
    const places = new Places();
    if (!existsSync(path)) {
      this.#fault("missing_file", name, `the store has ${bytes} bytes of it`);
      return places;
    }
    const present = statSync(path).size;
    if (present < bytes) this.#fault("short_file", name, `${present} of ${bytes} bytes`);
    this.sums.files += 1;
    this.sums.bytes += Math.min(present, bytes);
    const onDamage = (damage: DamagedRecord): void =>
      this.#fault("damaged_record", `${name} at ${damage.offset}`, damage.why);
    for (const record of checkedRecords({ path, bytes }, onDamage)) {
      const url = record.fields.get("warc-target-uri") ?? "";
      const type = record.fields.get("warc-type");
      this.sums.records += 1;
      this.sums.digests += record.digestsRight;
      for (const fault of record.faults)
        this.#fault("wrong_digest", `${name} at ${record.offset}`, `${fault} (${type} ${url})`);
      if (type === "response" || type === "revisit") places.add(record.offset, url);
      if (record.faults.length === 0) this.#hooks.onWhole?.(path, record);
      if (this.sums.records % PROGRESS_RECORDS === 0) this.#hooks.onProgress?.(this.sums);
    }
    return places;
  }

  part(folder: string, prefix: string, withAccounts: boolean): void {
    const database = `${prefix}state/crawl.db`;
    // A damaged row is met by every query that reads it.
    const damages = new Set<string>();
    const onDamagedRow = ({ message }: CrawlError): void => {
      if (!damages.has(message)) this.#fault("damaged_row", database, message);
      damages.add(message);
    };
    const orDamaged = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        // SQLite finds damage between rows only when it reads there.
        if (!(error instanceof CrawlError) || error.code !== "STORE_CORRUPT") throw error;
        onDamagedRow(error);
      }
    };
    const store = openReadOnly(folder, onDamagedRow);
    try {
      // Marks first: what a running crawl commits later is not checked.
      const marks = store.marks;
      const placesByFile = this.#archive(join(folder, "archive"), marks, prefix);
      const books = new Books();
      orDamaged(() => {
        for (const row of store.urls()) books.takeUrl(row);
      });
      orDamaged(() => {
        for (const page of store.pages()) {
          books.takePage(page);
          const row = store.url(page.id);
          if (row !== undefined && page.archived !== undefined)
            this.#place(prefix, placesByFile, writtenOf(row), page.archived);
        }
      });
      this.sums.urls += books.urls;
      this.sums.pages += books.pages;
      if (!withAccounts || damages.size > 0) return;
      this.sums.accounts = true;
      orDamaged(() => {
        for (const fault of books.compare(store)) this.#fault("accounts", database, fault);
      });
    } finally {
      void store.close();
    }
  }

  #archive(folder: string, marks: Marks, prefix: string): ReadonlyMap<string, Places> {
    const found = new Map<string, Places>();
    for (const { path, name, bytes } of archivesOf(folder, marks))
      found.set(name, this.file(path, `${prefix}archive/${name}`, bytes));
    return found;
  }

  #place(
    prefix: string,
    placesByFile: ReadonlyMap<string, Places>,
    url: string,
    { file, offset }: NonNullable<PageRecord["archived"]>,
  ): void {
    const place = `${prefix}archive/${file} at ${offset}`;
    const verdict = placesByFile.get(file)?.has(offset, url) ?? "missing";
    if (verdict === "missing") this.#fault("missing_record", url, `no whole record: ${place}`);
    if (verdict === "other") this.#fault("other_record", url, `a record of another URL: ${place}`);
  }

  #fault(kind: FaultKind, where: string, detail: string): void {
    const { faults } = this.sums;
    faults[kind] = (faults[kind] ?? 0) + 1;
    this.#hooks.onFault({ kind, where, detail: hideCredentials(detail) });
  }
}

/** Offsets of records in one file with sums of their URLs. */
class Places {
  readonly #sums = new Map<number, number>();

  add(offset: number, url: string): void {
    this.#sums.set(offset, crc32(url));
  }

  has(offset: number, url: string): "here" | "other" | "missing" {
    const sum = this.#sums.get(offset);
    return sum === undefined ? "missing" : sum === crc32(url) ? "here" : "other";
  }
}

interface SiteCount {
  known: number;
  pending: number;
  pages: number;
}

/** The accounts as the rows give them. */
class Books {
  urls = 0;
  pages = 0;
  #pending = 0;
  readonly #outcomes = new Map<string, number>();
  readonly #bySite = new Map<number, SiteCount>();
  /** By URL id. */
  #siteOf = new Uint32Array(1024);

  takeUrl({ id, siteId, reason }: StoredUrl): void {
    this.urls += 1;
    if (id >= this.#siteOf.length) {
      const grown = new Uint32Array(2 * id);
      grown.set(this.#siteOf);
      this.#siteOf = grown;
    }
    this.#siteOf[id] = siteId;
    const site = this.#site(siteId);
    site.known += 1;
    if (reason === undefined) {
      this.#pending += 1;
      site.pending += 1;
    } else this.#outcomes.set(reason, (this.#outcomes.get(reason) ?? 0) + 1);
  }

  takePage({ id }: PageRecord): void {
    this.pages += 1;
    this.#site(this.#siteOf[id] ?? 0).pages += 1;
  }

  *compare(store: ComparedStore): Generator<string> {
    const { totals } = store;
    const differ = (name: string, counted: number, recorded: number): string[] =>
      counted === recorded ? [] : [`${name}: ${counted} in rows, ${recorded} in the totals`];
    yield* differ("known URLs", this.urls, totals.known);
    yield* differ("pages", this.pages, totals.pages);
    yield* differ(
      "known URLs",
      totals.done + totals.failed + totals.skipped + this.#pending,
      totals.known,
    );
    const settled = { done: 0, failed: 0, skipped: 0 };
    for (const reason of new Set([...this.#outcomes.keys(), ...Object.keys(totals.outcomes)])) {
      const recorded = totals.outcomes[reason as Reason] ?? 0;
      settled[settlementOf(reason as Reason)] += recorded;
      yield* differ(reason, this.#outcomes.get(reason) ?? 0, recorded);
    }
    for (const name of ["done", "failed", "skipped"] as const)
      yield* differ(name, settled[name], totals[name]);
    for (const { id, key, known, pending, pages } of store.sites()) {
      const site = this.#site(id);
      yield* differ(`${key} known`, site.known, known);
      yield* differ(`${key} pending`, site.pending, pending);
      yield* differ(`${key} pages`, site.pages, pages);
    }
  }

  #site(id: number): SiteCount {
    let site = this.#bySite.get(id);
    if (site === undefined) {
      site = { known: 0, pending: 0, pages: 0 };
      this.#bySite.set(id, site);
    }
    return site;
  }
}

type ComparedStore = Pick<ReturnType<typeof openReadOnly>, "totals" | "sites">;
