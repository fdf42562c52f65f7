import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Collection, search } from "../../search/find.ts";
import { hasIndex, lockIndex } from "../../search/index-file.ts";
import { readQuery } from "../../search/query.ts";
import { crawl } from "../library.ts";
import { crawlsIn, openCollection, spellingsFor, textOfResult } from "./collections.ts";

const PAGES: Readonly<Record<string, string>> = {
  "/": '<title>Start</title><a href="/weir">weir</a> <a href="/mill">mill</a>',
  "/weir": "<title>The weir</title>A weir holds the river back.",
  "/mill": "<title>The mill</title>A mill stands beside the river.",
};

test("a crawl without an index gets a complete one from its archive, with progress", async (t) => {
  const folder = await crawled(t, { searchIndex: false });
  assert.deepEqual([crawlsIn(folder), hasIndex(folder)], [[folder], false]);
  const steps: number[] = [];
  const collection = await openCollection(folder, "none", ({ done }) => steps.push(done));
  assert.deepEqual([collection.index.pages, steps.at(-1)], [3, 3]);
  assert.deepEqual(titles(collection, "river"), ["The mill", "The weir"]);
  const [best] = found(collection, "beside");
  assert.match(best === undefined ? "" : (textOfResult(best) ?? ""), /stands beside the river/);
});

test("an index that the crawl has written is complete, and has nothing to add", async (t) => {
  const folder = await crawled(t, { searchIndex: true });
  assert.equal(hasIndex(folder), true);
  const steps: number[] = [];
  const collection = await openCollection(folder, "none", ({ done }) => steps.push(done));
  assert.deepEqual([collection.index.pages, steps], [3, []]);
});

test("without an archive the index keeps the texts", async (t) => {
  const folder = await crawled(t, { searchIndex: true, warc: false });
  const collection = await openCollection(folder, "none", () => undefined);
  const [best] = found(collection, "holds");
  assert.match(best === undefined ? "" : (textOfResult(best) ?? ""), /holds the river back/);
});

test("a word that no page has gets the nearest word, as its page spells it", async (t) => {
  const folder = await crawled(t, { searchIndex: true });
  const collection = await openCollection(folder, "none", () => undefined);
  const query = readQuery("rivar");
  assert.ok(query !== undefined);
  assert.deepEqual(spellingsFor([collection], query), [{ typed: "rivar", suggested: "river" }]);
});

test("an index that another process is making for the first time is refused", async (t) => {
  const folder = await crawled(t, { searchIndex: false });
  const lock = lockIndex(folder);
  assert.ok(lock !== undefined);
  await assert.rejects(
    openCollection(folder, "none", () => undefined),
    { code: "STORE_LOCKED" },
  );
  lock.release();
  assert.equal((await openCollection(folder, "none", () => undefined)).index.pages, 3);
});

test("a folder without a crawl has no collections", () => {
  assert.deepEqual(crawlsIn(join(tmpdir(), "no-such-folder")), []);
});

async function crawled(t: TestContext, options: object): Promise<string> {
  const server = createServer(({ url = "" }, response) => {
    const body = PAGES[url];
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "text/html" }).end(body);
  });
  await new Promise<void>((goOn) => server.listen(0, "127.0.0.1", goOn));
  const folder = mkdtempSync(join(tmpdir(), "weir-collections-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const { port } = server.address() as AddressInfo;
  const urls = [`http://127.0.0.1:${port}/`];
  const local = { allowPrivate: ["127.0.0.0/8"], sitemaps: false };
  const { pages } = await crawl({ urls, outFolder: folder, ...local, ...options });
  assert.equal(pages, 3);
  server.close();
  return folder;
}

function found(collection: Collection, text: string) {
  const query = readQuery(text);
  assert.ok(query !== undefined);
  const facets = { site: undefined, language: undefined, topic: undefined };
  return search([collection], { query, facets, countMax: 9 }).results;
}

function titles(collection: Collection, text: string): string[] {
  return found(collection, text)
    .map(({ page }) => page.title)
    .sort();
}
