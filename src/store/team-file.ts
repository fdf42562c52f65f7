/**
 * `team.json`, the marker of a folder in which several processes crawl: their names, and how the web is divided
 * among them.
 *
 * Each process has a subfolder with its name and the layout of a single process's crawl.
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CrawlError } from "../base/errors.ts";
import { explaining } from "../base/disk-trouble.ts";
import { hasStore, writeWhole } from "./folder.ts";

export const TEAM_FILE = "team.json";
const VERSION = 1;
/** A name is also a folder name, so it must not contain a path. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export interface TeamFile {
  readonly version: typeof VERSION;
  readonly procs: number;
  /** Names of the processes and their folders. */
  readonly names: readonly string[];
  readonly coordination: string;
  readonly mode: string;
  readonly partition: string;
  readonly buckets: number;
  /** Share of all URLs that any process fetches, regardless of the owner; absent without a sample. */
  readonly sample?: number | undefined;
}

/** undefined for a crawl by one process, and for an empty folder. */
export function readTeam(folder: string): TeamFile | undefined {
  const path = join(folder, TEAM_FILE);
  return explaining(path, () => {
    if (!existsSync(path)) return undefined;
    const team = parsed(readFileSync(path, "utf8"));
    if (typeof team?.version === "number" && team.version > VERSION)
      throw new CrawlError(
        "STORE_NEWER",
        `${path} has version ${team.version}, this Weir reads up to ${VERSION}`,
      );
    if (team === undefined || !isTeam(team))
      throw new CrawlError("STORE_CORRUPT", `${path} is damaged`);
    return team;
  });
}

export function writeTeam(folder: string, team: TeamFile): void {
  const path = join(folder, TEAM_FILE);
  explaining(path, () => writeWhole(path, `${JSON.stringify(team)}\n`));
}

/** The folders of a crawl's processes, in order; the crawl's own folder when there is only one process. */
export function partFolders(folder: string): string[] {
  return readTeam(folder)?.names.map((name) => join(folder, name)) ?? [folder];
}

/** The folders of processes that have a store. Throws when there are none. */
export function storeFolders(folder: string): string[] {
  const withStore = partFolders(folder).filter(hasStore);
  if (withStore.length === 0)
    throw new CrawlError("FOLDER_MISSING", `${folder} does not contain a crawl`);
  return withStore;
}

/** The folder that names of archive files are relative to. */
export function archiveFolder(folder: string): string {
  return readTeam(folder) === undefined ? join(folder, "archive") : folder;
}

function parsed(text: string): Partial<Record<keyof TeamFile, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function isTeam(team: Partial<Record<keyof TeamFile, unknown>>): team is TeamFile {
  const { version, procs, names, coordination, mode, partition, buckets } = team;
  const words: readonly unknown[] = [coordination, mode, partition];
  return (
    version === VERSION &&
    Array.isArray(names) &&
    names.length > 0 &&
    names.length === procs &&
    new Set(names).size === procs &&
    names.every((name) => typeof name === "string" && NAME.test(name)) &&
    words.every((word) => typeof word === "string") &&
    typeof buckets === "number"
  );
}
