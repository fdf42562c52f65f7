import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser, step, until, visit, WITHOUT_BROWSER } from "./browser.ts";
import { dashboardOf, watchedCrawl } from "./dashboards.ts";

test(
  "a crawl that is over is shown in every view, and its pages are searched",
  { skip: WITHOUT_BROWSER },
  async () => {
    await using web = await watchedCrawl([
      "--limit",
      "none",
      "--search-index",
      "--dashboard",
      "none",
    ]);
    await web.crawl.ended;
    await using dashboard = await dashboardOf(web.folder);
    await using browser = await openBrowser();
    await using seen = await visit(browser, dashboard.url);
    const { page } = seen;

    await step("the whole crawl is drawn, and nothing can be changed", async () => {
      await until("a curve", async () =>
        ((await page.locator(".chart .measured").last().getAttribute("d")) ?? "").includes("L"),
      );
      assert.match(await seen.text(".pill"), /^done/);
      assert.equal(await page.getByRole("button", { name: "Pause" }).isVisible(), false);
      await page.locator(".chart-box svg.chart").last().hover();
      await until("a moment read out", async () => /predicted/.test(await seen.text(".readout")));
      await seen.shoot("finished-overview");
    });

    await step("sites are sorted and found", async () => {
      await seen.go("sites");
      await until("rows", async () => (await seen.count(".rows .row")) === web.sites.length);
      await page.getByRole("button", { name: "Site", exact: true }).click();
      const names = (): Promise<string[]> =>
        page.evaluate<string[]>(
          "[...document.querySelectorAll('.rows .row')].sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map((row) => row.querySelector('button').title)",
        );
      await until("the order", async () => {
        const now = await names();
        return now.length > 0 && now.join() === now.toSorted().join();
      });
      await page.getByLabel("Order by").selectOption("bytes");
      await page.getByLabel("Find a site").fill("no such site");
      await until("the empty state", () => page.getByText("No site of that name.").isVisible());
      await seen.shoot("finished-sites-empty");
    });

    await step("the plan shows how it went", async () => {
      await seen.go("plan");
      await until("bars", async () => (await seen.count(".gantt rect.past")) >= web.sites.length);
      await seen.shoot("finished-plan");
    });

    await step("what robots.txt denied is shown with its line", async () => {
      await seen.go("outcomes/robots_denied");
      await until("addresses", async () => (await seen.count(".urls li")) > 0);
      await page.locator(".urls summary").first().click();
      await until("the line", async () =>
        /Disallow:/.test(await seen.text(".urls .inside .evidence")),
      );
      assert.match(
        await seen.text(".urls .inside"),
        /robots\.txt of http:\/\/127\.1\.0\.\d+:\d+, line \d+/,
      );
      await seen.shoot("finished-robots");
    });

    await step("speeds by hour and the books", async () => {
      await seen.go("servers");
      await until("hours", async () => (await seen.count(".heat tbody td")) >= 24 * 5);
      await seen.shoot("finished-servers");
      await seen.go("ledger");
      await until("purposes", async () => (await seen.count(".ledger tbody tr")) >= 3);
      await seen.shoot("finished-ledger");
    });

    await step("words are found in what was collected", async () => {
      await seen.go("outcomes/ok");
      await until("a page", async () => (await seen.count(".urls li")) > 0);
      await page.locator(".urls summary").first().click();
      await until("its title", async () => (await seen.count(".urls .facts")) > 0);
      const title = await page
        .locator(".urls .facts div", { hasText: "Title" })
        .locator("dd")
        .first()
        .textContent();
      await seen.go("search");
      await page
        .getByLabel("Words to find")
        .fill((title ?? "").split(/[^A-Za-z]+/).find((word) => word.length > 3) ?? "");
      await page.keyboard.press("Enter");
      await until("results", async () => (await seen.count(".found li mark")) > 0);
      await seen.shoot("finished-search");
    });

    assert.deepEqual(seen.faults, []);
  },
);
