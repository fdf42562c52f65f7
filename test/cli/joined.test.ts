/** Folders that several processes left: every command reads them as one crawl. */

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { crawl, CrawlError } from "../../src/index.ts";
import { storedSnapshot } from "../../src/results/crawl-folder.ts";
import { parallelMetrics } from "../../src/results/parallel-metrics.ts";
import { serveWorld, type WorldServer } from "../../src/lab/serve.ts";
import { seedUrls } from "../../src/lab/world.ts";
import { readRecord } from "../../src/output/warc/warc-read.ts";
import type { ArchivePlace } from "../../src/page/page.ts";
import { openServerFile, readServerFile } from "../../src/store/sqlite/server-file.ts";
import { openReadOnly } from "../../src/store/joined/open-read-only.ts";
import { writeTeam } from "../../src/store/team-file.ts";
import { run, temporaryFolder } from "./program.ts";

const TEAM = {
  version: 1,
  procs: 3,
  names: ["proc-1", "proc-2", "proc-3"],
  coordination: "independent",
  mode: "exchange",
  partition: "site-hash",
  buckets: 64,
} as const;

let web: WorldServer;
const folder = temporaryFolder();
/** The third process has not begun. */
const team = join(folder.path, "team");
const reference = join(folder.path, "reference");

/** Pages by URL, as text: what is listed twice shows. */
const urlsOf = new Map<string, readonly string[]>();

before(async () => {
  const plan = { seed: 5, siteCount: 4, pagesMax: 40, crawlDelayShare: 0, trapShare: 0 };
  web = await serveWorld(plan, { by: "address" });
  const [first = "", second = "", third = "", fourth = ""] = seedUrls(web.world);
  mkdirSync(team);
  writeTeam(team, TEAM);
  await crawled(join(team, "proc-1"), [first, second]);
  await crawled(join(team, "proc-2"), [second, third]);
  await crawled(reference, [first, second, third, fourth]);
  for (const one of [join(team, "proc-1"), join(team, "proc-2"), reference, team])
    urlsOf.set(one, await pageUrls(one));
});

after(async () => {
  await web.close();
  folder[Symbol.dispose]();
});

async function crawled(outFolder: string, urls: readonly string[]): Promise<void> {
  const result = await crawl({ urls, outFolder, allowPrivate: ["127.0.0.0/8"] });
  assert.equal(result.complete, true);
}

async function pageUrls(crawlFolder: string): Promise<string[]> {
  const store = openReadOnly(crawlFolder);
  try {
    return Array.from(store.pages(), ({ id }) => store.url(id)?.url ?? "").sort();
  } finally {
    await store.close();
  }
}

function urlsIn(crawlFolder: string): readonly string[] {
  return urlsOf.get(crawlFolder) ?? [];
}

async function told(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(words);
  assert.equal(code, 0, stderr);
  return stdout;
}

interface ExportedPage {
  readonly url: string;
  readonly contentType: string;
  readonly text?: string;
  readonly archived: ArchivePlace;
}

let exported: Promise<ExportedPage[]> | undefined;

/** All pages with their text; the program is asked once. */
function exportedPages(): Promise<ExportedPage[]> {
  exported ??= told("export", team, "--format", "jsonl", "--text").then((text) => {
    const lines = text.trim().split("\n");
    return lines.map((line) => JSON.parse(line) as ExportedPage);
  });
  return exported;
}

test("pages of all processes are listed, and those of two once", () => {
  const one = urlsIn(join(team, "proc-1"));
  const two = urlsIn(join(team, "proc-2"));
  const union = [...new Set([...one, ...two])].sort();
  assert.ok(union.length < one.length + two.length && union.length > one.length);
  assert.deepEqual(urlsIn(team), union);
});

test("overlap, coverage and quality are the paper's", async () => {
  const one = urlsIn(join(team, "proc-1")).length;
  const two = urlsIn(join(team, "proc-2")).length;
  const unique = urlsIn(team).length;
  const inReference = urlsIn(reference).length;
  const alone = await parallelMetrics(team);
  assert.equal(alone.downloaded, one + two);
  assert.equal(alone.unique, unique);
  assert.equal(alone.overlap, (one + two - unique) / unique);
  assert.equal("coverage" in alone, false);
  const compared = await parallelMetrics(team, reference);
  assert.equal(compared.coverage, unique / inReference);
  assert.ok(compared.quality !== undefined && compared.quality > 0 && compared.quality < 1);
  const same = await parallelMetrics(reference, reference);
  assert.deepEqual([same.overlap, same.coverage, same.quality], [0, 1, 1]);
  const nothing = await parallelMetrics(join(team, "proc-1"), join(team, "proc-2"));
  assert.ok((nothing.coverage ?? 1) < 1);
});

test("status tells the sums of all, each process, and what they cost", async () => {
  const status = JSON.parse(await told("status", team, "--json", "--reference", reference));
  const { pages, urls, outcomes, processes, parallel } = status;
  assert.equal(pages, urlsIn(team).length);
  assert.equal(urls.known, urls.done + urls.failed + urls.skipped + urls.pending);
  assert.equal(outcomes.ok, pages);
  assert.deepEqual(
    processes.map(({ name, state }: { name: string; state: string }) => [name, state]),
    [
      ["proc-1", "done"],
      ["proc-2", "done"],
    ],
  );
  assert.equal(parallel.procs, 3);
  assert.equal(parallel.coverage, pages / urlsIn(reference).length);
  assert.match(
    await told("status", team),
    /3 processes: \d+ pages fetched, \d+ different, overlap/,
  );
  assert.equal((await storedSnapshot(reference)).parallel, undefined);
});

test("what every server gives is taken from whoever measured it last", async () => {
  const shared = "127.1.0.2";
  const [one, two] = ["proc-1", "proc-2"].map((name) => join(team, name, "servers.db"));
  const measuredIn = (file = ""): number =>
    [...readServerFile(file)].find(({ address }) => address === shared)?.lastAtMs ?? 0;
  const row = [...readServerFile(one ?? "")].find(({ address }) => address === shared);
  assert.ok(row !== undefined && measuredIn(two) > 0);
  const bps = new Float32Array(48).fill(123_456);
  {
    await using file = openServerFile(one ?? "", { serversMax: 100 });
    await file.save([{ ...row, lastAtMs: measuredIn(two) + 1000, bps }]);
  }
  const { count, servers } = JSON.parse(await told("status", team, "--servers", "--json"));
  assert.equal(count, 3);
  const found = servers.find(({ address }: { address: string }) => address === shared);
  assert.equal(found.nowBps, 123_456);
});

test("exports hold every page once, and name archive files alike", async () => {
  const pages = await exportedPages();
  assert.deepEqual(pages.map(({ url }) => url).sort(), urlsIn(team));
  assert.ok(
    pages.every(({ text, contentType }) => text !== undefined || contentType !== "text/html"),
  );
  const out = join(folder.path, "warcs/");
  await told("export", team, "--format", "warc", "--out", out);
  const files = readdirSync(out).sort();
  assert.deepEqual(files, ["proc-1-weir-00001.warc.gz", "proc-2-weir-00001.warc.gz"]);
  for (const { url, archived } of pages) {
    const record = readRecord(out, archived);
    assert.equal(record.fields.get("warc-target-uri"), url);
  }
  const index = (await told("export", team, "--format", "cdxj")).trim().split("\n");
  const named = index.map((line) => JSON.parse(line.slice(line.indexOf("{"))).filename);
  assert.deepEqual([...new Set(named)].sort(), files);
  assert.deepEqual(index, index.toSorted());
});

async function linksOf(crawlFolder: string): Promise<string[]> {
  return (await told("export", crawlFolder, "--format", "links")).trim().split("\n");
}

test("links are those of the single crawl, between sites of different processes too", async () => {
  const [fourth = ""] = seedUrls(web.world).slice(3);
  const inTeam = new Set(await linksOf(team));
  const wanted = (await linksOf(reference)).filter((line) => !line.includes(fourth));
  assert.ok(wanted.length > 100);
  assert.deepEqual(
    wanted.filter((line) => !inTeam.has(line)),
    [],
  );
});

test("a search finds pages of every process", async () => {
  const texts = new Map((await exportedPages()).map(({ url, text }) => [url, text ?? ""]));
  for (const place of [0, 2]) {
    const url = seedUrls(web.world)[place] ?? "";
    const words =
      texts
        .get(url)
        ?.match(/[a-z]{5,}/g)
        ?.slice(0, 8) ?? [];
    const { collections, results } = JSON.parse(await told("search", team, ...words, "--json"));
    assert.equal(collections.length, 2);
    assert.ok(
      results.some((result: { url: string }) => result.url === url),
      url,
    );
  }
});

test("the report shows sites of all and the processes side by side", async () => {
  await told("report", team, "--reference", reference);
  const html = readFileSync(join(team, "report.html"), "utf8");
  for (const part of ["<td>proc-1</td>", "<td>proc-2</td>", "Overlap</dt>", "Coverage</dt>"])
    assert.ok(html.includes(part), part);
  for (const url of seedUrls(web.world).slice(0, 3))
    assert.ok(html.includes(`<td>${url.slice("http://".length, -1)}</td>`), url);
});

test("a damaged team file is named, a newer one too, and a team that has not begun is no crawl", async () => {
  const broken = join(folder.path, "broken");
  mkdirSync(broken);
  const file = join(broken, "team.json");
  for (const [text, code] of [
    ['{"version":1', "STORE_CORRUPT"],
    [JSON.stringify({ ...TEAM, procs: 1, names: ["../elsewhere"] }), "STORE_CORRUPT"],
    [JSON.stringify({ ...TEAM, procs: 2 }), "STORE_CORRUPT"],
    [JSON.stringify({ ...TEAM, version: 2 }), "STORE_NEWER"],
    [JSON.stringify(TEAM), "FOLDER_MISSING"],
  ] as const) {
    writeFileSync(file, text);
    assert.throws(
      () => openReadOnly(broken),
      (error) => error instanceof CrawlError && error.code === code && /broken/.test(error.message),
      text,
    );
  }
  const { code, stderr } = await run(["status", broken]);
  assert.equal(code, 2);
  assert.match(stderr, /broken does not contain a crawl/);
  assert.deepEqual(readdirSync(broken), ["team.json"]);
});
