import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser, until, visit, WITHOUT_BROWSER } from "./browser.ts";
import { dashboardOf, richCrawl, VIEWS } from "./dashboards.ts";

test(
  "on a telephone nothing sticks out, and everything is there",
  { skip: WITHOUT_BROWSER },
  async () => {
    using crawl = await richCrawl();
    await using dashboard = await dashboardOf(crawl.folder);
    await using browser = await openBrowser();
    await using seen = await visit(browser, dashboard.url, { width: 360, height: 740 });
    for (const view of VIEWS) {
      await seen.go(view);
      await seen.page.waitForTimeout(250);
      assert.ok((await seen.overhang()) <= 0, `${view}: ${await seen.overhang()} pixels stick out`);
      await seen.shoot(`phone-${view.replace("/", "-")}`);
    }
    await seen.go("sites");
    await until("a deadline in sight", () =>
      seen.page.locator(".rows .deadline .edit").first().isVisible(),
    );
    assert.equal(await seen.page.getByLabel("Order by").isVisible(), true);
    assert.deepEqual(seen.faults, []);
  },
);

test(
  "colours follow the system until somebody chooses, and the choice is kept",
  { skip: WITHOUT_BROWSER },
  async () => {
    using crawl = await richCrawl();
    await using dashboard = await dashboardOf(crawl.folder);
    await using browser = await openBrowser();
    const backOf = async (dark: boolean): Promise<string> => {
      await using seen = await visit(browser, dashboard.url, { dark });
      return await seen.page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    };
    const [light, dark] = [await backOf(false), await backOf(true)];
    assert.notEqual(light, dark);
    await using seen = await visit(browser, dashboard.url, { dark: false });
    const { page } = seen;
    const back = (): Promise<string> =>
      page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    await page.keyboard.press("t");
    await page.keyboard.press("t");
    assert.equal(await back(), dark);
    await page.reload();
    await page.waitForSelector(".head .pill");
    assert.equal(await back(), dark);
  },
);
