import assert from "node:assert/strict";
import { test } from "node:test";
import type { Browser } from "playwright-core";
import { openBrowser, until, visit, WITHOUT_BROWSER } from "./browser.ts";
import { dashboardOf, richCrawl } from "./dashboards.ts";

test("everything can be reached by keys", { skip: WITHOUT_BROWSER }, async () => {
  using crawl = await richCrawl();
  await using dashboard = await dashboardOf(crawl.folder);
  await using browser = await openBrowser();
  await using seen = await visit(browser, dashboard.url);
  const { page } = seen;
  const current = (): Promise<string> => seen.text("#tabs a[aria-current]");
  for (const [key, name] of [
    ["2", "Sites"],
    ["3", "Plan"],
    ["4", "Outcomes"],
    ["7", "Processes"],
    ["8", "Topics"],
    ["1", "Overview"],
  ] as const) {
    await page.keyboard.press(key);
    await until(name, async () => (await current()) === name);
  }
  await page.keyboard.press("?");
  await until("help", () => page.getByRole("heading", { name: "Keyboard" }).isVisible());
  await seen.shoot("keyboard");
  await page.keyboard.press("2");
  assert.equal(await current(), "Overview", "keys rest while a dialog is open");
  await page.keyboard.press("Escape");
  await page.keyboard.press("2");
  await until("rows", async () => (await seen.count(".rows .row")) > 5);
  const focused = (): Promise<string> =>
    page.evaluate<string>("document.activeElement.title ?? ''");
  await page.keyboard.press("j");
  const first = await focused();
  await page.keyboard.press("j");
  assert.match(first, /^https:\/\/site-/);
  assert.notEqual(await focused(), first);
  await page.keyboard.press("k");
  assert.equal(await focused(), first);
  await page.keyboard.press("Enter");
  await until("the site", async () => (await seen.count("dialog[open] .facts")) > 0);
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.keyboard.type("00003");
  await until("one row", async () => (await seen.count(".rows .row")) === 1);
  await page.keyboard.press("Escape");
  await page.keyboard.press("l");
  await until("the limit", () =>
    page.getByRole("heading", { name: "Limit for all sites together" }).isVisible(),
  );
  assert.deepEqual(seen.faults, []);
});

test("ten thousand sites cost the rows in sight", { skip: WITHOUT_BROWSER }, async () => {
  using crawl = await richCrawl(10_000);
  await using dashboard = await dashboardOf(crawl.folder);
  await using browser = await openBrowser();
  await using seen = await visit(browser, dashboard.url);
  const { page } = seen;
  await seen.go("sites");
  await page.getByLabel("Order by").selectOption("site");
  await until(
    "the count",
    async () => (await seen.text(".toolbar [role=status]")) === "10,000 sites",
  );
  for (const row of [0, 2500, 7777, 9999]) {
    await page.evaluate(`document.querySelector('.rows').scrollTop = ${row * 40 - 200}`);
    const name = `https://site-${String(row).padStart(5, "0")}.example`;
    await until(
      name,
      async () => (await page.locator(`.rows button[title="${name}"]`).count()) === 1,
    );
    assert.ok((await seen.count(".rows .row")) < 60);
  }
  await seen.shoot("ten-thousand");
  assert.deepEqual(seen.faults, []);
});

test(
  "without the token there is nothing to see, and a wrong one does not help",
  { skip: WITHOUT_BROWSER },
  async () => {
    using crawl = await richCrawl();
    await using dashboard = await dashboardOf(crawl.folder);
    await using browser = await openBrowser();
    const status = async (url: string): Promise<number | undefined> => {
      const page = await (await browser.newContext()).newPage();
      return (await page.goto(url))?.status();
    };
    const { origin } = new URL(dashboard.url);
    assert.equal(await status(origin), 401);
    assert.equal(await status(`${origin}/?token=wrong`), 401);
    assert.equal(await status(`${origin.replace("127.0.0.1", "localhost")}/`), 401);
    assert.equal(await fromElsewhere(browser, dashboard.url), "refused");
  },
);

/** A page of another origin that tries to use a session it does not have. */
async function fromElsewhere(browser: Browser, url: string): Promise<string> {
  await using seen = await visit(browser, url);
  const base = seen.page.url();
  const other = await seen.page.context().newPage();
  await other.route("http://evil.example/", (route) =>
    route.fulfill({ contentType: "text/html", body: "<p>evil" }),
  );
  await other.goto("http://evil.example/");
  return await other.evaluate<string>(
    `fetch(${JSON.stringify(`${base}api/change`)}, { method: "POST", credentials: "include", mode: "no-cors", body: "{}" })
      .then(() => fetch(${JSON.stringify(`${base}api/look`)}, { credentials: "include" }))
      .then(() => "read", () => "refused")`,
  );
}
