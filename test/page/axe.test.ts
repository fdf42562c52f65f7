import assert from "node:assert/strict";
import { test } from "node:test";
import { letAxeIn, seriousFaults } from "./axe.ts";
import { openBrowser, visit, WITHOUT_BROWSER } from "./browser.ts";
import { dashboardOf, richCrawl, VIEWS } from "./dashboards.ts";

test(
  "no view has a serious fault for those who cannot see or point, light or dark",
  { skip: WITHOUT_BROWSER },
  async () => {
    using crawl = await richCrawl();
    await using dashboard = await dashboardOf(crawl.folder);
    await using browser = await openBrowser();
    for (const dark of [false, true]) {
      await using seen = await visit(browser, dashboard.url, { dark, letCheckersIn: true });
      await letAxeIn(seen.page);
      for (const view of VIEWS) {
        await seen.go(view);
        await seen.page.waitForTimeout(100);
        const serious = await seriousFaults(seen.page);
        assert.deepEqual(serious, [], `${view}${dark ? ", dark" : ""}`);
        await seen.shoot(`${dark ? "dark" : "light"}-${view.replace("/", "-")}`);
      }
    }
  },
);
