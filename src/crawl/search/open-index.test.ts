import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { LogEntry } from "../../base/log.ts";
import { lockIndex } from "../../search/index-file.ts";
import { IndexReader } from "../../search/index-reader.ts";
import { makePage } from "../../store/store.suite.ts";
import { endUrl } from "../end-url.ts";
import { addUrl, SmallCrawl } from "../small-crawl.suite.ts";
import { openIndexFor } from "./open-index.ts";

const WITH_ARCHIVE = { warc: true, searchStemming: "none" } as const;

test("missing pages are added before the index is opened, and its lock is held until it closes", async (t) => {
  const { folder, store, log } = parts(t, 30);
  const index = openIndexFor(WITH_ARCHIVE, folder, { store, log });
  assert.ok(index !== undefined);
  assert.equal(lockIndex(folder), undefined);
  await index.close();
  using reader = new IndexReader(folder);
  assert.equal(reader.pages, 30);
  const lock = lockIndex(folder);
  assert.ok(lock !== undefined);
  lock.release();
});

test("an index in use is a warning with an archive, and an error without one", (t) => {
  const { folder, store, log, logged } = parts(t, 1);
  const lock = lockIndex(folder);
  assert.ok(lock !== undefined);
  assert.equal(openIndexFor(WITH_ARCHIVE, folder, { store, log }), undefined);
  assert.match(logged[0]?.message ?? "", /index is in use; `weir search` completes the index/);
  const withoutArchive = { ...WITH_ARCHIVE, warc: false };
  assert.throws(() => openIndexFor(withoutArchive, folder, { store, log }), {
    code: "STORE_LOCKED",
  });
  lock.release();
});

test("a crawl does not wait for more than 20,000 missing pages", (t) => {
  const { folder, store, log, logged } = parts(t, 1);
  const behind = Object.create(store, { lastPageSeq: { value: 20_001 } }) as typeof store;
  assert.equal(openIndexFor(WITH_ARCHIVE, folder, { store: behind, log }), undefined);
  assert.match(logged[0]?.message ?? "", /too many earlier ones are not/);
  const lock = lockIndex(folder);
  assert.ok(lock !== undefined, "the lock is released");
  lock.release();
});

function parts(t: TestContext, count: number) {
  const folder = mkdtempSync(join(tmpdir(), "weir-open-index-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const { store, context } = storeOf();
  for (let at = 0; at < count; at++) {
    const { site, row } = addUrl(context, `http://a.example/${at}`);
    context.batch.addPage({ ...makePage(row.id, row.id), archived: undefined });
    endUrl(context, site, row, { reason: "ok" });
  }
  assert.ok(context.batch.commit());
  const logged: LogEntry[] = [];
  return { folder, store, logged, log: { write: (entry: LogEntry) => void logged.push(entry) } };
}

function storeOf() {
  const crawl = new SmallCrawl();
  return { store: crawl.store, context: crawl.context() };
}
