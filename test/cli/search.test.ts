import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { search } from "../../src/search/find.ts";
import { readQuery } from "../../src/search/query.ts";
import { IndexReader } from "../../src/search/index-reader.ts";
import { openReadOnly } from "../../src/store/joined/open-read-only.ts";
import { run, start, temporaryFolder } from "./program.ts";
import { type SitePlan, startSite } from "./small-site.ts";

const LOCAL = ["--allow-private", "127.0.0.0/8", "--quiet"];
const NO_FACETS = { site: undefined, language: undefined, topic: undefined };
const HTML = { "content-type": "text/html; charset=utf-8" };

interface Answer {
  readonly total: number;
  readonly spellings: readonly { readonly typed: string; readonly suggested: string }[];
  readonly collections: readonly { readonly pages: number }[];
  readonly results: readonly {
    readonly url: string;
    readonly title: string;
    readonly snippet: { readonly text: string; readonly marks: readonly number[][] } | null;
    readonly copies: readonly { readonly url: string }[];
  }[];
}

async function crawl(origin: string, out: string, flags: readonly string[] = []): Promise<void> {
  const { code, stderr } = await run(["crawl", `${origin}/`, "--out", out, ...flags, ...LOCAL]);
  assert.equal(code, 0, stderr);
}

async function find(...words: string[]): Promise<Answer> {
  const { code, stdout, stderr } = await run(["search", ...words, "--json"]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Answer;
}

const SPECIAL: SitePlan["special"] = {
  "/page/3": (response) => {
    response.writeHead(200, HTML);
    response.end(
      "<html lang=de><title>\x1b[31mWehr\u202e</title><p>Ein Wehr &amp; ein D\u00e4mmchen",
    );
  },
};

test("a crawl is searchable when it has ended, by words, phrase, beginning and language", async () => {
  await using site = await startSite({ pageCount: 30, special: SPECIAL });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  await crawl(site.origin, out, ["--search-index"]);
  const one = await find(out, '"words 12"');
  assert.equal(one.results[0]?.url, `${site.origin}/page/12`);
  assert.equal(one.results[0]?.snippet?.text, "Words 12. page 13");
  assert.deepEqual(one.results[0]?.snippet?.marks, [[0, 8]]);
  const flags = ["--language", "de", "--site", "127.0.0.1"];
  assert.equal((await find(out, "page", "damm*", "-words", ...flags)).total, 1);
  assert.equal((await find(out, "page", "--site", "elsewhere.example")).total, 0);
  assert.equal((await find(out, "wehr", "OR", '"words 12"')).total, 2);
  const misspelt = await find(out, "wordz");
  assert.deepEqual(misspelt.spellings, [{ typed: "wordz", suggested: "words" }]);
  const { stdout, stderr } = await run(["search", out, "wehr"]);
  assert.equal(stderr, "");
  assert.match(stdout, /Ein \*Wehr\* & ein D\u00e4mmchen/);
  assert.doesNotMatch(stdout, /[\u001b\u202e]/);
});

test("a crawl without an index is made searchable from its archive, once", async () => {
  await using site = await startSite({ pageCount: 20 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  await crawl(site.origin, out);
  const first = await run(["search", out, '"words 7"', "--json"]);
  assert.match(first.stderr, /Indexing 21 pages of /);
  assert.equal((JSON.parse(first.stdout) as Answer).results[0]?.title, "Page 7");
  const second = await run(["search", out, '"words 7"', "--json"]);
  assert.equal(second.stderr, "");
});

test("several collections answer as one, and the same content is shown once", async () => {
  await using site = await startSite({ pageCount: 10 });
  using folder = temporaryFolder();
  await crawl(site.origin, join(folder.path, "all/proc-1"), ["--search-index"]);
  await crawl(site.origin, join(folder.path, "all/proc-2"), ["--search-index", "--no-warc"]);
  const answer = await find(join(folder.path, "all"), '"words 7"');
  assert.equal(answer.collections.length, 2);
  assert.deepEqual([answer.total, answer.results.length], [2, 1]);
  assert.equal(answer.results[0]?.copies.length, 1);
  assert.equal(answer.results[0]?.snippet?.text, "Words 7. page 8");
});

test("nonsense is answered in words, and never a crash", async () => {
  using folder = temporaryFolder();
  const missing = await run(["search", join(folder.path, "nothing"), "word"]);
  assert.match(missing.stderr, /FOLDER_MISSING/);
  await using site = await startSite({ pageCount: 2 });
  const out = join(folder.path, "out");
  await crawl(site.origin, out, ["--search-index"]);
  const { code, stderr } = await run(["search", out, "***", "-only", '"']);
  assert.equal(code, 2, stderr);
  assert.match(stderr, /USAGE/);
  const odd = ['"', "NEAR(", "a AND", "text:", "^x", "{", "\u6f22\u5b57", "a".repeat(9999)];
  assert.equal((await run(["search", out, "word", ...odd])).code, 0);
});

for (const flags of [[], ["--no-warc"]])
  test(`after kills the index holds what the store does ${flags.join("")}`, async () => {
    await using site = await startSite({ pageCount: 400 });
    using folder = temporaryFolder();
    const out = join(folder.path, "out");
    const words = ["crawl", `${site.origin}/`, "--out", out, "--search-index", ...flags, ...LOCAL];
    const asked = [80, 250];
    for (const requests of asked) {
      const life = start([...words, "--delay", "1ms", "--concurrency-per-site", "4"]);
      while (site.requests.length < requests && life.process.exitCode === null) await sleep(2);
      life.process.kill("SIGKILL");
      await life.ended;
    }
    await crawl(site.origin, out, ["--search-index", ...flags]);
    await checkIndex(out, flags.length > 0);
    if (flags.length > 0) return;
    rmSync(join(out, "search"), { recursive: true });
    await find(out, "words");
    await checkIndex(out, false);
  });

test("ranks, the most linked addresses and a table come out of a crawl", async () => {
  await using site = await startSite({ pageCount: 10 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  await crawl(site.origin, out);
  const popular = await run(["export", out, "--format", "links", "--popular", "3"]);
  // The home page links to all, and each page to the next; only the home page links to the first.
  const lines = popular.stdout.trim().split("\n");
  assert.equal(lines.length, 3, popular.stderr);
  assert.ok(lines.every((line) => /\/page\/([2-9]|10)$/.test(line)));
  const ranked = await run(["export", out, "--format", "links", "--rank"]);
  const edges = ranked.stdout
    .trim()
    .split("\n")
    .map((line) => line.split("\t"));
  assert.equal(edges.length, 20);
  const ranks = new Map(
    edges.flatMap(([from = "", to = "", ...both]) => [
      [from, Number(both[0])] as const,
      [to, Number(both[1])] as const,
    ]),
  );
  const sum = ranks.values().reduce((all, rank) => all + rank, 0);
  assert.ok(Math.abs(sum - 1) < 1e-4, `${sum}`);
  const file = join(folder.path, "pages.parquet");
  assert.equal((await run(["export", out, "--format", "parquet", "--out", file])).code, 0);
  assert.equal(readFileSync(file).toString("latin1", 0, 4), "PAR1");
});

/** Every page once, with its own content, and each can be found. */
async function checkIndex(out: string, keepsText: boolean): Promise<void> {
  const store = openReadOnly(out);
  using index = new IndexReader(out);
  let pages = 0;
  for (const { id, digest, title } of store.pages()) {
    pages += 1;
    const found = index.page(id);
    assert.ok(found !== undefined, `page ${id} is missing`);
    assert.equal(Buffer.compare(found.digest, digest.subarray(0, 16)), 0);
    const number = /\d+$/.exec(title)?.[0] ?? "";
    const query = readQuery(`"words ${number}"`);
    assert.ok(query !== undefined);
    const { results } = search([{ folder: out, index }], { query, facets: NO_FACETS, countMax: 9 });
    assert.deepEqual(
      results.map(({ page }) => page.id),
      [id],
    );
    if (keepsText) assert.match(index.keptText(id) ?? "", /Words \d+/);
  }
  assert.deepEqual([index.pages, pages], [401, 401]);
  assert.equal(index.cursor, store.lastPageSeq);
  await store.close();
}
