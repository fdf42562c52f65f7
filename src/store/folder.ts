/**
 * Makes a folder ours, and ours alone.
 *
 * `weir.json` marks the folder of a crawl; a folder with anything else in it is left untouched. The
 * mark is written before the first other file and says `new` until the store is whole, so that a
 * kill in between leaves a folder that can be begun again, while a store that has lost its files is
 * not mistaken for one that never had any.
 *
 * The lock is an open transaction on an empty SQLite file. The system drops it when the process
 * ends, however it ends, so there is no stale lock to clear away.
 */

import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from "node:fs";
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
import { DatabaseSync } from "node:sqlite";
import { CrawlError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { OWNER_ONLY } from "../base/owner-only.ts";
import { explained, explaining } from "./disk-trouble.ts";

const MARKER = "weir.json";
const LOCK = "lock.db";
/** Files that systems leave in folders by themselves. */
const IGNORED: ReadonlySet<string> = new Set([".DS_Store", "Thumbs.db", "lost+found", "node.json"]);

type Stage = "new" | "ready";

export interface Claim {
  /** Where the store keeps its files. */
  readonly stateFolder: string;
  /** The crawl's database. */
  readonly database: string;
  /** Whether a store was whole here before. */
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
      // Asked again under the lock: somebody may have finished a store here in the meantime.
      isReady: stageOf(folder) === "ready",
      markReady: () => writeMarker(folder, "ready"),
      release: () => lock.close(),
    };
  });
}

/**
 * Closes a crawl's folder to other users of the machine, whatever the umask was when it was made: it holds what
 * was fetched and the control of the crawl. Its files are protected by it. One that cannot be closed is reported.
 */
export function closeToOthers(folder: string, log: Log): void {
  // Windows has no such modes; folders there inherit the access list of the user's own.
  if (process.platform === "win32" || (statSync(folder).mode & 0o777) === OWNER_ONLY) return;
  const values = { folder, mode: OWNER_ONLY.toString(8) };
  try {
    chmodSync(folder, OWNER_ONLY);
    log.write({
      level: "warn",
      message: "other users could read the crawl's folder; it is now closed to them",
      values,
    });
  } catch {
    log.write({
      level: "warn",
      message: "other users can read the crawl's folder, and its mode cannot be changed",
      values,
    });
  }
}

/** Where the files of a crawl are that somebody else may be running. */
export function findStore(folder: string): { stateFolder: string; database: string } {
  if (!hasStore(folder)) throw new CrawlError("FOLDER_MISSING", `${folder} does not hold a crawl`);
  return pathsIn(folder);
}

/** Whether a store has been made here. Throws for a folder of somebody else. */
export function hasStore(folder: string): boolean {
  return explaining(folder, () => existsSync(folder) && stageOf(folder) === "ready");
}

/** Forgets the store of a folder, damaged or not; the outputs are not its business. */
export function eraseStore(folder: string): void {
  if (!existsSync(folder)) return;
  explaining(folder, () => {
    if (!isOurs(folder)) return;
    const lock = lockIn(folder);
    writeMarker(folder, "new");
    const { stateFolder } = pathsIn(folder);
    for (const file of readdirSync(stateFolder))
      if (file !== LOCK) rmSync(join(stateFolder, file), { recursive: true });
    lock.close();
  });
}

/** Whether there is a crawl, even a damaged one. Throws for a folder of somebody else. */
function isOurs(folder: string): boolean {
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

/** What the marker says; undefined where nothing has begun. Throws for a folder of somebody else. */
function stageOf(folder: string): Stage | undefined {
  const files = readdirSync(folder).filter((file) => !IGNORED.has(file));
  if (files.length === 0) return undefined;
  if (!files.includes(MARKER))
    throw new CrawlError("FOLDER_FOREIGN", `${folder} holds ${files.length} files, no ${MARKER}`);
  const path = join(folder, MARKER);
  const text = readFileSync(path, "utf8");
  // Killed between making the file and filling it, before there was anything else.
  if (text === "" && files.length === 1) return undefined;
  const marker = parse(text);
  if (marker?.weir === "crawl" && (marker.stage === "new" || marker.stage === "ready"))
    return marker.stage;
  const isOurs = files.includes("state");
  throw new CrawlError(
    isOurs ? "STORE_CORRUPT" : "FOLDER_FOREIGN",
    `${path} is not ours or damaged`,
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

/** By way of another name, so that the file is never seen half written. */
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

function lockIn(folder: string): DatabaseSync {
  const { stateFolder } = pathsIn(folder);
  mkdirSync(stateFolder, { recursive: true, mode: OWNER_ONLY });
  const path = join(stateFolder, LOCK);
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    const told = explained(error, path);
    if (told instanceof CrawlError && told.code === "STORE_LOCKED")
      throw new CrawlError("STORE_LOCKED", `${folder} is in use`, { cause: error });
    throw told;
  }
}
