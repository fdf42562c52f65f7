/** `weir check DIR|FILE…`: verifies a collection, or archive files of any tool, and copies what is whole. */

import { closeSync, createWriteStream, openSync, readSync, rmSync, statSync } from "node:fs";
import type { WriteStream } from "node:fs";
import { once } from "node:events";
import { finished } from "node:stream/promises";
import { CrawlError } from "../../base/errors.ts";
import { showBytes } from "../../base/units.ts";
import { visible } from "../../base/visible.ts";
import type { FieldTable } from "../../config/field.ts";
import { words as someWords } from "../../config/readers.ts";
import {
  checkCollection,
  checkFiles,
  type CheckHooks,
  type CheckSums,
  type Fault,
} from "../../results/check-collection.ts";
import { runningSnapshot } from "../../results/crawl-folder.ts";
import { plural, showCount } from "../amounts.ts";
import { JSON_FLAG, readArgs } from "../args.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Command } from "../help.ts";
import { isLively, paletteFor } from "../terminal.ts";
import { unwritable } from "../write-out.ts";

/** Faults that are listed; all are counted. */
const FAULTS_SHOWN_MAX = 100;

const FLAGS = {
  salvageFile: {
    key: "salvage",
    meaning: "Copy all records that are whole, with right digests, to this new WARC file.",
    reader: someWords("FILE", "the name of a file"),
  },
  ...JSON_FLAG,
} as const satisfies FieldTable;

export const command: Command = {
  run,
  page: {
    usage: "weir check DIR|FILE… [--salvage FILE] [--json]",
    about:
      "Checks the collection of a crawl: every record of the archive with its checksum and digests, every row of the store, the accounts, and that each page has its record. Or checks WARC files of any tool. Changes nothing.",
    examples: [
      ["weir check weir-data/example.org", "exit 0: whole; exit 1: damaged, with a list"],
      ["weir check weir-data/example.org --salvage whole.warc.gz", "copy the undamaged records"],
      [
        "weir check weir-data/example.org/archive/*.warc.gz",
        "archive files, also those of other tools",
      ],
    ],
    groups: { Flags: FLAGS },
    ending:
      "`weir export` leaves damaged records out, with a warning; the other exports do not need the archive.",
  },
};

async function run(words: readonly string[]): Promise<ExitCode> {
  const { positional, flags } = readArgs(words, ["DIR|FILE…"], FLAGS);
  const salvage = flags.salvageFile === undefined ? undefined : new Salvage(flags.salvageFile);
  const faults: Fault[] = [];
  const hooks: CheckHooks = {
    onFault: (fault) => {
      if (faults.length < FAULTS_SHOWN_MAX) faults.push(fault);
    },
    onProgress: progressTeller(),
    ...(salvage === undefined
      ? {}
      : { onWhole: (file, { offset, length }) => salvage.add(file, offset, length) }),
  };
  const sums = checkAll(positional, hooks);
  await salvage?.write();
  const faultCount = Object.values(sums.faults).reduce((sum, count) => sum + count, 0);
  const text = flags.json
    ? JSON.stringify({ ok: faultCount === 0, ...sums, salvaged: salvage?.records, list: faults })
    : linesOf(sums, faults, faultCount, salvage).join("\n");
  process.stdout.write(`${text}\n`);
  return faultCount === 0 ? EXIT.done : EXIT.failed;
}

function checkAll(paths: readonly string[], hooks: CheckHooks): CheckSums {
  const [first = ""] = paths;
  const areFiles = paths.map((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined)
      throw new CrawlError("FOLDER_MISSING", `${visible(path, 300)} does not exist`);
    return found.isFile();
  });
  if (areFiles.every(Boolean)) return checkFiles(paths, hooks);
  if (paths.length > 1)
    throw new CrawlError("USAGE", "Give the folder of one crawl, or one or more WARC files.");
  return checkCollection(first, runningSnapshot(first) !== undefined, hooks);
}

/** Ranges of whole members, copied as they are. */
class Salvage {
  readonly file: string;
  records = 0;
  readonly #ranges: { readonly from: string; readonly offset: number; length: number }[] = [];

  constructor(file: string) {
    this.file = file;
  }

  add(from: string, offset: number, length: number): void {
    this.records += 1;
    const last = this.#ranges.at(-1);
    const isSame = last?.from === from && last.offset + last.length >= offset + length;
    if (isSame) return;
    if (last?.from === from && last.offset + last.length === offset) last.length += length;
    else this.#ranges.push({ from, offset, length });
  }

  async write(): Promise<void> {
    const stream = createWriteStream(this.file, { flags: "wx" });
    try {
      for (const range of this.#ranges) await copyRange(range, stream);
      stream.end();
      await finished(stream);
    } catch (error) {
      stream.destroy();
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code !== "EEXIST") rmSync(this.file, { force: true });
      throw unwritable(error, this.file);
    }
  }
}

const COPIED_BYTES = 2 ** 20;

async function copyRange(
  { from, offset, length }: { from: string; offset: number; length: number },
  to: WriteStream,
): Promise<void> {
  const descriptor = openSync(from, "r");
  try {
    for (let done = 0; done < length;) {
      const bytes = Buffer.allocUnsafe(Math.min(COPIED_BYTES, length - done));
      const got = readSync(descriptor, bytes, 0, bytes.length, offset + done);
      if (got === 0) return;
      done += got;
      if (!to.write(bytes.subarray(0, got))) await once(to, "drain");
    }
  } finally {
    closeSync(descriptor);
  }
}

function linesOf(
  sums: CheckSums,
  faults: readonly Fault[],
  faultCount: number,
  salvage: Salvage | undefined,
): string[] {
  const palette = paletteFor(process.stdout, process.env);
  const archive = `${plural(sums.records, "record")} in ${plural(sums.files, "archive file")} (${showBytes(sums.bytes)}), ${plural(sums.digests, "digest")} compared`;
  const store = `${plural(sums.urls, "URL")} and ${plural(sums.pages, "page")} in the store`;
  const { damaged_row: damagedRows, accounts: imbalances } = sums.faults;
  const accounts = sums.accounts
    ? imbalances === undefined
      ? "; the accounts agree"
      : ""
    : `; the accounts were not compared, because ${damagedRows === undefined ? "the crawl is running" : "rows are damaged"}`;
  const hasStore = sums.urls > 0 || sums.accounts || damagedRows !== undefined;
  const shown = faults.map(
    ({ kind, where, detail }) => `  ${kind}: ${visible(where, 300)}: ${visible(detail, 300)}`,
  );
  return [
    archive,
    ...(hasStore ? [`${store}${accounts}`] : []),
    ...(faultCount === 0 ? [palette.good("No damage found.")] : []),
    ...(faultCount > 0 ? [palette.bad(`${plural(faultCount, "fault")}:`), ...shown] : []),
    ...(faultCount > faults.length ? ["  …"] : []),
    ...(salvage === undefined
      ? []
      : [`${plural(salvage.records, "whole record")} copied to ${visible(salvage.file, 300)}.`]),
  ];
}

const TOLD_EVERY_MS = 200;

/** Shows the progress in a terminal. */
function progressTeller(): (sums: CheckSums) => void {
  const stream = process.stderr;
  if (!isLively(stream, process.env)) return () => {};
  let toldAtMs = -Infinity;
  return ({ records, bytes }) => {
    const nowMs = performance.now();
    if (nowMs < toldAtMs + TOLD_EVERY_MS) return;
    toldAtMs = nowMs;
    stream.write(`\r${showCount(records)} records, ${showBytes(bytes)}\x1b[K`);
  };
}
