/** The crawls in the subfolders of a folder such as `weir-data`, and the command to type for each. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { CrawlError } from "../base/errors.ts";
import { showBytes } from "../base/units.ts";
import { visible } from "../base/visible.ts";
import { runningSnapshot } from "../results/crawl-folder.ts";
import { pendingOf } from "../results/processes.ts";
import { openReadOnly } from "../store/joined/open-read-only.ts";
import { storeFolders } from "../store/team-file.ts";
import { plural } from "./amounts.ts";
import { alignedTable } from "./row-table.ts";

interface ListedCrawl {
  readonly folder: string;
  readonly running: boolean;
  /** `running`, `done`, …, or the code of the error that prevents reading it. */
  readonly state: string;
  readonly pages: number;
  readonly bytes: number;
  readonly pending: number;
}

/** Empty for a folder that is a crawl itself, and for a folder without crawls. */
export async function crawlsInside(folder: string): Promise<ListedCrawl[]> {
  if ((await unlessNone(() => storeFolders(folder).length)) !== undefined) return [];
  const crawls: ListedCrawl[] = [];
  for (const name of foldersIn(folder)) {
    const crawl = await unlessNone(() => lookedAt(join(folder, name)));
    if (typeof crawl === "string") crawls.push(unreadable(join(folder, name), crawl));
    else if (crawl !== undefined) crawls.push(crawl);
  }
  return crawls;
}

/** Throws for the folder of several crawls, with the command to type for each. */
export async function refuseSeveral(folder: string, command: string): Promise<void> {
  const crawls = await crawlsInside(folder);
  if (crawls.length > 0)
    throw new CrawlError("FOLDER_MISSING", crawlLines(folder, crawls, command).join("\n"));
}

/** A heading, then one line for each crawl that begins with the command to type. */
export function crawlLines(
  folder: string,
  crawls: readonly ListedCrawl[],
  command: string,
): string[] {
  const rows = crawls.map((crawl) => ({
    command: `  ${command} ${visible(crawl.folder, 200)}`,
    state: crawl.state,
    pages: plural(crawl.pages, "page"),
    bytes: showBytes(crawl.bytes),
    pending: `${crawl.pending} waiting`,
  }));
  const count = plural(crawls.length, "crawl");
  return [
    `${visible(folder, 200)} holds ${count}; type the command of the one to see:`,
    ...alignedTable(rows).split("\n").slice(1),
  ];
}

async function lookedAt(folder: string): Promise<ListedCrawl> {
  const running = runningSnapshot(folder);
  if (running !== undefined) {
    const { totals, pending, state } = running;
    return { folder, running: true, state, pages: totals.pages, bytes: totals.bytes, pending };
  }
  const store = openReadOnly(folder);
  const { totals } = store;
  await store.close();
  const pending = pendingOf(totals);
  const state = pending === 0 ? "done" : "stopped";
  return { folder, running: false, state, pages: totals.pages, bytes: totals.bytes, pending };
}

function unreadable(folder: string, state: string): ListedCrawl {
  return { folder, running: false, state, pages: 0, bytes: 0, pending: 0 };
}

/** undefined where there is no crawl, the code of the error where it cannot be read. */
async function unlessNone<T>(read: () => T | Promise<T>): Promise<T | string | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof CrawlError)) throw error;
    const isNone = error.code === "FOLDER_MISSING" || error.code === "FOLDER_FOREIGN";
    return isNone ? undefined : error.code;
  }
}

function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .toSorted();
  } catch {
    return [];
  }
}
