import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser, step, until, visit, WITHOUT_BROWSER } from "./browser.ts";
import { LONG, watchedCrawl } from "./dashboards.ts";

test(
  "a running crawl is seen as it goes, and changed from the page",
  { skip: WITHOUT_BROWSER },
  async () => {
    await using web = await watchedCrawl([], LONG);
    await using browser = await openBrowser();
    await using seen = await visit(browser, web.url);
    const { page } = seen;

    await step("the address of the page does not keep the token", () => {
      assert.doesNotMatch(page.url(), /token/);
    });

    await step("figures, the rate and the races move by themselves", async () => {
      const pages = async (): Promise<number> =>
        Number((await seen.text(".figure:nth-child(2) .value")).replaceAll(",", ""));
      const before = await until("pages", async () => (await pages()) || undefined);
      await until("more pages", async () => (await pages()) > before);
      await until("a curve", async () =>
        ((await page.locator(".chart .measured").last().getAttribute("d")) ?? "").includes("L"),
      );
      assert.match(await seen.text(".figure:first-child .note"), /% of the limit/);
      await until("who is late", async () => (await seen.text(".racers")).includes("late by"));
      assert.match(await seen.text(".racers"), /due in/);
      await seen.shoot("live-overview");
    });

    await step("the limit is changed, and the crawl holds it", async () => {
      await page.getByRole("button", { name: /Limit 400 KB\/s/ }).click();
      await page.getByLabel(/Bytes per second/).fill("nonsense");
      await page.getByRole("button", { name: "Apply" }).click();
      await until("a refusal", async () =>
        /is no rate/.test(await seen.text("dialog[open] .error")),
      );
      await seen.shoot("live-limit-refused");
      await page.getByLabel(/Bytes per second/).fill("250KB/s");
      await page.getByRole("button", { name: "Apply" }).click();
      await until("the new limit", () => web.said().limitBps === 250_000);
      await until("it is shown", () =>
        page.getByRole("button", { name: /Limit 250 KB\/s/ }).isVisible(),
      );
    });

    await step("it is paused and goes on", async () => {
      await page.getByRole("button", { name: "Pause" }).click();
      await until("the pause", () => web.said().state === "paused");
      await until("its reason", async () =>
        (await seen.text(".because")).includes("by the operator"),
      );
      await page.keyboard.press("p");
      await until("the going on", () => web.said().state === "running");
    });

    await step("deadline and priority are changed in their place", async () => {
      const site = web.sites[3] ?? "";
      await seen.go("sites");
      await page.getByLabel("Find a site").fill(site.replace("http://", ""));
      await until("one row", async () => (await seen.count(".rows .row")) === 1);
      await page.locator(".rows .deadline .edit").click();
      await page.locator(".rows .deadline input").fill("77s");
      await page.keyboard.press("Enter");
      const viewOf = () => web.said().sites.find((view) => view.site === site);
      await until("the deadline", () => viewOf()?.deadlineMs === 77_000);
      await page.locator(".rows .priority .edit").click();
      await page.locator(".rows .priority input").fill("5");
      await page.keyboard.press("Enter");
      await until("the priority", () => viewOf()?.priority === 5);
      await until("it is shown", async () => (await seen.text(".rows .priority")).includes("×5"));
      await page.getByLabel("Find a site").fill("");
      await until("all rows", async () => (await seen.count(".rows .row")) === web.sites.length);
      await seen.shoot("live-sites");
    });

    await step("a site opens with its books and its robots.txt", async () => {
      await page.locator(".rows .row button.link").first().click();
      await until("details", async () => (await seen.count("dialog[open] .facts div")) > 4);
      assert.match(await seen.text("dialog[open] .facts"), /Bytes for/);
      await seen.shoot("live-site");
      await page.keyboard.press("Escape");
    });

    await step("the plan is drawn, and drawn anew with every plan", async () => {
      await seen.go("plan");
      await until("bars", async () => (await seen.count(".gantt .segment")) > 3);
      assert.ok((await seen.count(".gantt path.deadline.late")) > 1, "one cannot be kept");
      const number = async (): Promise<number> =>
        Number(/plan (\d+)/.exec(await seen.text(".card-head [role=status]"))?.[1]);
      const before = await number();
      await until("another plan", async () => (await number()) > before);
      await seen.shoot("live-plan");
    });

    await step("the books and the ends are there while it runs", async () => {
      await seen.go("ledger");
      await until("purposes", async () => (await seen.count(".ledger tbody tr")) >= 3);
      await seen.go("outcomes/ok");
      await until("addresses", async () => (await seen.count(".urls li")) > 5);
      await page.locator(".urls summary").first().click();
      await until("its page", async () => /text\/html/.test(await seen.text(".urls .inside")));
      await seen.shoot("live-outcomes");
    });

    await step("it is stopped, after a question, and the page says so", async () => {
      await page.getByRole("button", { name: "Stop", exact: true }).click();
      await page.getByRole("button", { name: "Let it run" }).click();
      assert.equal(web.said().state, "running");
      await page.getByRole("button", { name: "Stop", exact: true }).click();
      await page.getByRole("button", { name: "Stop it" }).click();
      const { code } = await web.crawl.ended;
      assert.equal(code, 3);
      await until("the last words", async () => (await seen.text(".pill")).startsWith("stopped"));
      await until("the notice", async () => (await seen.text("#notice")).includes("weir serve"));
      await seen.shoot("live-stopped");
    });

    assert.deepEqual(seen.faults, []);
  },
);
