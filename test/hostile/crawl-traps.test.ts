/**
 * B12, as a whole crawl meets it: sites without end, each beside a real site of fifty pages that must be
 * complete. Every crawl here ends by itself, or `crawlSites` would have said so.
 */

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { describe, test } from "node:test";
import type { Settings } from "../../src/config/schema.ts";
import {
  type Asked,
  crawlSites,
  html,
  realPagesIn,
  realSite,
  type Reply,
  type Report,
  startTestSite,
} from "./crawl-sites.ts";

const REAL_PAGES = 50;
const real = realSite(REAL_PAGES);

interface Trapped extends Report {
  /** Paths asked of the trap, in order. */
  readonly trapPaths: readonly string[];
}

/** Crawls a trap and a real site together, and holds the real one to be complete. */
async function crawlTrap(
  trap: (asked: Asked) => Reply,
  settings: Partial<Settings> = {},
): Promise<Trapped> {
  await using trapSite = await startTestSite((asked) =>
    asked.path === "/robots.txt" || asked.path === "/sitemap.xml" ? undefined : trap(asked),
  );
  await using site = await startTestSite(({ path }) => real(path));
  const report = await crawlSites([`${trapSite.origin}/`, `${site.origin}/`], settings);
  assert.equal(realPagesIn(report, site.origin), REAL_PAGES, "the real site is complete");
  assert.equal(report.result.urls.pending, 0);
  return { ...report, trapPaths: trapSite.paths() };
}

/** Links whose words do not tell where they lead. */
function silent(hrefs: readonly string[]): string {
  return hrefs.map((href, index) => `<a href="${href}">page ${index}</a>`).join(" ");
}

/** Different words on each page, as real pages have. */
function wordsOf(seed: string): string {
  const digest = hash("sha256", seed);
  return Array.from({ length: 30 }, (_, index) => `w${digest.slice(index, index + 5)}`).join(" ");
}

describe("B12: traps", () => {
  test("P1: a calendar that goes on for ever ends by its depth", async () => {
    const { trapPaths, result } = await crawlTrap(({ path }) => {
      const month = Number(/^\/calendar\/(\d+)$/.exec(path)?.[1] ?? 0);
      return `<p>${wordsOf(path)}${html(`/calendar/${month + 1}`)}`;
    });
    assert.equal(trapPaths.length, 51);
    assert.equal(result.refusedLinks["depth_limit"], 1);
  });

  test("P1: a calendar that links to all its years ends by its budget", async () => {
    const settings = { siteUrlsMax: 300 };
    const { trapPaths, result } = await crawlTrap(({ path }) => {
      const days = Array.from({ length: 40 }, (_, day) => `${path.replace(/\/$/, "")}x${day}`);
      return path.length > 60 ? undefined : `<p>${wordsOf(path)}${html(...days)}`;
    }, settings);
    assert.ok(trapPaths.length <= 300, `${trapPaths.length}`);
    assert.ok((result.refusedLinks["trap_budget"] ?? 0) > 0);
  });

  test("P2: a path that repeats itself ends at the third time", async () => {
    const { trapPaths, result } = await crawlTrap(
      ({ path }) => `<p>${wordsOf(path)}${html(path.endsWith("/a/") ? "b/" : "a/")}`,
    );
    assert.deepEqual(trapPaths, ["/", "/a/", "/a/b/", "/a/b/a/", "/a/b/a/b/", "/a/b/a/b/a/"]);
    assert.equal(result.refusedLinks["trap_repeat"], 1);
  });

  test("P3: a path that grows by each link ends at twenty segments", async () => {
    const { trapPaths, result } = await crawlTrap(
      ({ path }) => `<p>${wordsOf(path)}${html(`${wordsOf(path).slice(0, 5)}/`)}`,
    );
    assert.equal(trapPaths.length, 21);
    assert.equal(result.refusedLinks["trap_depth"], 1);
  });

  for (const where of ["query", "path"] as const)
    test(`P4: session ids in the ${where}, new on each page, end by being the same`, async () => {
      let visits = 0;
      const { trapPaths, result } = await crawlTrap(({ path }) => {
        const id = hash("md5", `visit ${visits++}`);
        const page = /\/page(\d)/.exec(path)?.[1] ?? "0";
        const links = Array.from({ length: 5 }, (_, number) =>
          where === "query" ? `/page${number}?sid=${id}` : `/${id}/page${number}`,
        );
        return `<title>Page ${page}</title><p>${wordsOf(page)} ${silent(links)}`;
      });
      assert.ok(trapPaths.length <= 100, `${trapPaths.length} pages were fetched`);
      assert.ok((result.outcomes["trap_useless"] ?? 0) > 0);
    });

  test("P4: known session ids are taken out where that is asked for", async () => {
    let visits = 0;
    const trap = ({ path }: Asked): Reply => {
      const id = hash("md5", `visit ${visits++}`);
      const links = Array.from({ length: 5 }, (_, page) => `/page${page};jsessionid=${id}`);
      return `<p>${wordsOf(path)} ${html(...links)}`;
    };
    const { trapPaths } = await crawlTrap(trap, { stripSessionIds: true });
    assert.equal(trapPaths.length, 6);
  });

  test("P5: a million combinations of facets end by the budget of their pattern", async () => {
    const settings = { patternUrlsMax: 100 };
    const { trapPaths, result } = await crawlTrap(({ path }) => {
      const links = Array.from({ length: 30 }, (_, index) => {
        const facets = hash("md5", `${path} ${index}`).slice(0, 6).split("");
        return `/search?${facets.map((value, place) => `f${place}=${value}`).join("&amp;")}`;
      });
      return `<p>${wordsOf(path)} ${html(...links)}`;
    }, settings);
    assert.ok(trapPaths.length <= 101, `${trapPaths.length} were fetched`);
    assert.ok((result.refusedLinks["trap_pattern"] ?? 0) > 0);
  });

  test("P6: endless subdomains end by the budget of their domain", async () => {
    const subdomainsMax = 100;
    await using trap = await startTestSite(({ path, host }) => {
      if (path !== "/") return undefined;
      const names = Array.from({ length: 10 }, (_, index) => hash("md5", `${host}${index}`));
      const links = names.map((name) => `http://${name}.endless.localhost:${trap.port}/`);
      return `<p>${wordsOf(host)} ${html(...links)}`;
    });
    await using site = await startTestSite(({ path }) => real(path));
    const seeds = [`${trap.named("www.endless")}/`, `${site.named("www.honest")}/`];
    const settings = { scope: "domain" as const, domainUrlsMax: subdomainsMax };
    const report = await crawlSites(seeds, settings);
    assert.equal(realPagesIn(report, site.named("www.honest")), REAL_PAGES);
    assert.ok(trap.paths().length <= subdomainsMax, `${trap.paths().length}`);
    assert.ok((report.result.refusedLinks["trap_domain"] ?? 0) > 0);
  });

  test("P8: links that change at each fetch end by the budget of the site", async () => {
    let visits = 0;
    const settings = { siteUrlsMax: 400 };
    const { trapPaths, result } = await crawlTrap(() => {
      const page = visits++;
      const links = Array.from(
        { length: 20 },
        (_, index) => `/${wordsOf(`${page}-${index}`).slice(0, 11).replace(" ", "-")}`,
      );
      return `<p>${wordsOf(`${page}`)} ${html(...links)}`;
    }, settings);
    assert.equal(new Set(trapPaths).size, trapPaths.length, "none was asked for twice");
    assert.ok(trapPaths.length <= 400);
    assert.ok((result.refusedLinks["trap_budget"] ?? 0) > 0);
  });

  test("P9: a honeypot that robots.txt forbids is never entered, hidden or not", async () => {
    await using site = await startTestSite({
      "/robots.txt": "User-agent: *\nDisallow: /honey",
      "/": `<a style="display:none" href="/honey/1">x</a>${html("/honey/2", "/page")}`,
      "/page": html("/honey/3"),
    });
    const { result } = await crawlSites([`${site.origin}/`]);
    assert.deepEqual(site.paths(), ["/", "/page"]);
    assert.equal(result.outcomes["robots_denied"], 3);
  });

  test("P12: variants of a path in case and slashes end by being the same", async () => {
    let visits = 0;
    const { trapPaths, result } = await crawlTrap(() => {
      const links = Array.from({ length: 3 }, () => {
        const bits = visits++;
        const name = [..."manyspellings"].map((letter, at) =>
          (bits >> at) & 1 ? letter.toUpperCase() : letter,
        );
        return `/${name.join("")}${"/".repeat(bits % 3)}`;
      });
      return `<p>${wordsOf("one page")} ${silent(links)}`;
    });
    assert.ok(trapPaths.length <= 400, `${trapPaths.length} were fetched`);
    assert.ok((result.refusedLinks["trap_duplicates"] ?? 0) > 0);
  });
});
