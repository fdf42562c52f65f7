/**
 * Sorts more lines than fit in memory, with the sorter of SQLite: lines are written to a temporary file, which is
 * deleted at the end, and beyond a part in memory SQLite sorts in other temporary files.
 *
 * Lines are compared by their UTF-8 bytes.
 */

import { DatabaseSync } from "node:sqlite";

/** SQLite's name for a temporary file. */
const TEMPORARY = "";
/** Memory of the sorter. */
const CACHE_KIBIBYTES = 65_536;

export function* sortedLines(lines: Iterable<string>): Generator<string> {
  const database = new DatabaseSync(TEMPORARY);
  try {
    database.exec(`
      PRAGMA cache_size = -${CACHE_KIBIBYTES};
      CREATE TABLE line(text TEXT NOT NULL) STRICT;
      BEGIN`);
    const insert = database.prepare("INSERT INTO line VALUES (?)");
    for (const line of lines) insert.run(line);
    const sorted = database.prepare("SELECT text FROM line ORDER BY text");
    for (const row of sorted.iterate()) yield String(row["text"]);
  } finally {
    database.close();
  }
}
