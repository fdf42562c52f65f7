import assert from "node:assert/strict";
import { test } from "node:test";
import { crawl } from "./library.ts";

const URLS = ["http://127.0.0.1:18099/"];

test("wrong options reject with all mistakes, before anything is requested", async () => {
  const options = { urls: URLS, dealyMs: 3, pagesMax: -1 } as unknown as Parameters<
    typeof crawl
  >[0];
  await assert.rejects(async () => crawl(options), { code: "SETTINGS_INVALID" });
});

test("several processes need the program", async () => {
  await assert.rejects(async () => crawl({ urls: URLS, procs: 2, allowPrivate: ["127.0.0.0/8"] }), {
    code: "USAGE",
  });
});

test("a signal that is aborted already rejects with its reason", async () => {
  const signal = AbortSignal.abort(new Error("too late"));
  await assert.rejects(async () => crawl({ urls: URLS, signal }), /too late/);
});

test("a crawl that is stopped at once ends with an empty result, and its loop with no page", async () => {
  const crawling = crawl({ urls: URLS, allowPrivate: ["127.0.0.0/8"] });
  crawling.stop();
  for await (const page of crawling) assert.fail(page.url);
  const { pages, complete } = await crawling;
  assert.deepEqual([pages, complete], [0, false]);
});
