import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreBrowser } from "../store/joined/browse.ts";
import { type SampleSite, sampleCrawl, sampleLook, sampleView } from "./sample.suite.ts";
import { siteAnswer, sitesAnswer } from "./sites.ts";

const PLAIN: readonly SampleSite[] = ["a", "b", "c", "d"].map((name, index) => ({
  key: `https://${name}.example`,
  urls: Array.from({ length: 2 + index }, (_, url) => ({
    url: `https://${name}.example/${url}`,
    reason: url === 0 ? undefined : ("ok" as const),
  })),
}));
const WISH = { sort: "due", descending: true, find: "", from: 0, count: 10 } as const;

test("promised sites come first in order of their deadlines, then those of the crawl, then the rest", async () => {
  using crawl = await sampleCrawl(PLAIN);
  using store = new StoreBrowser(crawl.folder);
  const forecast = { finishInMs: 1, rateBps: 1, leftBytes: 1, isLate: false, segments: [] };
  const look = sampleLook({
    sites: [
      sampleView("https://b.example", {
        deadlineMs: 90,
        forecast: { ...forecast, deadlineInMs: 50 },
      }),
      sampleView("https://a.example"),
      sampleView("https://c.example", {
        deadlineMs: 60,
        forecast: { ...forecast, deadlineInMs: 20 },
      }),
    ],
  });
  const answer = sitesAnswer(look, store, WISH);
  const names = answer.lines.map(({ site }) => site.slice(8, 9));
  assert.deepEqual(names, ["c", "b", "a", "d"]);
  assert.equal(answer.total, 4);
  assert.equal(answer.lines[0]?.known, 10, "the crawl knows more than was committed");
  assert.equal(answer.lines[3]?.live, undefined);
  const paged = [0, 1, 2, 3].flatMap(
    (from) => sitesAnswer(look, store, { ...WISH, from, count: 1 }).lines,
  );
  assert.deepEqual(paged, answer.lines);
  const found = sitesAnswer(look, store, { ...WISH, find: "B.EX" });
  assert.deepEqual([found.total, found.lines[0]?.site], [1, "https://b.example"]);
});

test("by pages the store decides, and the running crawl adds what it knows", async () => {
  using crawl = await sampleCrawl(PLAIN);
  using store = new StoreBrowser(crawl.folder);
  const look = {
    ...sampleLook({ sites: [sampleView("https://a.example")] }),
    siteRatesBps: { "https://a.example": 70 },
  };
  const { lines } = sitesAnswer(look, store, { ...WISH, sort: "pages", descending: false });
  assert.deepEqual(
    lines.map(({ site }) => site.slice(8, 9)),
    ["a", "b", "c", "d"],
  );
  assert.equal(lines[0]?.rateBps, 70);
  const byRate = sitesAnswer(look, store, { ...WISH, sort: "rate" });
  assert.equal(byRate.lines[0]?.site, "https://a.example");
});

test("a site's robots.txt comes as it was received, letters and all", async () => {
  const robots = "User-agent: *\nDisallow: /büro\n";
  using crawl = await sampleCrawl([{ key: "https://a.example", robots, urls: [] }]);
  using store = new StoreBrowser(crawl.folder);
  const answer = siteAnswer(sampleLook(), store, "https://a.example");
  assert.equal(answer?.robots?.text, robots);
  assert.equal(siteAnswer(sampleLook(), store, "https://none.example"), undefined);
});
