/**
 * A synthetic web: every page is a function of a seed, a site's number and a page's number.
 *
 * Nothing is stored, so pages cost nothing until they are requested, and the ground truth
 * (`groundTruth`) is known to the last byte. `respond` computes the answers of all servers, for real
 * and simulated sockets.
 *
 * Promises: the same request to the same world always gets the same answer on every machine; every
 * page of kind `page`, `copy`, `near` or `moved` is reachable from the home page of site 0 through
 * ordinary pages only.
 */

import { htmlOf } from "./world/html.ts";
import { robotsTxt, sitemapXml } from "./world/notices.ts";
import { type Page, pageUnder, pathOf } from "./world/page.ts";
import type { World } from "./world/plan.ts";
import { hashAt } from "./world/dice.ts";
import { type Site, siteAt } from "./world/site.ts";
import { trapHtml } from "./world/traps.ts";

/** The answer of a simulated server. */
export interface WorldAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** Answers of error pages; each page always has the same one. */
const GONE_STATUSES: readonly (readonly [number, string])[] = [
  [404, "Not Found"],
  [410, "Gone"],
  [403, "Forbidden"],
  [501, "Not Implemented"],
];
const PURPOSE_GONE = 10;

/**
 * The answer to a GET of `path` (with query) at a site; `etag` is the request's If-None-Match.
 *
 * @example
 * import { makeWorld, respond, siteAt } from "weir/lab";
 *
 * const world = makeWorld({ siteCount: 1 });
 * const { status, body } = respond(world, siteAt(world, 0), "/");
 * console.log(status, new TextDecoder().decode(body).slice(0, 60));
 */
export function respond(world: World, site: Site, path: string, etag?: string): WorldAnswer {
  if (path === "/robots.txt") return textOrNotFound(robotsTxt(site), "text/plain");
  if (path.startsWith("/sitemap")) {
    const xml = sitemapXml(world, site, path);
    if (xml !== undefined) return textOrNotFound(xml, "application/xml");
  }
  const page = pageUnder(world, site, path);
  if (page === undefined) return textOrNotFound(trapHtml(world, site, path), "text/html");
  return respondWithPage(world, site, page, etag);
}

/**
 * The site at `host[:port]`; undefined when this world has none.
 *
 * @example
 * import { makeWorld, siteNamed } from "weir/lab";
 *
 * console.log(siteNamed(makeWorld({ siteCount: 5 }), "site3.test")?.index);
 */
export function siteNamed(world: World, authority: string): Site | undefined {
  const index = world.naming.siteOf(authority.toLowerCase());
  return index === undefined || index >= world.plan.siteCount ? undefined : siteAt(world, index);
}

/**
 * The home pages from which every page of the world can be reached.
 *
 * @example
 * import { makeWorld, seedUrls } from "weir/lab";
 *
 * console.log(seedUrls(makeWorld({ siteCount: 2 })));
 */
export function seedUrls(world: World): string[] {
  return Array.from(
    { length: world.plan.siteCount },
    (_, site) => `${world.naming.originOf(site)}/`,
  );
}

/** The body of a page that has one. */
export function bodyOf(world: World, site: Site, page: Page): Uint8Array {
  const stamp = page.kind === "near" ? `, as printed for reader ${page.number}` : "";
  return htmlOf(world, site, page.of, stamp);
}

function respondWithPage(world: World, site: Site, page: Page, etag?: string): WorldAnswer {
  if (page.kind === "moved") {
    const to = site.origin + pathOf(world, site, page.of);
    const permanent = page.number % 2 === 0;
    const headers = [["location", to] as const, ["content-length", "0"] as const];
    return permanent
      ? { status: 301, statusText: "Moved Permanently", headers, body: new Uint8Array(0) }
      : { status: 302, statusText: "Found", headers, body: new Uint8Array(0) };
  }
  if (page.kind === "gone") {
    const draw = hashAt(world.plan.seed, site.index, page.number, PURPOSE_GONE);
    const [status, statusText] = GONE_STATUSES[draw % GONE_STATUSES.length] ?? [404, "Not Found"];
    return withBody(status, statusText, "text/html", Buffer.from(`<h1>${statusText}</h1>\n`));
  }
  const tag = `"${site.index}-${page.of}-${page.kind === "near" ? page.number : 0}"`;
  if (etag === tag) {
    return {
      status: 304,
      statusText: "Not Modified",
      headers: [["etag", tag]],
      body: new Uint8Array(0),
    };
  }
  const answer = withBody(200, "OK", "text/html; charset=utf-8", bodyOf(world, site, page));
  return { ...answer, headers: [...answer.headers, ["etag", tag]] };
}

function textOrNotFound(text: string | undefined, contentType: string): WorldAnswer {
  if (text === undefined) {
    return withBody(404, "Not Found", "text/html", Buffer.from("<h1>Nothing here</h1>\n"));
  }
  return withBody(200, "OK", contentType, Buffer.from(text, "latin1"));
}

function withBody(
  status: number,
  statusText: string,
  contentType: string,
  body: Uint8Array,
): WorldAnswer {
  const headers = [
    ["content-type", contentType] as const,
    ["content-length", String(body.length)] as const,
  ];
  return { status, statusText, headers, body };
}
