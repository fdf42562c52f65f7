/**
 * The folder of a crawl by several processes: its settings and its last division.
 *
 * A folder begun with other processes is refused, because each of them has its part of the web on disk.
 */

import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CrawlError } from "../base/errors.ts";
import { OWNER_ONLY } from "../base/owner-only.ts";
import type { Settings } from "../config/schema.ts";
import type { Division } from "../crawl/ownership.ts";
import { checkFree, eraseCrawls, hasStore, markNew, writeWhole } from "../store/folder.ts";
import { partFolders, readTeam, TEAM_FILE, type TeamFile, writeTeam } from "../store/team-file.ts";
import { readDivision, writeDivision, type WrittenDivision } from "./division-codec.ts";

/**
 * Removes what `--fresh` replaces and the new crawl's processes do not replace themselves: stores of processes
 * that it does not have, and the marks of another layout. `names` is empty for a crawl by one process. Touches
 * nothing while the earlier crawl runs.
 */
export function clearFor(folder: string, names: readonly string[]): void {
  const team = readTeam(folder);
  const before = partFolders(folder);
  checkFree(before);
  if (team === undefined) return names.length > 0 ? eraseCrawls([folder]) : undefined;
  const replaced = new Set(names.map((name) => join(folder, name)));
  eraseCrawls(before.filter((part) => !replaced.has(part)));
  rmSync(divisionFile(folder), { force: true });
  if (names.length > 0) return;
  // Written before the other mark is removed: foreign files may be here, and a kill may come in between.
  markNew(folder);
  rmSync(join(folder, TEAM_FILE), { force: true });
}

/** The folder of a node becomes that of a crawl by one process. */
export function forgetNode(folder: string): void {
  rmSync(nodeFile(folder), { force: true });
}

export function openTeamFolder(
  folder: string,
  settings: Settings,
  names: readonly string[],
): { readonly isResumed: boolean } {
  const now: TeamFile = {
    version: 1,
    procs: names.length,
    names,
    coordination: settings.coordination,
    mode: settings.mode ?? "exchange",
    partition: settings.partition ?? "site-hash",
    buckets: settings.bucketCount,
    ...(settings.sampleShare === undefined ? {} : { sample: settings.sampleShare }),
  };
  if (settings.fresh) clearFor(folder, names);
  const before = readTeam(folder);
  if (before === undefined) refuseLoneStore(folder);
  mkdirSync(join(folder, "state"), { recursive: true, mode: OWNER_ONLY });
  if (before !== undefined && !settings.fresh) refuseOther(before, now);
  writeTeam(folder, now);
  return { isResumed: before !== undefined && !settings.fresh };
}

export function readKeptDivision(folder: string, names: readonly string[]): Division | undefined {
  try {
    const text = readFileSync(divisionFile(folder), "utf8");
    const division = readDivision(JSON.parse(text) as WrittenDivision);
    const isOurs = division?.owners.every((owner) => owner === "" || names.includes(owner));
    return isOurs === true ? division : undefined;
  } catch {
    // Missing or incomplete: then no part was handed out that the stores do not know.
    return undefined;
  }
}

export function keepDivision(folder: string, division: Division): void {
  writeWhole(divisionFile(folder), JSON.stringify(writeDivision(division)));
}

function divisionFile(folder: string): string {
  return join(folder, "state", "division.json");
}

function refuseLoneStore(folder: string): void {
  if (!hasStore(folder)) return;
  const what = "The crawl in this folder was started by one process, with one store for all.";
  throw new CrawlError("STORE_CHANGED", what);
}

function refuseOther(before: TeamFile, now: TeamFile): void {
  const keys = ["procs", "coordination", "mode", "partition", "buckets", "sample"] as const;
  const changed = keys.filter((key) => before[key] !== now[key]);
  if (changed.length === 0) return;
  const words = changed.map((key) => `${key} ${before[key] ?? "none"} (now ${now[key] ?? "none"})`);
  throw new CrawlError(
    "STORE_CHANGED",
    `The crawl in this folder was started with ${words.join(", ")}.`,
  );
}

interface NodeFile {
  readonly name: string;
  /** The name of its crawl. */
  readonly crawl: string;
}

/** Refuses the folder of another crawl before anything is written there. */
export function checkNodeFolder(folder: string, crawl: string): void {
  const before = readNode(folder);
  if (readTeam(folder) !== undefined)
    throw new CrawlError(
      "STORE_CHANGED",
      "The crawl in this folder was started with several processes (--procs).",
    );
  if (before === undefined) return refuseLoneStore(folder);
  if (before.crawl !== crawl)
    throw new CrawlError(
      "STORE_CHANGED",
      `This folder is of a node of the crawl ${JSON.stringify(before.crawl)}, not of ${JSON.stringify(crawl)}.`,
    );
}

/** The same for a crawl by one process. */
export function checkLoneFolder(folder: string): void {
  const team = readTeam(folder);
  const node = readNode(folder);
  if (team === undefined && node === undefined) return;
  const by =
    team === undefined
      ? `as a node of the cluster's crawl ${JSON.stringify(node?.crawl)} (--nats)`
      : `with --procs ${team.procs}`;
  throw new CrawlError(
    "STORE_CHANGED",
    `The crawl in this folder was started ${by}, not by one process.`,
  );
}

/** A node of a cluster keeps its name as long as it keeps its folder. */
export function keepNodeName(folder: string, crawl: string, usual: string): string {
  const name = readNode(folder)?.name ?? usual;
  mkdirSync(folder, { recursive: true, mode: OWNER_ONLY });
  writeWhole(nodeFile(folder), JSON.stringify({ name, crawl } satisfies NodeFile));
  return name;
}

function nodeFile(folder: string): string {
  return join(folder, "node.json");
}

function readNode(folder: string): NodeFile | undefined {
  try {
    return JSON.parse(readFileSync(nodeFile(folder), "utf8")) as NodeFile;
  } catch {
    return undefined;
  }
}
