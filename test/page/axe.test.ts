import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { openBrowser, visit, WITHOUT_BROWSER } from "./browser.ts";
import { dashboardOf, richCrawl, VIEWS } from "./dashboards.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

test(
  "no view has a serious fault for those who cannot see or point, light or dark",
  { skip: WITHOUT_BROWSER },
  async () => {
    using crawl = await richCrawl();
    await using dashboard = await dashboardOf(crawl.folder);
    await using browser = await openBrowser();
    for (const dark of [false, true]) {
      await using seen = await visit(browser, dashboard.url, { dark, letCheckersIn: true });
      await seen.page.addScriptTag({ content: readFileSync(AXE, "utf8") });
      for (const view of VIEWS) {
        await seen.go(view);
        await seen.page.waitForTimeout(100);
        const found = await seen.page.evaluate<{ id: string; impact: string; nodes: string[] }[]>(
          "axe.run(document).then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 160) + failureSummary) })))",
        );
        const serious = found.filter(({ impact }) => impact === "serious" || impact === "critical");
        assert.deepEqual(serious, [], `${view}${dark ? ", dark" : ""}`);
        await seen.shoot(`${dark ? "dark" : "light"}-${view.replace("/", "-")}`);
      }
    }
  },
);
