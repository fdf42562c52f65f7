import assert from "node:assert/strict";
import { test } from "node:test";
import type { SiteView } from "../../src/control/snapshot.ts";
import {
  type SampleCrawl,
  type SampleSite,
  sampleCrawl,
  sampleView,
} from "../../src/dashboard/sample.suite.ts";
import { openBrowser, until, type Visit, visit, WITHOUT_BROWSER } from "./browser.ts";
import { dashboardOf } from "./dashboards.ts";
import { HOSTILE } from "./hostile-words.ts";

const SITE = "https://a.example";

/** Every kind of text that comes from the web, each of them every one of the strings. */
async function hostileCrawl(): Promise<SampleCrawl> {
  const urls = HOSTILE.flatMap((words, index) => [
    { url: `${SITE}/${words}`, reason: "ok", title: words } as const,
    { url: `${SITE}/private/${index}${words}`, reason: "robots_denied" } as const,
    { url: `${words}${index}`, reason: "conn_reset" } as const,
  ]);
  const robots = `User-agent: *\nDisallow: /private/ ${HOSTILE.join(" ").replaceAll(/[\r\n]/g, " ")}\n`;
  const sites: SampleSite[] = [
    { key: SITE, robots, urls },
    ...HOSTILE.map((words, index) => ({
      key: `http://${index}.${words}`,
      robots: words,
      urls: [],
    })),
  ];
  const crawl = await sampleCrawl(sites);
  crawl.say({
    because: HOSTILE.join(" "),
    state: "paused",
    limitBps: 1000,
    plan: { number: 1, madeAgoMs: 0 },
    sites: sites.slice(0, 100).map(({ key }, index) => promised(key, index)),
    troubles: HOSTILE.slice(0, 20).map((words) => ({
      url: words,
      reason: "conn_reset",
      detail: words,
    })),
    parallel: {
      procs: HOSTILE.slice(0, 12).map((name) => ({
        name,
        state: name,
        pages: 1,
        pending: 2,
        rateBps: 3,
        limitBps: 4,
      })),
      flows: HOSTILE.slice(0, 12).map(() => HOSTILE.slice(0, 12).map((_, index) => index)),
    },
    topics: {
      model: HOSTILE.join(" ").slice(0, 400),
      locality: 0.5,
      linksJudged: 4,
      byTopic: Object.fromEntries(HOSTILE.map((words) => [words, { own: 3, imported: 1 }])),
    },
  });
  return crawl;
}

function promised(site: string, index: number): SiteView {
  const segments = [{ fromSeconds: 0, toSeconds: 10 + index, rateBps: 100 }];
  const forecast = {
    deadlineInMs: 9000,
    finishInMs: 10_000,
    rateBps: 100,
    leftBytes: 5,
    isLate: index % 2 === 0,
    segments,
  };
  return sampleView(site, { deadlineMs: 70_000, forecast, state: "fetching" });
}

async function assertIntact(seen: Visit, where: string): Promise<void> {
  assert.deepEqual(seen.faults, [], where);
  assert.equal(await seen.page.evaluate("window.pwned"), undefined, where);
  const strangers =
    "main iframe, main script, main style, main link, main object, main form[action], main [onload], main [onerror], a[href^='javascript:'], a[href^='data:']";
  assert.equal(await seen.count(strangers), 0, where);
  assert.ok((await seen.overhang()) <= 0, `${where}: ${await seen.overhang()} pixels stick out`);
  // What a view shows is as wide as it should be, and so is every part of it.
  const wide = await seen.page.evaluate<string[]>(
    "[...document.querySelectorAll('main .card, .head, #tabs')].filter((part) => part.getBoundingClientRect().right > window.innerWidth + 1).map((part) => part.className)",
  );
  assert.deepEqual(wide, [], where);
}

test(
  `${HOSTILE.length} hostile strings in every kind of text are shown, never run, and break no layout`,
  { skip: WITHOUT_BROWSER },
  async () => {
    assert.equal(new Set(HOSTILE).size, 60);
    using crawl = await hostileCrawl();
    await using dashboard = await dashboardOf(crawl.folder);
    await using browser = await openBrowser();
    for (const width of [1280, 360]) {
      await using seen = await visit(browser, dashboard.url, { width });
      const { page } = seen;
      const views = [
        "overview",
        "sites",
        "plan",
        "outcomes/robots_denied",
        "outcomes/ok",
        "outcomes/conn_reset",
        "servers",
        "ledger",
        "processes",
        "topics",
      ];
      for (const view of views) {
        await seen.go(view);
        if (view.startsWith("outcomes")) {
          await until("addresses", async () => (await seen.count(".urls li")) >= 50);
          await page.locator(".urls summary").nth(3).click();
          await until("details", async () => (await seen.count(".urls .facts")) > 0);
        }
        if (view === "sites") {
          await until("rows", async () => (await seen.count(".rows .row:not(.missing)")) > 5);
          await page.locator(".rows .row button.link").nth(2).click();
          await until("a site", async () => (await seen.count("dialog[open] .facts")) > 0);
          await assertIntact(seen, `a site at ${width}`);
          await page.keyboard.press("Escape");
        }
        if (view === "topics") assert.equal(await seen.count(".topics tbody tr"), 60);
        await assertIntact(seen, `${view} at ${width}`);
        await seen.shoot(`hostile-${view.replace("/", "-")}-${width}`);
      }
    }
  },
);
