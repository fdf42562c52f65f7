/** A site's robots.txt, and its sitemap in files of at most `SITEMAP_URLS_MAX` URLs. */

import { pageAt } from "./page.ts";
import type { World } from "./plan.ts";
import { PRIVATE, type Site } from "./site.ts";

const SITEMAP_URLS_MAX = 10_000;

const XML = '<?xml version="1.0" encoding="UTF-8"?>\n';
const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';

/** undefined when the site has none, which allows everything. */
export function robotsTxt(site: Site): string | undefined {
  if (!site.hasRobots) return undefined;
  const lines = ["# For robots", "User-agent: greedybot", "Disallow: /", "", "User-agent: *"];
  lines.push(site.closesPrivate ? `Disallow: /${PRIVATE}/` : "Disallow:");
  if (site.crawlDelayMs !== undefined) lines.push(`Crawl-delay: ${site.crawlDelayMs / 1000}`);
  if (site.hasSitemap) lines.push("", `Sitemap: ${site.origin}/sitemap.xml`);
  return `${lines.join("\n")}\n`;
}

/** One file for a small site, an index of files for a large one. */
export function sitemapXml(world: World, site: Site, path: string): string | undefined {
  if (!site.hasSitemap) return undefined;
  const fileCount = Math.ceil(site.pageCount / SITEMAP_URLS_MAX);
  if (path === "/sitemap.xml") {
    return fileCount > 1 ? sitemapIndex(site, fileCount) : urlSet(world, site, 0);
  }
  const digits = /^\/sitemap-(\d{1,6})\.xml$/.exec(path)?.[1];
  const file = digits === undefined ? fileCount : Number(digits);
  return file < fileCount && fileCount > 1 ? urlSet(world, site, file) : undefined;
}

function sitemapIndex(site: Site, fileCount: number): string {
  let xml = `${XML}<sitemapindex ${NAMESPACE}>\n`;
  for (let file = 0; file < fileCount; file++) {
    xml += `<sitemap><loc>${site.origin}/sitemap-${file}.xml</loc></sitemap>\n`;
  }
  return `${xml}</sitemapindex>\n`;
}

/** A sitemap file; it does not list redirects, errors and forbidden pages. */
function urlSet(world: World, site: Site, file: number): string {
  const first = file * SITEMAP_URLS_MAX;
  const end = Math.min(site.pageCount, first + SITEMAP_URLS_MAX);
  let xml = `${XML}<urlset ${NAMESPACE}>\n`;
  for (let number = first; number < end; number++) {
    const { kind, path } = pageAt(world, site, number);
    if (kind === "moved" || kind === "gone" || kind === "forbidden") continue;
    xml += `<url><loc>${site.origin}${path}</loc></url>\n`;
  }
  return `${xml}</urlset>\n`;
}
