/**
 * The tables on disk and how they came to be: one step for each version of the schema.
 *
 * A file says its version (`user_version`); opening it runs the steps it lacks, all in one
 * transaction, so a kill in the middle leaves the old version whole. A step, once released, is never
 * changed: a new one is added. The first makes everything from nothing.
 */

import type { DatabaseSync } from "node:sqlite";

/** "Weir" in ASCII, in the header of our files. */
export const APPLICATION_ID = 0x57656972;

/** The state of a URL that has not ended; the other states are the reasons, as they come up. */
export const WAITING = 1000;

/**
 * As wide on disk as the number of any page. A row must not grow when its URL ends: rows fill their
 * disk pages to the brim, and growing ones would split nearly every page of the table.
 */
export const NO_PAGE = 0x7fffffff;

/** Not part of the schema: made when it is first needed. */
export const URLS_OF_SITE = "url_of_site";

/** The index over the targets of seeds' redirects. */
export const URLS_BEHIND_SEEDS = "url_behind_seed";

/** The value that says which number the next parcel has. */
export const NEXT_PARCEL = "next parcel";

// Fingerprint halves and sums are kept as signed numbers, which take 4 bytes where unsigned take 6.
const FIRST = `
CREATE TABLE state(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO state VALUES (${WAITING}, 'waiting');

CREATE TABLE site(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
  known INTEGER NOT NULL, pending INTEGER NOT NULL,
  pages INTEGER NOT NULL, bytes INTEGER NOT NULL,
  sitemaps_read INTEGER NOT NULL, traps TEXT NOT NULL, sum INTEGER NOT NULL
) STRICT;
CREATE INDEX site_with_work ON site(id) WHERE pending > 0;

CREATE TABLE robots(
  site INTEGER PRIMARY KEY, status INTEGER NOT NULL, fetched_at_ms REAL NOT NULL,
  text TEXT NOT NULL, sum INTEGER NOT NULL
) STRICT;

CREATE TABLE url(
  id INTEGER PRIMARY KEY, url TEXT NOT NULL, high INTEGER NOT NULL, low INTEGER NOT NULL,
  site INTEGER NOT NULL, depth INTEGER NOT NULL,
  redirected_from INTEGER NOT NULL, redirects INTEGER NOT NULL,
  score REAL NOT NULL, state INTEGER NOT NULL, attempts INTEGER NOT NULL,
  page INTEGER NOT NULL, sum INTEGER NOT NULL
) STRICT;
CREATE INDEX url_waiting ON url(site, score DESC) WHERE state = ${WAITING};

CREATE TABLE page(
  seq INTEGER PRIMARY KEY, url INTEGER NOT NULL, status INTEGER NOT NULL,
  fetched_at_ms REAL NOT NULL, duration_ms REAL NOT NULL,
  wire_bytes INTEGER NOT NULL, body_bytes INTEGER NOT NULL,
  content_type TEXT NOT NULL, charset TEXT NOT NULL, title TEXT NOT NULL, language TEXT NOT NULL,
  digest BLOB NOT NULL, near_high INTEGER NOT NULL, near_low INTEGER NOT NULL,
  etag TEXT NOT NULL, last_modified TEXT NOT NULL,
  likeness TEXT, likeness_of INTEGER, remarks TEXT NOT NULL, links BLOB NOT NULL,
  archive_file TEXT, archive_offset INTEGER, archive_length INTEGER, sum INTEGER NOT NULL
) STRICT;

CREATE TABLE meta(
  key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

// Empty in rows from before: whatever reads them takes all their bytes for pages.
const LEDGER = "ALTER TABLE site ADD COLUMN ledger TEXT NOT NULL DEFAULT ''";

// A table of its own: only what is asked for again has visits, and a crawl without rounds pays nothing.
const ROUNDS = `
ALTER TABLE site ADD COLUMN round TEXT NOT NULL DEFAULT '';
CREATE TABLE visit(
  url INTEGER PRIMARY KEY, checks INTEGER NOT NULL, changes INTEGER NOT NULL,
  watched_ms REAL NOT NULL, last_at_ms REAL NOT NULL, was TEXT NOT NULL, sum INTEGER NOT NULL
) STRICT`;

// How far the numbers have come lies among the values: they go on where the table is empty.
const OUTBOX = `
CREATE TABLE outbox(
  seq INTEGER PRIMARY KEY, node TEXT NOT NULL, body BLOB NOT NULL, sum INTEGER NOT NULL
) STRICT`;

// A table of its own: a crawl without topics pays nothing.
const TOPICS = `
CREATE TABLE page_topic(
  url INTEGER PRIMARY KEY, topic TEXT NOT NULL, confidence REAL NOT NULL, node TEXT NOT NULL,
  sum INTEGER NOT NULL
) STRICT`;

// Read whenever a crawl is opened: they belong to its scope.
const SEED_TARGETS = `
CREATE INDEX ${URLS_BEHIND_SEEDS} ON url(id) WHERE depth = 0 AND redirects > 0`;

// NULL where the canonical form is how it was written: one byte of the row.
const WRITTEN = "ALTER TABLE url ADD COLUMN written TEXT";

// Empty where a site accepted every request.
const RATE = "ALTER TABLE site ADD COLUMN rate TEXT NOT NULL DEFAULT ''";

/** Entry n leads from version n to n + 1. */
const STEPS: readonly string[] = [
  FIRST,
  LEDGER,
  ROUNDS,
  OUTBOX,
  TOPICS,
  SEED_TARGETS,
  WRITTEN,
  RATE,
];

export const SCHEMA_VERSION = STEPS.length;

/** Brings an open database to the newest version; `steps` is another list only in tests. */
export function migrate(database: DatabaseSync, steps: readonly string[] = STEPS): void {
  const row = database.prepare("PRAGMA user_version").get();
  const version = Number(row?.["user_version"]);
  if (version >= steps.length) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    for (const step of steps.slice(version)) database.exec(step);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    database.exec(`PRAGMA user_version = ${steps.length}`);
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
  // Into the file itself: its header is read before anything else when it is opened again.
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}
