/**
 * `weir search DIR… WORDS…`: full-text search in one collection or several, running or not.
 *
 * The first word names a folder; so do the next ones as long as they contain a crawl, and the rest
 * is the query. A missing or incomplete index is first built from the archive.
 */

import { CrawlError } from "../../base/errors.ts";
import { visible } from "../../base/visible.ts";
import type { FieldTable } from "../../config/field.ts";
import { integer, oneOf, words as someWords } from "../../config/readers.ts";
import {
  crawlsIn,
  type IndexProgress,
  openCollection,
  spellingsFor,
} from "../../crawl/search/collections.ts";
import { type Collection, search } from "../../search/find.ts";
import { type Query, readQuery } from "../../search/query.ts";
import { plural, showCount } from "../amounts.ts";
import { JSON_FLAG, readArgs } from "../args.ts";
import { refuseSeveral } from "../crawl-list.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Command } from "../help.ts";
import { resultJson, resultLines } from "../search-lines.ts";
import { isLively, paletteFor, sizeOf } from "../terminal.ts";

const COLUMNS_IN_PIPES = 120;
const COLUMNS_MAX = 110;
const SHOWN_EVERY_MS = 2_000;
const SHOWN_LIVELY_EVERY_MS = 100;

const FLAGS = {
  site: {
    key: "site",
    meaning: "Only pages of this host and its subdomains.",
    reader: someWords("HOST", "a host, such as example.org"),
  },
  topic: {
    key: "topic",
    meaning: "Only pages of this topic; crawls for this topic rank higher.",
    reader: someWords("TOPIC", "the name of a topic"),
  },
  language: {
    key: "language",
    meaning: "Only pages declared to be in this language.",
    reader: someWords("TAG", "a language, such as en or en-GB"),
  },
  limit: {
    key: "limit",
    meaning: "Most results shown.",
    fallback: "10",
    reader: integer({ least: 1, most: 10_000 }),
  },
  stemming: {
    key: "stemming",
    meaning:
      "Stemming of an index that this search builds: `english`, or `none` for other languages.",
    fallback: "english",
    reader: oneOf(["english", "none"]),
  },
  ...JSON_FLAG,
} as const satisfies FieldTable;

export const command: Command = {
  run,
  page: {
    usage: "weir search DIR… WORDS… [--site HOST] [--topic TOPIC] [--language TAG] [--limit N]",
    about:
      'Finds pages by words, best match first. A page must have all words. "several words" in quotes are a phrase; dam* finds words with this beginning; dam OR weir finds either; -beaver (or NOT beaver) excludes pages with that word. Case and accents are ignored, and English words are compared by their stem.',
    examples: [
      ["weir search weir-data/example.org weir dam", "pages with both words"],
      ["weir search weir-data/example.org '\"low dam\" -beaver'", "a phrase, without another word"],
      [
        "weir search weir-data/example.org 'dam OR weir' river",
        "either of two words, and a third word",
      ],
      ["weir search crawl-1 crawl-2 mill* --language en", "two crawls together"],
      [
        "weir search weir-data/topics weir --topic science --json",
        "all processes of a crawl, as JSON",
      ],
    ],
    groups: { Flags: FLAGS },
    ending: "A crawl without --search-index is indexed from its archive by the first search.",
  },
};

async function run(words: readonly string[]): Promise<ExitCode> {
  const unwanted = words.filter(isUnwanted);
  const named = words.filter((word) => !isUnwanted(word));
  const { positional, flags } = readArgs(named, ["DIR", "WORDS…"], FLAGS);
  const [first = ""] = positional;
  if (crawlsIn(first).length === 0) await refuseSeveral(first, "weir search");
  const { folders, query } = readWish(positional, unwanted);
  using stack = new DisposableStack();
  const collections: Collection[] = [];
  for (const folder of folders) {
    const collection = await openCollection(folder, flags.stemming, progressTeller());
    stack.use(collection.index);
    collections.push(collection);
  }
  const { site, topic, language, limit: countMax } = flags;
  const startedAtMs = performance.now();
  const found = search(collections, { query, facets: { site, topic, language }, countMax });
  const tookMs = performance.now() - startedAtMs;
  const spellings = found.total === 0 ? spellingsFor(collections, query) : [];
  const answer = { collections, query, found, spellings, tookMs };
  const text = flags.json
    ? resultJson(answer)
    : resultLines(answer, { columns: columnsNow(), rows: Infinity, palette }).join("\n");
  process.stdout.write(`${text}\n`);
  return EXIT.done;
}

/** A word after one dash is excluded; flags have two dashes. */
function isUnwanted(word: string): boolean {
  return /^-[^-]/.test(word);
}

const palette = paletteFor(process.stdout, process.env);

function columnsNow(): number {
  const columns = process.stdout.isTTY ? sizeOf(process.stdout).columns : COLUMNS_IN_PIPES;
  return Math.min(COLUMNS_MAX, columns);
}

function readWish(
  positional: readonly string[],
  unwanted: readonly string[],
): { readonly folders: readonly string[]; readonly query: Query } {
  const [first = "", ...others] = positional;
  const folders = crawlsIn(first);
  if (folders.length === 0)
    throw new CrawlError("FOLDER_MISSING", `${visible(first, 300)} does not contain a crawl`);
  let wordsAt = 0;
  for (const word of others) {
    const more = crawlsIn(word);
    if (more.length === 0) break;
    folders.push(...more);
    wordsAt += 1;
  }
  const query = readQuery(...others.slice(wordsAt), ...unwanted);
  if (query === undefined)
    throw new CrawlError("USAGE", "Give at least one word to search for, and at most 32.");
  return { folders: [...new Set(folders)], query };
}

/** Reports the progress of indexing on standard error from time to time. */
function progressTeller(): (progress: IndexProgress) => void {
  const stream = process.stderr;
  const lively = isLively(stream, process.env);
  let shownAtMs = lively ? -Infinity : performance.now();
  let hasBegun = false;
  return ({ folder, done, total, damaged }) => {
    const isOver = done >= total;
    const name = visible(folder, 200);
    if (!hasBegun) stream.write(`Indexing ${plural(total, "page")} of ${name}.\n`);
    hasBegun = true;
    const nowMs = performance.now();
    const isTime = nowMs >= shownAtMs + (lively ? SHOWN_LIVELY_EVERY_MS : SHOWN_EVERY_MS);
    if (isTime || (isOver && lively)) {
      shownAtMs = nowMs;
      const line = `${showCount(done)} of ${showCount(total)}`;
      stream.write(lively ? `\r${line}${isOver ? "\r\x1b[2K" : ""}` : `${line}\n`);
    }
    if (isOver && damaged > 0)
      stream.write(`The archive could not give the text of ${plural(damaged, "page")}.\n`);
  };
}
