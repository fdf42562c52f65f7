/**
 * Claims a folder for one crawl process.
 *
 * `weir.json` marks the folder of a crawl; a folder with other files and no marker is not touched. The
 * marker is written before any other file and has the stage `new` until the store is complete. So a
 * folder left by a kill in between can be started again, and a store that has lost its files is not
 * mistaken for a new one.
 */

import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
} from "node:fs";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { CrawlError } from "../base/errors.ts";
import { type FileLock, lockFile } from "../base/file-lock.ts";
import type { Log } from "../base/log.ts";
import { OWNER_ONLY } from "../base/owner-only.ts";
import { explained, explaining } from "../base/disk-trouble.ts";

const MARKER = "weir.json";
const LOCK = "lock.db";
/** Files that systems leave in folders by themselves. */
const IGNORED: ReadonlySet<string> = new Set([".DS_Store", "Thumbs.db", "lost+found", "node.json"]);

type Stage = "new" | "ready";

export interface Claim {
  /** Folder of the store's files. */
  readonly stateFolder: string;
  /** The crawl's database. */
  readonly database: string;
  /** Whether the folder already had a complete store. */
  readonly isReady: boolean;
  markReady(): void;
  release(): void;
}

export function claimFolder(folder: string): Claim {
  return explaining(folder, () => {
    mkdirSync(folder, { recursive: true, mode: OWNER_ONLY });
    if (stageOf(folder) === undefined) writeFileSync(join(folder, MARKER), markerText("new"));
    const lock = lockIn(folder);
    return {
      ...pathsIn(folder),
      // Read again under the lock, because another process may have completed a store in the meantime.
      isReady: stageOf(folder) === "ready",
      markReady: () => writeMarker(folder, "ready"),
      release: () => lock.release(),
    };
  });
}

/**
 * Closes a crawl's folder to other users of the machine, under any umask, because it contains the fetched pages
 * and the control of the crawl. The folder's mode protects its files. A failure is logged.
 */
export function closeToOthers(folder: string, log: Log): void {
  // Windows has no such modes; folders there inherit the access list of the user's folder.
  if (process.platform === "win32" || (statSync(folder).mode & 0o777) === OWNER_ONLY) return;
  const values = { folder, mode: OWNER_ONLY.toString(8) };
  try {
    chmodSync(folder, OWNER_ONLY);
    log.write({
      level: "warn",
      message: "the crawl's folder was readable for other users; its mode has been changed",
      values,
    });
  } catch {
    log.write({
      level: "warn",
      message: "the crawl's folder is readable for other users, and its mode cannot be changed",
      values,
    });
  }
}

/** Paths of an existing crawl, which another process may be running. */
export function findStore(folder: string): { stateFolder: string; database: string } {
  if (!hasStore(folder))
    throw new CrawlError("FOLDER_MISSING", `${folder} does not contain a crawl`);
  return pathsIn(folder);
}

/** Whether the folder has a complete store. Throws for a folder without a marker and with other files. */
export function hasStore(folder: string): boolean {
  return explaining(folder, () => existsSync(folder) && stageOf(folder) === "ready");
}

/** Deletes the store of a folder, even a damaged one, but not the outputs. */
export function eraseStore(folder: string): void {
  if (!existsSync(folder)) return;
  explaining(folder, () => {
    if (!isCrawlFolder(folder)) return;
    const lock = lockIn(folder);
    writeMarker(folder, "new");
    const { stateFolder } = pathsIn(folder);
    for (const file of readdirSync(stateFolder))
      if (file !== LOCK) rmSync(join(stateFolder, file), { recursive: true });
    lock.release();
  });
}

/** What a crawl leaves in its folder besides its archive. */
const OWN_FILES = [
  "state",
  "search",
  "control",
  "servers.db",
  "servers.db-wal",
  "servers.db-shm",
  "status.json",
  "settings.json",
  "report.html",
  "node.json",
] as const;
const ARCHIVE_FILE = /^weir-\d{5,9}\.warc\.gz$/;

/** Throws when one of the folders is in use or is foreign; empty ones are free. */
export function checkFree(folders: readonly string[]): void {
  const locks: FileLock[] = [];
  try {
    for (const folder of folders.filter(holdsCrawl))
      locks.push(explaining(folder, () => lockIn(folder)));
  } finally {
    for (const lock of locks) lock.release();
  }
}

/** Removes the crawls in these folders with all their files, and each folder that is then empty. */
export function eraseCrawls(folders: readonly string[]): void {
  for (const folder of folders.filter(holdsCrawl)) {
    eraseStore(folder);
    explaining(folder, () => {
      const archive = join(folder, "archive");
      for (const file of existsSync(archive) ? readdirSync(archive) : [])
        if (ARCHIVE_FILE.test(file)) rmSync(join(archive, file));
      for (const file of OWN_FILES) rmSync(join(folder, file), { recursive: true, force: true });
      if (existsSync(archive) && readdirSync(archive).length === 0) rmdirSync(archive);
      // Beside foreign files the marker stays: without it the folder would be foreign.
      const isAlone = readdirSync(folder).every((file) => file === MARKER);
      if (isAlone) rmSync(folder, { recursive: true });
    });
  }
}

function holdsCrawl(folder: string): boolean {
  return existsSync(folder) && explaining(folder, () => isCrawlFolder(folder));
}

/** Marks a folder in which several processes have crawled as the folder of a new crawl by one. */
export function markNew(folder: string): void {
  explaining(folder, () => writeMarker(folder, "new"));
}

/** Whether the folder has a crawl, even a damaged one. Throws for a foreign folder. */
function isCrawlFolder(folder: string): boolean {
  try {
    return stageOf(folder) !== undefined;
  } catch (error) {
    if (error instanceof CrawlError && error.code === "STORE_CORRUPT") return true;
    throw error;
  }
}

function pathsIn(folder: string): { stateFolder: string; database: string } {
  const stateFolder = join(folder, "state");
  return { stateFolder, database: join(stateFolder, "crawl.db") };
}

/** The marker's stage; undefined for an empty folder. Throws for a foreign folder. */
function stageOf(folder: string): Stage | undefined {
  const files = readdirSync(folder).filter((file) => !IGNORED.has(file));
  if (files.length === 0) return undefined;
  if (!files.includes(MARKER))
    throw new CrawlError("FOLDER_FOREIGN", `${folder} holds ${files.length} files, no ${MARKER}`);
  const path = join(folder, MARKER);
  const text = readFileSync(path, "utf8");
  // A process was killed between creating the marker and writing it.
  if (text === "" && files.length === 1) return undefined;
  const marker = parse(text);
  if (marker?.weir === "crawl" && (marker.stage === "new" || marker.stage === "ready"))
    return marker.stage;
  const hasState = files.includes("state");
  throw new CrawlError(
    hasState ? "STORE_CORRUPT" : "FOLDER_FOREIGN",
    `${path} is not a crawl's marker, or it is damaged`,
  );
}

function parse(text: string): { weir?: unknown; stage?: unknown } | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

function writeMarker(folder: string, stage: Stage): void {
  writeWhole(join(folder, MARKER), markerText(stage));
}

/** Writes a file under a temporary name and renames it, so that it is never incomplete. */
export function writeWhole(path: string, text: string): void {
  const file = openSync(`${path}.tmp`, "w");
  writeSync(file, text);
  fsyncSync(file);
  closeSync(file);
  renameSync(`${path}.tmp`, path);
}

function markerText(stage: Stage): string {
  return `${JSON.stringify({ weir: "crawl", stage })}\n`;
}

function lockIn(folder: string): FileLock {
  const { stateFolder } = pathsIn(folder);
  mkdirSync(stateFolder, { recursive: true, mode: OWNER_ONLY });
  const path = join(stateFolder, LOCK);
  try {
    return lockFile(path);
  } catch (error) {
    const found = explained(error, path);
    if (found instanceof CrawlError && found.code === "STORE_LOCKED")
      throw new CrawlError("STORE_LOCKED", `${folder} is in use`, { cause: error });
    throw found;
  }
}
