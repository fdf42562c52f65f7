/**
 * The folder of a crawl by several processes: what it was begun with, and how the web was divided last.
 *
 * A folder that was begun with other processes cannot go on with these: each has its part of the web on
 * disk.
 */

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CrawlError } from "../base/errors.ts";
import type { Settings } from "../config/schema.ts";
import type { Division } from "../crawl/border.ts";
import { readDivision, writeDivision, type WrittenDivision } from "./notes.ts";

interface TeamFile {
  readonly version: 1;
  readonly procs: number;
  readonly names: readonly string[];
  readonly coordination: string;
  readonly mode: string;
  readonly partition: string;
  readonly buckets: number;
}

export function openTeamFolder(
  folder: string,
  settings: Settings,
  names: readonly string[],
): { readonly isResumed: boolean } {
  const file = join(folder, "team.json");
  const now: TeamFile = {
    version: 1,
    procs: names.length,
    names,
    coordination: settings.coordination,
    mode: settings.mode ?? "exchange",
    partition: settings.partition ?? "site-hash",
    buckets: settings.bucketCount,
  };
  mkdirSync(join(folder, "state"), { recursive: true });
  const before = settings.fresh ? undefined : readTeam(file);
  if (before === undefined && !settings.fresh) refuseLoneStore(folder);
  if (before !== undefined) refuseOther(before, now);
  if (settings.fresh) rmSync(divisionFile(folder), { force: true });
  writeWhole(file, JSON.stringify(now));
  return { isResumed: before !== undefined };
}

export function readKeptDivision(folder: string, names: readonly string[]): Division | undefined {
  try {
    const text = readFileSync(divisionFile(folder), "utf8");
    const division = readDivision(JSON.parse(text) as WrittenDivision);
    const isOurs = division.owners.every((owner) => owner === "" || names.includes(owner));
    return isOurs ? division : undefined;
  } catch {
    // None was kept, or not to its end: then nothing has been handed out that stores do not know.
    return undefined;
  }
}

export function keepDivision(folder: string, division: Division): void {
  writeWhole(divisionFile(folder), JSON.stringify(writeDivision(division)));
}

function divisionFile(folder: string): string {
  return join(folder, "state", "division.json");
}

function readTeam(file: string): TeamFile | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8")) as TeamFile;
  } catch (error) {
    throw new CrawlError("STORE_CORRUPT", `${file} cannot be read`, { cause: error });
  }
}

function refuseLoneStore(folder: string): void {
  if (!existsSync(join(folder, "state", "crawl.sqlite"))) return;
  const what =
    "The crawl in this folder was begun by one process, and has its whole web in one store.";
  throw new CrawlError("STORE_CHANGED", what);
}

function refuseOther(before: TeamFile, now: TeamFile): void {
  const keys = ["procs", "coordination", "mode", "partition", "buckets"] as const;
  const changed = keys.filter((key) => before[key] !== now[key]);
  if (changed.length === 0) return;
  const words = changed.map((key) => `${key} ${before[key]} (now ${now[key]})`);
  throw new CrawlError(
    "STORE_CHANGED",
    `The crawl in this folder was begun with ${words.join(", ")}.`,
  );
}

function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.part`, text);
  renameSync(`${file}.part`, file);
}
