/**
 * The facts of earlier crawls about sites to plan: their bytes and pages, the delay of their
 * robots.txt, and the speed of their servers at this hour.
 *
 * Read-only: a running crawl in the same folder is not disturbed. A missing folder has no facts.
 * The file of speeds is read once completely, about a second for half a million servers.
 */

import { existsSync } from "node:fs";
import type { Strayed } from "../bandwidth/history/scatter.ts";
import type { Moment } from "../bandwidth/history/speed-table.ts";
import { CrawlError } from "../base/errors.ts";
import type { Settings } from "../config/schema.ts";
import { speedTableFor } from "../crawl/limit/link-budget.ts";
import { bytesBeforeRound } from "../crawl/site.ts";
import { TYPICAL_PAGE_BYTES } from "../plan/promise/estimate.ts";
import { serversOf } from "../store/joined/joined-servers.ts";
import type { StoredServer } from "../store/sqlite/server-file.ts";
import { openReadOnly } from "../store/joined/open-read-only.ts";
import type { SiteRow, StoredRobots } from "../store/store.ts";
import { hostOfSite } from "../url/site.ts";

export interface Earlier {
  /** URLs that wait, and URLs that have ended. */
  readonly pending: number;
  readonly settled: number;
  /** Received in the last crawl of the site: recrawls before it do not make the site larger. */
  readonly bytes: number;
  /** Received per crawl of the site before that; 0 without one. */
  readonly bytesPerCrawlBefore: number;
  readonly robots: StoredRobots | undefined;
}

interface ServerSpeed {
  /** Its IP address. */
  readonly address: string;
  /** B(ip, h, w) of the server that was measured last, at this hour. */
  readonly downloadBps: number;
  readonly scatter: Strayed | undefined;
}

export interface Knowledge {
  readonly earlier: ReadonlyMap<string, Earlier>;
  readonly speeds: ReadonlyMap<string, ServerSpeed>;
  /** Mean bytes of a URL, over all sites. */
  readonly usualBytes: number;
}

export async function knowledgeOf(
  { settings, outFolder }: { readonly settings: Settings; readonly outFolder: string },
  sites: ReadonlySet<string>,
  moment: Moment,
): Promise<Knowledge> {
  const servers = serversOf(outFolder, settings.speedsFile);
  const speeds = speedsOf(servers, sites, { settings, moment });
  return { ...(await crawlsOf(outFolder, sites)), speeds };
}

async function crawlsOf(
  folder: string,
  sites: ReadonlySet<string>,
): Promise<Pick<Knowledge, "earlier" | "usualBytes">> {
  const earlier = new Map<string, Earlier>();
  const store = existsSync(folder) ? storeIn(folder) : undefined;
  if (store === undefined) return { earlier, usualBytes: TYPICAL_PAGE_BYTES };
  try {
    let bytes = 0;
    let settled = 0;
    for (const row of store.sites()) {
      const found = earlierOf(row);
      if (sites.has(row.key)) earlier.set(row.key, found);
      bytes += found.bytes;
      settled += found.settled;
    }
    const usualBytes = bytes > 0 ? bytes / Math.max(1, settled) : TYPICAL_PAGE_BYTES;
    return { earlier, usualBytes };
  } finally {
    await store.close();
  }
}

/** For a plan, a folder without a crawl is no mistake. */
function storeIn(folder: string): ReturnType<typeof openReadOnly> | undefined {
  try {
    return openReadOnly(folder);
  } catch (error) {
    if (error instanceof CrawlError && error.code === "FOLDER_MISSING") return undefined;
    throw error;
  }
}

function earlierOf(row: SiteRow): Earlier {
  const { pending, known, bytes, robots, round } = row;
  const bytesBefore = bytesBeforeRound(row);
  return {
    pending,
    settled: known - pending,
    bytes: bytes - bytesBefore,
    bytesPerCrawlBefore: bytesBefore / Math.max(1, (round?.number ?? 1) - 1),
    robots,
  };
}

function speedsOf(
  servers: Iterable<StoredServer>,
  sites: ReadonlySet<string>,
  { settings, moment }: { readonly settings: Settings; readonly moment: Moment },
): Map<string, ServerSpeed> {
  // A server stores only a few of its sites, but a site may be named by its IP address.
  const byHost = Map.groupBy(sites, (site) => hostOfSite(site).replace(/^\[|\]$/g, ""));
  const latest = new Map<string, StoredServer>();
  for (const server of servers)
    for (const site of [...server.sites, ...(byHost.get(server.address) ?? [])])
      if (sites.has(site) && (latest.get(site)?.lastAtMs ?? -1) < server.lastAtMs)
        latest.set(site, server);
  const table = speedTableFor(settings);
  table.restore(new Set(latest.values()));
  return new Map(
    [...latest].map(([site, { address, scatter }]) => [
      site,
      { address, downloadBps: table.predictBps(address, moment), scatter },
    ]),
  );
}
