import assert from "node:assert/strict";
import { test } from "node:test";
import {
  pageWith,
  type Served,
  SmallCrawl,
  type SmallPlan,
  type SmallWeb,
} from "./small-crawl.suite.ts";

const HOME = "http://a.example/";

test("a redirect is followed through admission, and its target is judged like any URL", async () => {
  const web: SmallWeb = {
    [HOME]: redirectTo("/new"),
    "http://a.example/new": pageWith(),
    "http://a.example/robots.txt": { body: "User-agent: *\nDisallow: /closed" },
    "http://a.example/other": redirectTo("/closed"),
  };
  const { outcomes } = await run({ web, seeds: [HOME, "http://a.example/other"] });
  assert.deepEqual(outcomes, { redirect: 2, ok: 1, robots_denied: 1 });
});

test("redirects that lead back end as a loop, also over several URLs and hosts", async () => {
  const web: SmallWeb = {
    [HOME]: redirectTo("/1"),
    "http://a.example/1": redirectTo("/2"),
    "http://a.example/2": redirectTo("http://a.example/"),
    "http://b.example/": redirectTo("http://b.example/"),
  };
  const { outcomes, pages } = await run({ web, seeds: [HOME, "http://b.example/"] });
  assert.deepEqual([pages, outcomes], [0, { redirect: 2, redirect_loop: 2 }]);
});

test("endless redirects end at the limit", async () => {
  const web: SmallWeb = {};
  for (let at = 0; at < 30; at++) web[`http://a.example/${at}`] = redirectTo(`/${at + 1}`);
  const plan = { web, seeds: ["http://a.example/0"], settings: { redirectsMax: 4 } };
  const { outcomes } = await run(plan);
  assert.deepEqual(outcomes, { redirect: 4, redirect_limit: 1 });
});

test("a seed may redirect to another host, a link may not", async () => {
  const web: SmallWeb = {
    [HOME]: redirectTo("http://www.a.example/"),
    "http://www.a.example/": pageWith("/away"),
    "http://www.a.example/away": redirectTo("http://other.example/"),
    "http://other.example/": pageWith(),
  };
  const { outcomes } = await run({ web });
  assert.deepEqual(outcomes, { redirect: 1, ok: 1, out_of_scope: 1 });
});

test("a page that finds no room in the archive is fetched again, and stored once", async () => {
  const crawl = new SmallCrawl({ web: { [HOME]: pageWith() }, fullShare: 0.6, randomSeed: 3 });
  const { pages, complete } = await crawl.run();
  assert.deepEqual([pages, complete, crawl.archive.records.length], [1, true, 1]);
  assert.ok(crawl.logged.some(({ values }) => values["code"] === "DISK_FULL"));
});

test("a URL whose connection breaks is requested again and stored", async () => {
  const web: SmallWeb = { [HOME]: pageWith("/late"), "http://a.example/late": "refuse" };
  const crawl = new SmallCrawl({ web });
  const { done } = crawl.start();
  await crawl.clock.runFor(1500);
  web["http://a.example/late"] = pageWith();
  const { pages, outcomes } = await crawl.clock.runUntil(done);
  assert.deepEqual([pages, outcomes], [2, { ok: 2 }]);
});

test("a response that cannot become a page ends with its reason, without a retry", async () => {
  const web: SmallWeb = { [HOME]: pageWith("/gone"), "http://a.example/gone": { status: 410 } };
  const crawl = new SmallCrawl({ web });
  const { outcomes } = await crawl.run();
  assert.deepEqual(outcomes, { ok: 1, http_410: 1 });
  assert.deepEqual(crawl.pathsRequested, ["/", "/gone"]);
});

function redirectTo(location: string): Served {
  return { status: 302, headers: [["location", location]] };
}

function run(plan: SmallPlan) {
  return new SmallCrawl(plan).run();
}
