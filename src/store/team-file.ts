/**
 * `team.json`, the mark of a folder in which several processes crawl: who they are, and how the web was
 * divided among them.
 *
 * Each process has a folder of its own name inside, laid out as that of a crawl of one. Whoever reads the
 * folder as one crawl finds its parts here.
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CrawlError } from "../base/errors.ts";
import { explaining } from "./disk-trouble.ts";
import { hasStore, writeWhole } from "./folder.ts";

export const TEAM_FILE = "team.json";
const VERSION = 1;
/** A name is also that of a folder, so it cannot lead anywhere else. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export interface TeamFile {
  readonly version: typeof VERSION;
  readonly procs: number;
  /** Of the processes, and of their folders. */
  readonly names: readonly string[];
  readonly coordination: string;
  readonly mode: string;
  readonly partition: string;
  readonly buckets: number;
  /** What part of all addresses is fetched whosever it is; not there without a sample. */
  readonly sample?: number | undefined;
}

/** undefined where one process crawls alone, or nobody. */
export function readTeam(folder: string): TeamFile | undefined {
  const path = join(folder, TEAM_FILE);
  return explaining(path, () => {
    if (!existsSync(path)) return undefined;
    const said = parsed(readFileSync(path, "utf8"));
    if (typeof said?.version === "number" && said.version > VERSION)
      throw new CrawlError(
        "STORE_NEWER",
        `${path} has version ${said.version}, this Weir knows ${VERSION}`,
      );
    if (said === undefined || !isTeam(said))
      throw new CrawlError("STORE_CORRUPT", `${path} is damaged`);
    return said;
  });
}

export function writeTeam(folder: string, team: TeamFile): void {
  const path = join(folder, TEAM_FILE);
  explaining(path, () => writeWhole(path, `${JSON.stringify(team)}\n`));
}

/** The folders of a crawl's processes, in order; of one that crawls alone, its own. */
export function partFolders(folder: string): string[] {
  return readTeam(folder)?.names.map((name) => join(folder, name)) ?? [folder];
}

/** The same, of those who have begun. Throws when nobody has. */
export function storeFolders(folder: string): string[] {
  const begun = partFolders(folder).filter(hasStore);
  if (begun.length === 0) throw new CrawlError("FOLDER_MISSING", `${folder} does not hold a crawl`);
  return begun;
}

/** From where the names of a crawl's archive files lead to them. */
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

function isTeam(said: Partial<Record<keyof TeamFile, unknown>>): said is TeamFile {
  const { version, procs, names, coordination, mode, partition, buckets } = said;
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
