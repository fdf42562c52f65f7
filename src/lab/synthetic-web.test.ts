import assert from "node:assert/strict";
import { test } from "node:test";
import { siteOf } from "../url/site.ts";
import { canonicalUrl } from "../url/url.ts";
import { siteNumbers } from "./graph-web.ts";
import { REAL_WEBS, realWeb } from "./real-web.ts";
import { syntheticWeb } from "./synthetic-web.ts";

test("the same seed gives the same web, another seed another", () => {
  assert.deepEqual(syntheticWeb(3, 2000), syntheticWeb(3, 2000));
  assert.notDeepEqual(syntheticWeb(3, 2000).targets, syntheticWeb(4, 2000).targets);
});

test("link counts and site sizes match the documented shape", () => {
  for (let seed = 1; seed <= 3; seed++) {
    const web = syntheticWeb(seed, 50_000);
    const sites = siteNumbers(web);
    let external = 0;
    for (let page = 0; page < web.pageCount; page++)
      for (let link = web.offsets[page] as number; link < (web.offsets[page + 1] as number); link++)
        if (sites[page] !== sites[web.targets[link] as number]) external += 1;
    const perPage = web.targets.length / web.pageCount;
    assert.ok(perPage > 8 && perPage < 11, `seed ${seed}: ${perPage} links a page`);
    const externalPerPage = external / web.pageCount;
    assert.ok(
      externalPerPage > 0.9 && externalPerPage < 1.05,
      `seed ${seed}: ${externalPerPage} external`,
    );
    const largest = Math.max(
      ...Map.groupBy(sites, (site) => site)
        .values()
        .map((all) => all.length),
    );
    assert.equal(largest, 500, `seed ${seed}: no site reaches a hundredth of all pages`);
  }
});

test("URLs are canonical and distinct, and every page is reachable from its site's home page", () => {
  const web = syntheticWeb(1, 5000);
  assert.equal(new Set(web.urls).size, web.pageCount);
  for (const url of web.urls) assert.equal(canonicalUrl(url), url);
  const sites = siteNumbers(web);
  const reached = new Uint8Array(web.pageCount);
  for (let page = 0; page < web.pageCount; page++) {
    if (siteOf(web.urls[page] as string).length + 1 === web.urls[page]?.length) reached[page] = 1;
    // Pages of a site are in order, and its tree links each page to later ones.
    for (let link = web.offsets[page] as number; link < (web.offsets[page + 1] as number); link++) {
      const target = web.targets[link] as number;
      if (reached[page] === 1 && sites[target] === sites[page]) reached[target] = 1;
    }
  }
  assert.ok(reached.every((is) => is === 1));
});

test("a real graph is loaded when its files exist", (t) => {
  assert.equal(realWeb("uic-2018", "/nowhere"), undefined);
  const web = realWeb(REAL_WEBS[0]);
  if (web === undefined) return t.skip("needs ../shared/data and xz");
  assert.equal(web.pageCount, 10_249);
  assert.equal(web.targets.length, 124_004);
  assert.equal(new Set(siteNumbers(web)).size, 370);
});
