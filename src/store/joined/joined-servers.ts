/**
 * Reads the measured servers of a crawl: from the file of a single process, or merged from the files of
 * several processes, with the latest measurement of each server and the sites of all of them.
 *
 * The files are merged in order of addresses, so memory does not grow with their size.
 */

import { join } from "node:path";
import { mergeSorted } from "../../base/merge.ts";
import { readServerFile, SERVERS_FILE, type StoredServer } from "../sqlite/server-file.ts";
import { partFolders } from "../team-file.ts";

/** `speedsFile` is set when the crawl uses a file outside its folder. */
export function* serversOf(
  folder: string,
  speedsFile: string | undefined,
): Generator<StoredServer> {
  if (speedsFile !== undefined) return yield* readServerFile(speedsFile);
  const files = partFolders(folder).map((part) => readServerFile(join(part, SERVERS_FILE)));
  let latest: StoredServer | undefined;
  for (const server of mergeSorted(files, byAddress)) {
    if (latest?.address === server.address) {
      latest = joined(latest, server);
      continue;
    }
    if (latest !== undefined) yield latest;
    latest = server;
  }
  if (latest !== undefined) yield latest;
}

/** Each process knows only its own sites of the server. */
function joined(one: StoredServer, other: StoredServer): StoredServer {
  const latest = one.lastAtMs >= other.lastAtMs ? one : other;
  return { ...latest, sites: [...new Set([...one.sites, ...other.sites])] };
}

function byAddress(a: StoredServer, b: StoredServer): number {
  return a.address < b.address ? -1 : a.address > b.address ? 1 : 0;
}
