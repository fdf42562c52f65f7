/**
 * `weir export DIR --format …`: the collection in other formats, from a crawl that runs or not.
 *
 * Connects the store (facts) and the archive (responses) with the writers of lines, page after page
 * in constant memory. A named file appears only when it is complete.
 */

import { createWriteStream, renameSync, rmSync, statSync } from "node:fs";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { CrawlError } from "../../base/errors.ts";
import { visible } from "../../base/visible.ts";
import type { FieldTable } from "../../config/field.ts";
import { integer, onOff, oneOf, words as someWords } from "../../config/readers.ts";
import { linkGraphOf } from "../../results/link-graph.ts";
import { pageRank } from "../../frontier/pagerank.ts";
import { archivesOf, concatenateArchives, copyArchives } from "../../output/warc/archives.ts";
import { cdxjLines } from "../../output/lines/cdxj.ts";
import { writeBytes, writeLines } from "../../output/lines.ts";
import { edgeLines } from "../../output/lines/links.ts";
import { PAGE_COLUMNS } from "../../output/parquet/page-columns.ts";
import { parquetFile } from "../../output/parquet/parquet.ts";
import { sortedLines } from "../../output/lines/sorted-lines.ts";
import { DamagedRecord } from "../../output/warc/warc-read.ts";
import { openReadOnly } from "../../store/joined/open-read-only.ts";
import { archiveFolder } from "../../store/team-file.ts";
import { plural } from "../amounts.ts";
import { readArgs } from "../args.ts";
import { refuseSeveral } from "../crawl-list.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { linkingPages, pageLines, pageRows, popularUrls } from "../export-lines.ts";
import { type ReadableStore, UrlBook } from "../export-lines.ts";
import type { Command } from "../help.ts";
import { unwritable } from "../write-out.ts";

const FLAGS = {
  format: {
    key: "format",
    meaning:
      "`jsonl` one JSON line per page; `parquet` a table of pages; `warc` the archive as one file, or its files into a folder; `links` source and target, separated by a tab; `cdxj` the index of the archive.",
    reader: oneOf(["jsonl", "parquet", "warc", "links", "cdxj"]),
  },
  outFile: {
    key: "out",
    meaning: "Output file. By default standard output.",
    reader: someWords("FILE", "the name of a file"),
  },
  text: {
    key: "text",
    meaning: "With jsonl and parquet: add the visible text of every page.",
    fallback: "false",
    reader: onOff,
  },
  rank: {
    key: "rank",
    meaning:
      "With jsonl, parquet and links: add the PageRank of each page; with links, of source and target.",
    fallback: "false",
    reader: onOff,
  },
  strict: {
    key: "strict",
    meaning: "Stop at the first damaged record instead of leaving it out with a warning.",
    fallback: "false",
    reader: onOff,
  },
  popularCount: {
    key: "popular",
    meaning: "With links: the N most-linked URLs instead, one per line, as input for --replicate.",
    reader: integer({ least: 1, most: 10_000_000 }),
  },
} as const satisfies FieldTable;

type Format = "jsonl" | "parquet" | "warc" | "links" | "cdxj";

interface Job {
  readonly format: Format;
  readonly store: ReadableStore;
  readonly archiveFolder: string;
  readonly withText: boolean;
  readonly withRank: boolean;
  readonly popularCount: number | undefined;
  /** Undefined when damage ends the export. */
  readonly onDamage: ((damage: Error) => void) | undefined;
}

/** Damaged records and rows that were left out. */
class Damages {
  readonly #found = new Set<string>();

  readonly add = ({ message }: Error): void => {
    this.#found.add(message);
  };

  report(folder: string): void {
    const [first] = this.#found;
    if (first === undefined) return;
    const what = `${plural(this.#found.size, "damaged record")} left out, the first: ${visible(first, 300)}`;
    process.stderr.write(`WARNING: ${what}. \`weir check ${visible(folder, 200)}\` lists them.\n`);
  }
}

export const command: Command = {
  run,
  page: {
    usage: "weir export DIR --format jsonl|parquet|warc|links|cdxj [--out FILE] [--text] [--rank]",
    about: "Exports the pages of a crawl, finished or running, in another format.",
    examples: [
      [
        "weir export weir-data/example.org --format jsonl --text --out pages.jsonl",
        "all pages with text",
      ],
      ["weir export weir-data/example.org --format links | sort | uniq -c", "links, counted"],
      ["weir export weir-data/example.org --format warc --out site.warc.gz", "one archive file"],
      [
        "weir export weir-data/example.org --format links --popular 10000 --out popular.txt",
        "most-linked URLs, for --replicate",
      ],
    ],
    groups: { Flags: FLAGS },
  },
};

async function run(words: readonly string[]): Promise<ExitCode> {
  const { positional, flags } = readArgs(words, ["DIR"], FLAGS);
  const { format, outFile } = flags;
  if (format === undefined)
    throw new CrawlError("USAGE", `--format is missing: ${FLAGS.format.reader.expects}`);
  const [folder = ""] = positional;
  await refuseSeveral(folder, "weir export");
  const damages = flags.strict ? undefined : new Damages();
  const store = openReadOnly(folder, damages?.add);
  const job = {
    format,
    store,
    archiveFolder: archiveFolder(folder),
    withText: flags.text,
    withRank: flags.rank,
    popularCount: flags.popularCount,
    onDamage: damages?.add,
  };
  try {
    if (outFile === undefined) await writeTo(process.stdout, job);
    else await writeFileWhole(outFile, job);
    damages?.report(folder);
  } catch (error) {
    if (!(error instanceof DamagedRecord)) throw error;
    throw new CrawlError("STORE_CORRUPT", `The archive is damaged: ${error.message}`, {
      cause: error,
    });
  } finally {
    await store.close();
  }
  return EXIT.done;
}

async function writeTo(stream: Writable, job: Job): Promise<void> {
  const { format, store, archiveFolder } = job;
  const archives = archivesOf(archiveFolder, store.marks);
  const needsArchive = format === "warc" || format === "cdxj" || job.withText;
  if (needsArchive && archives.length === 0)
    throw new CrawlError("USAGE", "This crawl was made with --no-warc and has no archive.");
  const ranks = job.withRank ? pageRank(linkGraphOf(store)) : undefined;
  const { onDamage } = job;
  const extras = { archiveFolder: job.withText ? archiveFolder : undefined, ranks, onDamage };
  switch (format) {
    case "jsonl":
      return writeLines(pageLines(store, extras), stream);
    case "parquet":
      refuseTerminal(stream, "A table");
      return writeBytes(parquetFile(pageRows(store, extras), PAGE_COLUMNS), stream);
    case "links": {
      if (job.popularCount !== undefined)
        return writeLines(popularUrls(store, job.popularCount), stream);
      const book = new UrlBook(store, ranks);
      return writeLines(edgeLines(linkingPages(store, book), book.urlOf), stream);
    }
    case "cdxj":
      return writeLines(sortedLines(cdxjLines(archives, onDamage)), stream);
    case "warc":
      refuseTerminal(stream, "An archive");
      return concatenateArchives(archives, stream);
  }
}

function refuseTerminal(stream: Writable, what: string): void {
  if (stream === process.stdout && process.stdout.isTTY)
    throw new CrawlError(
      "USAGE",
      `${what} is not text, so it is not written to a terminal; use --out FILE.`,
    );
}

async function writeFileWhole(file: string, job: Job): Promise<void> {
  if (job.format === "warc" && isFolder(file))
    return copyArchives(archivesOf(job.archiveFolder, job.store.marks), file);
  const part = `${file}.part`;
  const stream = createWriteStream(part);
  try {
    await writeTo(stream, job);
    stream.end();
    await finished(stream);
    renameSync(part, file);
  } catch (error) {
    stream.destroy();
    rmSync(part, { force: true });
    throw unwritable(error, file);
  }
  process.stderr.write(`${visible(file, 300)} is written.\n`);
}

function isFolder(path: string): boolean {
  return path.endsWith("/") || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
