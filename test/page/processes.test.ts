import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser, until, visit, WITHOUT_BROWSER } from "./browser.ts";
import { LONG, watchedCrawl } from "./dashboards.ts";

test(
  "several processes are one crawl to look at, with what they send each other",
  { skip: WITHOUT_BROWSER },
  async () => {
    await using web = await watchedCrawl(["--procs", "3"], LONG);
    await using browser = await openBrowser();
    await using seen = await visit(browser, web.url);
    await until("the view", async () => (await seen.text("#tabs")).includes("Processes"));
    await seen.go("processes");
    await until("three rows", async () => (await seen.count(".ledger tbody tr")) === 3);
    assert.equal(await seen.count(".flows tbody td"), 9);
    await until(
      "something sent",
      async () => !(await seen.text(".card-head .soft")).startsWith("0 "),
    );
    await seen.shoot("live-processes");
    await seen.go("sites");
    await until("all sites", async () => (await seen.count(".rows .row")) === web.sites.length);
    await seen.go("outcomes/ok");
    await until("addresses", async () => (await seen.count(".urls li")) > 3);
    assert.deepEqual(seen.faults, []);
  },
);
