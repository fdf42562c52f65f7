/** Processes that own topics, for real: `weir crawl --procs 3 --partition topic` over loopback. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { CrawlResult } from "../../src/control/snapshot.ts";
import { serveWorld, type WorldServer } from "../../src/lab/serve.ts";
import { seedUrls } from "../../src/lab/world.ts";
import { worldModel } from "../../src/lab/world-model.ts";
import { Dice } from "../../src/lab/world/dice.ts";
import { Prose } from "../../src/lab/world/prose.ts";
import { TOPICS } from "../../src/lab/world/vocabulary.ts";
import { openReadOnly } from "../../src/store/joined/open-read-only.ts";
import { storeFolders } from "../../src/store/team-file.ts";
import { encodeModel } from "../../src/topics/model.ts";
import { ROOT, run, temporaryFolder } from "../cli/program.ts";
import { startSite } from "../cli/small-site.ts";

const PLAN = { seed: 5, siteCount: 16, pagesMin: 8, pagesMax: 30, crawlDelayShare: 0 };
const LOCAL = ["--allow-private", "127.0.0.0/8", "--quiet", "--delay", "0"];
const BY_TOPIC = ["--procs", "3", "--partition", "topic"];

interface Trial extends AsyncDisposable {
  readonly web: WorldServer;
  readonly folder: string;
  readonly model: string;
}

async function prepare(): Promise<Trial> {
  const folder = temporaryFolder();
  const model = join(folder.path, "web.model");
  writeFileSync(model, encodeModel(worldModel()));
  const web = await serveWorld(PLAN, { by: "address" });
  return {
    web,
    folder: folder.path,
    model,
    async [Symbol.asyncDispose]() {
      await web.close();
      folder[Symbol.dispose]();
    },
  };
}

async function crawl(seeds: readonly string[], out: string, flags: string[]): Promise<CrawlResult> {
  const words = ["crawl", ...seeds, "--out", out, "--json", ...LOCAL, ...flags];
  const { code, stdout, stderr } = await run(words);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as CrawlResult;
}

/** What each process keeps: its pages' contents, by URL. */
function keptIn(out: string): Map<string, string>[] {
  return storeFolders(out).map((part) => {
    const store = openReadOnly(part);
    const kept = new Map<string, string>();
    for (const { id, url, reason } of store.urls())
      if (reason === "ok") kept.set(url, Buffer.from(store.page(id)?.digest ?? []).toString("hex"));
    void store.close();
    return kept;
  });
}

function counts({ topics }: CrawlResult): [string, number][] {
  return Object.entries(topics?.byTopic ?? {})
    .map(([topic, { own, imported }]): [string, number] => [topic, own + imported])
    .sort();
}

test("three processes that own topics keep the pages of one, and say rightly what they did", async () => {
  await using trial = await prepare();
  const seeds = seedUrls(trial.web.world);
  const alone = join(trial.folder, "alone");
  const one = await crawl(seeds, alone, ["--topics", trial.model]);
  const before = trial.web.log.entries.length;
  const out = join(trial.folder, "team");
  const all = await crawl(seeds, out, [...BY_TOPIC, "--topics", trial.model, "--search-index"]);
  const parts = keptIn(out);
  const together = parts.flatMap((part) => [...part]).sort();
  assert.deepEqual(together, [...(keptIn(alone)[0] ?? [])].sort());
  assert.equal(all.pages, one.pages);
  assert.ok(all.complete && all.urls.pending === 0);

  const owner = new Map<string, number>();
  for (const [index, part] of parts.entries())
    for (const digest of part.values()) {
      assert.equal(owner.get(digest) ?? index, index, "a content is with one process");
      owner.set(digest, index);
    }

  const answered = trial.web.log.entries
    .slice(before)
    .filter(({ status, path }) => status === 200 && !/^\/(robots\.txt|sitemap)/.test(path));
  const { parallel, topics } = all;
  assert.equal(parallel?.downloaded, answered.length, "what servers saw");
  assert.equal(parallel?.unique, all.pages);
  assert.ok((parallel?.exchangeBytes ?? 0) > 0 && parallel?.urlsExchanged === 0);
  assert.equal(topics?.model, worldModel().digest);
  assert.deepEqual(topics?.locality, one.topics?.locality);
  assert.deepEqual(counts(all), counts(one));
  assert.ok(Object.values(topics?.byTopic ?? {}).some(({ imported }) => imported > 0));

  const words = ["search", ...storeFolders(out), "music", "--topic", "arts", "--json"];
  const { stdout } = await run(words);
  const found = JSON.parse(stdout) as { total: number; results: { topic: string; url: string }[] };
  assert.ok(found.total > 0 && found.results.every(({ topic }) => topic === "arts"));
  const artsPart = parts.filter((part) => found.results.every(({ url }) => part.has(url)));
  assert.equal(artsPart.length, 1, "one process has the topic");
});

test("one process owns all topics", async () => {
  await using trial = await prepare();
  const flags = ["--procs", "1", "--partition", "topic", "--topics", trial.model];
  const { topics, parallel } = await crawl(
    seedUrls(trial.web.world),
    join(trial.folder, "one"),
    flags,
  );
  assert.equal(parallel, null);
  assert.ok(Object.keys(topics?.byTopic ?? {}).length >= 16);
});

test("with links only, pages stay where they were found and all are found", async () => {
  await using trial = await prepare();
  const seeds = seedUrls(trial.web.world);
  const one = await crawl(seeds, join(trial.folder, "alone"), []);
  const flags = [...BY_TOPIC, "--topics", trial.model, "--boundary", "links"];
  const all = await crawl(seeds, join(trial.folder, "team"), flags);
  assert.equal(all.pages, one.pages);
  assert.equal(all.outcomes["exported"] ?? 0, 0);
  assert.ok((all.parallel?.urlsExchanged ?? 0) > 0);
  assert.ok(Object.values(all.topics?.byTopic ?? {}).every(({ imported }) => imported === 0));
});

test("a page that does not fit a parcel travels in parts", async () => {
  using folder = temporaryFolder();
  const model = join(folder.path, "web.model");
  writeFileSync(model, encodeModel(worldModel()));
  // One page of each topic, so that some must be handed over; numbers do not compress well.
  const pages = TOPICS.slice(0, 4).map((topic, index) => {
    const dice = new Dice(1, index, 0, 0);
    let html = `<!doctype html><title>${topic.name}</title><p>${new Prose(dice, topic).text(4_000)}`;
    while (html.length < 1_500_000) html += `<i data-x="${dice.word()}${dice.word()}"></i>`;
    return html;
  });
  const special = Object.fromEntries(
    pages.map((html, index) => [
      `/page/${index + 1}`,
      (response: import("node:http").ServerResponse) => {
        response.writeHead(200, { "content-type": "text/html" }).end(html);
      },
    ]),
  );
  await using site = await startSite({ pageCount: 4, special });
  const out = join(folder.path, "out");
  const all = await crawl([`${site.origin}/`], out, [...BY_TOPIC, "--topics", model]);
  assert.equal(all.pages, 5);
  const large = keptIn(out).map((part) =>
    [...part.keys()].filter((url) => /page\/[1-4]$/.test(url)),
  );
  assert.equal(large.flat().length, 4);
  assert.ok(large.filter((some) => some.length > 0).length > 1, "several have one");
  assert.ok((all.parallel?.exchangeBytes ?? 0) > 500_000);
});

test("what cannot work is said before anything is fetched", async () => {
  await using trial = await prepare();
  const [seed = ""] = seedUrls(trial.web.world);
  const older = join(trial.folder, "older.model");
  const text = readFileSync(trial.model, "latin1").replace(/^weir-topics 1 /, "weir-topics 9 ");
  writeFileSync(older, text, "latin1");
  const cases: readonly (readonly [RegExp, ...string[]])[] = [
    [/no topic "sport".*sports/, "--order", "topic", "--topic", "sport"],
    [/--order topic needs --topic/, "--order", "topic"],
    [/no topic "nothing"/, ...BY_TOPIC, "--small-pages", "nothing"],
    [/version 9/, ...BY_TOPIC, "--topics", older],
    [/Cannot read/, ...BY_TOPIC, "--topics", join(trial.folder, "missing.model")],
    [/Cannot use .*not a topic model/, ...BY_TOPIC, "--topics", join(ROOT, "package.json")],
    [/confidence/, ...BY_TOPIC, "--confidence", "2"],
    [/mode/, ...BY_TOPIC, "--mode", "firewall"],
  ];
  for (const [why, ...flags] of cases) {
    const given = flags.includes("--topics") ? flags : [...flags, "--topics", trial.model];
    const words = ["crawl", seed, "--out", join(trial.folder, "bad"), ...LOCAL, ...given];
    const { code, stderr } = await run(words);
    assert.notEqual(code, 0, flags.join(" "));
    assert.match(stderr, why, flags.join(" "));
  }
  assert.equal(trial.web.log.entries.length, 0);
  assert.ok(!existsSync(join(trial.folder, "bad")), "and no folder is left behind");
});
