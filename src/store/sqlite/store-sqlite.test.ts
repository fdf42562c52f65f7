import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { openMemoryStore, openStore } from "./store-sqlite.ts";
import { CrawlError } from "../../base/errors.ts";
import type { Store } from "../store.ts";
import { storeSuite } from "../store.suite.ts";

storeSuite("sqlite", (t) => {
  const folder = emptyFolder(t);
  return { open: () => openStore(folder), end: (store) => store.close() };
});

storeSuite("sqlite with tiny tables", (t) => {
  const folder = emptyFolder(t);
  return { open: () => openStore(folder, { seenEntriesMax: 40 }), end: (store) => store.close() };
});

storeSuite("sqlite in memory", () => {
  const database = new DatabaseSync(":memory:");
  let held: Store | undefined;
  return {
    open() {
      if (held !== undefined) throw new CrawlError("STORE_LOCKED", "the database has a store");
      return (held = openMemoryStore(database));
    },
    async end(store) {
      await store.close();
      held = undefined;
    },
  };
});

function emptyFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-store-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}
