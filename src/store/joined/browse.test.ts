import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { below, pick, randomFrom } from "../../base/random.ts";
import { type Reason, settlementOf } from "../../page/outcome.ts";
import { SITE_ORDERS, type SiteCounts } from "../browse-query.ts";
import { StoreBrowser } from "./browse.ts";
import { openStore } from "../sqlite/store-sqlite.ts";
import { emptyBatch, isError, makeSite, makeUrl } from "../store.suite.ts";
import { NO_TOTALS, type SettledUrl } from "../store.ts";
import { writeTeam } from "../team-file.ts";

const SITES: readonly SiteCounts[] = [
  { site: "https://a.example", known: 10, pending: 4, pages: 5, bytes: 500 },
  { site: "https://b.example", known: 30, pending: 0, pages: 20, bytes: 100 },
  { site: "https://c.other", known: 20, pending: 9, pages: 5, bytes: 900 },
];

async function storeWith(
  t: TestContext,
  sites: readonly SiteCounts[],
  reasons: readonly (Reason | undefined)[],
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "weir-browse-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const store = openStore(folder);
  const ended = { done: 0, failed: 0, skipped: 0 };
  const outcomes: Record<string, number> = {};
  const settled = reasons.flatMap((reason, index): SettledUrl[] => {
    if (reason === undefined) return [];
    ended[settlementOf(reason)] += 1;
    outcomes[reason] = (outcomes[reason] ?? 0) + 1;
    return [{ id: index + 1, reason, attempts: 1 }];
  });
  store.commit({
    ...emptyBatch(),
    sites: sites.map(({ site, ...counts }, index) => makeSite(index + 1, { key: site, ...counts })),
    urls: reasons.map((_, index) => makeUrl(index + 1, 1, 0)),
    settled,
    totals: {
      ...NO_TOTALS,
      ...ended,
      known: reasons.length,
      outcomes,
      bytes: sites.reduce((sum, { bytes }) => sum + bytes, 0),
    },
  });
  await store.close();
  return folder;
}

test("sites are returned in the requested order, page by page, without those left out", async (t) => {
  using browser = new StoreBrowser(await storeWith(t, SITES, []));
  const query = {
    order: "pages",
    descending: true,
    find: "",
    without: [],
    from: 0,
    count: 9,
  } as const;
  const names = (change: object): string[] =>
    browser.sites({ ...query, ...change }).map(({ site }) => site.slice(8, 9));
  assert.deepEqual(names({}), ["b", "a", "c"]);
  assert.deepEqual(names({ descending: false }), ["a", "c", "b"]);
  assert.deepEqual(names({ order: "site", descending: true }), ["c", "b", "a"]);
  assert.deepEqual(names({ order: "bytes", from: 1, count: 1 }), ["a"]);
  assert.deepEqual(names({ find: "example", without: ["https://b.example"] }), ["a"]);
  assert.equal(browser.countSites({ find: "example", without: [] }), 2);
  assert.equal(browser.countSites({ find: "", without: ["https://a.example"] }), 2);
  assert.deepEqual(names({ find: "' OR 1=1 --" }), []);
});

test("URLs with an outcome are returned page by page, each once", async (t) => {
  const reasons: (Reason | undefined)[] = ["ok", "http_404", undefined, "ok", "http_404", "ok"];
  using browser = new StoreBrowser(await storeWith(t, SITES, reasons));
  const first = browser.ended("ok", 0, 2);
  assert.deepEqual(
    first.urls.map(({ id }) => id),
    [1, 4],
  );
  assert.equal(first.nextAfterId, 4);
  const second = browser.ended("ok", 4, 2);
  assert.deepEqual(
    second.urls.map(({ id }) => id),
    [6],
  );
  assert.equal(second.nextAfterId, undefined);
  assert.deepEqual(browser.ended("robots_denied", 0, 5), { urls: [], nextAfterId: undefined });
});

test("several processes are browsed as one crawl, including those that start later", async (t) => {
  const [a, b, c] = SITES as [SiteCounts, SiteCounts, SiteCounts];
  const folder = mkdtempSync(join(tmpdir(), "weir-browse-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const team = { coordination: "static", mode: "exchange", partition: "site-hash", buckets: 64 };
  writeTeam(folder, { ...team, version: 1, procs: 2, names: ["proc-1", "proc-2"] });
  assert.throws(() => new StoreBrowser(folder), isError("FOLDER_MISSING"));
  // It knows two URLs of the other process's site, because it has sent them.
  const sent = { ...c, known: 2, pending: 0, pages: 0, bytes: 0 };
  renameSync(await storeWith(t, [a, sent], ["ok", "sent", "ok", "sent"]), join(folder, "proc-1"));
  using browser = new StoreBrowser(folder);
  const query = {
    order: "site",
    descending: true,
    find: "",
    without: [],
    from: 0,
    count: 9,
  } as const;
  assert.equal(browser.countSites(query), 2);
  const more = { ...a, known: 1, pending: 1, pages: 0, bytes: 0 };
  renameSync(await storeWith(t, [c, b, more], ["ok", undefined]), join(folder, "proc-2"));
  const joined = { ...a, known: 11, pending: 5 };
  assert.deepEqual(browser.sites(query), [c, b, joined]);
  assert.deepEqual(browser.sites({ ...query, order: "bytes", from: 1, count: 1 }), [joined]);
  assert.equal(browser.site(a.site)?.known, 11);
  assert.equal(browser.site("https://nowhere.example"), undefined);
  const { known, done, skipped, bytes } = browser.totals;
  assert.deepEqual([known, done, skipped, bytes], [4, 3, 0, 1500]);
  const urls: string[] = [];
  for (let after: number | undefined = 0; after !== undefined;) {
    const found = browser.ended("ok", after, 1);
    for (const row of found.urls) {
      urls.push(row.url.slice(-9, -4));
      assert.deepEqual(browser.url(row.id), row);
    }
    after = found.nextAfterId;
  }
  assert.deepEqual(urls, ["age/1", "age/3", "age/1"]);
});

test("every page of every order agrees with sorting all sites", async (t) => {
  for (let seed = 1; seed <= 4; seed++) {
    const random = randomFrom(seed);
    const sites = Array.from({ length: 5 + below(random, 60) }, (_, index): SiteCounts => {
      const pages = below(random, 8);
      return {
        site: `https://${pick(random, ["news", "docs", "shop"])}-${index}.example`,
        known: pages + below(random, 9),
        pending: 0,
        pages,
        bytes: below(random, 1000),
      };
    });
    using browser = new StoreBrowser(await storeWith(t, sites, []));
    for (const order of SITE_ORDERS) {
      const find = pick(random, ["", "news", "docs-1"]);
      const without = sites.filter(() => random.next() < 0.2).map(({ site }) => site);
      const query = { order, descending: random.next() < 0.5, find, without };
      const found: SiteCounts[] = [];
      const count = 1 + below(random, 7);
      for (let from = 0; from < sites.length + count; from += count)
        found.push(...browser.sites({ ...query, from, count }));
      const expected = sites
        .filter(({ site }) => site.includes(find) && !without.includes(site))
        .toSorted(
          (a, b) =>
            (query.descending ? -1 : 1) * (a[order] < b[order] ? -1 : a[order] > b[order] ? 1 : 0),
        );
      assert.deepEqual(found, expected, `seed ${seed}, ${order}`);
      assert.equal(browser.countSites(query), expected.length, `seed ${seed}`);
    }
  }
});

test("a folder without a crawl is refused", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "weir-browse-"));
  t.after(() => rmSync(folder, { recursive: true }));
  assert.throws(() => new StoreBrowser(folder), isError("FOLDER_MISSING"));
});
