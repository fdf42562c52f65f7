import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openStore } from "./store-sqlite.ts";
import { storeSuite } from "../store.suite.ts";

storeSuite("sqlite", (t) => {
  const folder = emptyFolder(t);
  return { open: () => openStore(folder), end: (store) => store.close() };
});

storeSuite("sqlite with tiny tables", (t) => {
  const folder = emptyFolder(t);
  return { open: () => openStore(folder, { seenEntriesMax: 40 }), end: (store) => store.close() };
});

function emptyFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-store-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}
