/** Opens a crawl for reading: the store of one process, or those of several as one. */

import { basename } from "node:path";
import { cleaningUpAfter, openReader } from "../sqlite/store-sqlite.ts";
import type { OnDamagedRow } from "../sqlite/sqlite-reader.ts";
import type { ReadableStore } from "../store.ts";
import { readTeam, storeFolders } from "../team-file.ts";
import { joinStores, type StorePart } from "./joined-view.ts";

/**
 * Opens a store for reading, during or after a crawl; new commits become visible, and nothing is written. The
 * folder of several processes is read as one crawl. With `onDamagedRow`, damaged rows of a single store are reported
 * and left out.
 */
export function openReadOnly(folder: string, onDamagedRow?: OnDamagedRow): ReadableStore {
  return readTeam(folder) === undefined
    ? openReader(folder, onDamagedRow)
    : openJoined(storeFolders(folder));
}

function openJoined(folders: readonly string[]): ReadableStore {
  const parts: StorePart[] = [];
  const view = (): ReadableStore => {
    for (const folder of folders) parts.push({ name: basename(folder), store: openReader(folder) });
    return joinStores(parts);
  };
  return cleaningUpAfter(view, () => {
    for (const { store } of parts) void store.close();
  });
}
