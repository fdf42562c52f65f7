/**
 * What is known of servers in a crawl's folder: from the file of one that crawls alone, or from those of
 * several processes, where of each server the latest measurement counts.
 *
 * All files are read side by side in the order of addresses, so memory does not grow with them.
 */

import { join } from "node:path";
import { mergeSorted } from "../base/merge.ts";
import { readServerFile, SERVERS_FILE, type StoredServer } from "./server-file.ts";
import { partFolders } from "./team-file.ts";

/** `speedsFile` where the crawl was given one of its own. */
export function* serversOf(
  folder: string,
  speedsFile: string | undefined,
): Generator<StoredServer> {
  if (speedsFile !== undefined) return yield* readServerFile(speedsFile);
  const files = partFolders(folder).map((part) => readServerFile(join(part, SERVERS_FILE)));
  let latest: StoredServer | undefined;
  for (const server of mergeSorted(files, byAddress)) {
    if (latest !== undefined && latest.address !== server.address) yield latest;
    const isOlder = latest?.address === server.address && latest.lastAtMs >= server.lastAtMs;
    if (!isOlder) latest = server;
  }
  if (latest !== undefined) yield latest;
}

function byAddress(a: StoredServer, b: StoredServer): number {
  return a.address < b.address ? -1 : a.address > b.address ? 1 : 0;
}
