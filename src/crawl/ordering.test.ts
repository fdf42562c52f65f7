import assert from "node:assert/strict";
import { test } from "node:test";
import { pageWith, SmallCrawl, type SmallWeb } from "./small-crawl.suite.ts";

const COUNT = 100;

test("by breadth, URLs are requested in the order in which they are found", async () => {
  const paths = await pathsIn("breadth");
  assert.deepEqual(paths, ["/", ...numbered(), "/rare", "/popular"]);
});

for (const order of ["backlinks", "pagerank"] as const) {
  test(`by ${order}, the page to which all others link is requested long before the last of them`, async () => {
    const paths = await pathsIn(order);
    const place = paths.indexOf("/popular");
    assert.ok(place < 50, `place ${place}: ${paths.join(" ")}`);
    assert.ok(place < paths.indexOf("/rare"), paths.join(" "));
  });

  test(`by ${order}, scores survive a restart`, async () => {
    const first = new SmallCrawl({ web: linkedWeb(), settings: { order, pagesMax: 6 } });
    await first.run();
    const { disk, clock } = first;
    const settings = { order, delayMs: 3000 };
    const again = new SmallCrawl({ web: linkedWeb(), disk, clock, settings });
    assert.equal((await again.run()).pages, COUNT + 3);
    const place = again.pathsRequested.indexOf("/popular");
    assert.ok(place < 45, `place ${place}`);
  });
}

async function pathsIn(order: "breadth" | "backlinks" | "pagerank"): Promise<string[]> {
  const crawl = new SmallCrawl({ web: linkedWeb(), settings: { order, delayMs: 3000 } });
  assert.equal((await crawl.run()).pages, COUNT + 3);
  return crawl.pathsRequested;
}

/** The home page links to many pages, which link to /popular; only the first one links to /rare. */
function linkedWeb(): SmallWeb {
  const web: SmallWeb = {
    "http://a.example/": pageWith(...numbered()),
    "http://a.example/rare": pageWith() + "rare",
    "http://a.example/popular": pageWith("/") + "popular",
  };
  for (const [at, path] of numbered().entries())
    web[`http://a.example${path}`] = pageWith(...(at === 0 ? ["/rare"] : []), "/popular") + path;
  return web;
}

function numbered(): string[] {
  return Array.from({ length: COUNT }, (_, at) => `/${at}`);
}
