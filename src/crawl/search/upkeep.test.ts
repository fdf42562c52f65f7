import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { IndexWriter } from "../../search/index-writer.ts";
import { endUrl } from "../end-url.ts";
import { addUrl, SmallCrawl } from "../small-crawl.suite.ts";
import { makePage } from "../../store/store.suite.ts";
import { addMissing, pagesMissing, takeOutUnknown } from "./upkeep.ts";

test("missing pages are added in steps, and the index is then at the last page of the store", (t) => {
  const { store, writer, folder } = parts(t, 200);
  assert.equal(pagesMissing(writer, store), 200);
  const steps = [...addMissing(writer, store, folder)];
  assert.deepEqual(
    steps.map(({ done }) => done),
    [64, 128, 192, 200],
  );
  assert.deepEqual([pagesMissing(writer, store), [...writer.ids()].length], [0, 200]);
  assert.deepEqual([...addMissing(writer, store, folder)], [{ done: 0, damaged: 0 }]);
});

test("an update that is interrupted continues after its last commit", (t) => {
  const { store, writer, folder, close } = parts(t, 1500);
  for (const { done } of addMissing(writer, store, folder)) if (done >= 1100) break;
  close();
  const again = new IndexWriter(folder, { keepsText: false, stemming: "none" });
  t.after(() => again.close());
  assert.equal(pagesMissing(again, store), 1500 - 1024);
  for (const _ of addMissing(again, store, folder));
  assert.equal([...again.ids()].length, 1500);
});

test("pages that the store does not have leave the index", (t) => {
  const { store, writer, folder } = parts(t, 20);
  for (const _ of addMissing(writer, store, folder));
  const smaller = parts(t, 5);
  takeOutUnknown(writer, smaller.store);
  assert.deepEqual(
    [...writer.ids()].sort((a, b) => a - b),
    [1, 2, 3, 4, 5],
  );
  assert.equal(pagesMissing(writer, smaller.store), 0);
});

/** A store with so many pages, and an empty index. */
function parts(t: TestContext, count: number) {
  const folder = mkdtempSync(join(tmpdir(), "weir-upkeep-"));
  const writer = new IndexWriter(folder, { keepsText: false, stemming: "none" });
  let isOpen = true;
  const close = (): void => {
    if (isOpen) writer.close();
    isOpen = false;
  };
  t.after(() => {
    close();
    rmSync(folder, { recursive: true });
  });
  const { store } = storeWith(count);
  return { store, writer, folder, close };
}

function storeWith(count: number): SmallCrawl {
  const crawl = new SmallCrawl();
  const context = crawl.context();
  for (let at = 0; at < count; at++) {
    const { site, row } = addUrl(context, `http://a.example/${at}`);
    context.batch.addPage({ ...makePage(row.id, row.id), archived: undefined });
    endUrl(context, site, row, { reason: "ok" });
  }
  assert.ok(context.batch.commit());
  return crawl;
}
