import assert from "node:assert/strict";
import { test } from "node:test";
import { REASONS } from "../page/outcome.ts";
import { StoreBrowser } from "../store/joined/browse.ts";
import { urlAnswer, urlsAnswer } from "./outcomes.ts";
import { meaningOf } from "./reason-words.ts";
import { sampleCrawl } from "./sample.suite.ts";

test("every reason there is has its words, and so has every status", () => {
  for (const reason of Object.keys(REASONS)) assert.notEqual(meaningOf(reason), "", reason);
  assert.match(meaningOf("http_404"), /no such page/);
  assert.match(meaningOf("http_418"), /refused \(418\)/);
  assert.match(meaningOf("http_599"), /failed \(599\)/);
  assert.equal(meaningOf("__proto__"), "");
});

test("what was denied is shown with the line of robots.txt that denied it", async () => {
  const site = "https://a.example";
  const robots =
    "# hello\nUser-agent: other\nDisallow: /\n\nUser-agent: weir\nAllow: /open\nDisallow: /pri*te/  # keep out\n";
  const urls = [
    { url: `${site}/private/1`, reason: "robots_denied" },
    { url: `${site}/open/2`, reason: "ok", title: "Open" },
  ] as const;
  using crawl = await sampleCrawl([{ key: site, robots, urls }]);
  using store = new StoreBrowser(crawl.folder);
  const { lines, meaning } = urlsAnswer(store, [], {
    reason: "robots_denied",
    afterId: 0,
    count: 9,
  });
  assert.match(meaning, /robots\.txt/);
  assert.deepEqual(
    lines.map(({ url, why }) => [url, why]),
    [[`${site}/private/1`, "Disallow: /pri*te/  # keep out"]],
  );
  const whole = urlAnswer(store, [], 1);
  assert.equal(whole?.evidence[0]?.what, `robots.txt of ${site}, line 7`);
  assert.equal(whole?.page, undefined);
  const page = urlAnswer(store, [], 2);
  assert.equal(page?.page?.title, "Open");
  assert.deepEqual(page?.evidence, []);
  assert.equal(urlAnswer(store, [], 3), undefined);
});

test("what left the scope is shown with the rule, what failed with what the network said", async () => {
  const site = "https://a.example";
  using crawl = await sampleCrawl([
    {
      key: site,
      urls: [
        { url: "https://b.example/secret/x", reason: "out_of_scope" },
        { url: "https://b.example/y", reason: "out_of_scope" },
        { url: `${site}/z`, reason: "conn_reset" },
      ],
    },
  ]);
  using store = new StoreBrowser(crawl.folder);
  const troubles = [{ url: `${site}/z`, reason: "conn_reset", detail: "read ECONNRESET\u202e" }];
  const why = (reason: string): string[] =>
    urlsAnswer(store, troubles, { reason, afterId: 0, count: 9 }).lines.map((line) => line.why);
  assert.deepEqual(why("out_of_scope"), ["--exclude *secret*", "outside --scope site"]);
  assert.deepEqual(why("conn_reset"), ["read ECONNRESET\\u202e"]);
});
