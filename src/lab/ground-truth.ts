/**
 * Lists what a complete, polite crawl of a world must find, page by page.
 *
 * Trap pages are not listed: a crawler may fetch some of them, but must leave the trap. Digests are
 * computed on demand, because they require the page's body.
 */

import { hash } from "node:crypto";
import { bodyOf } from "./world.ts";
import { type Page, pageAt, type PageKind } from "./world/page.ts";
import type { World } from "./world/plan.ts";
import { type Site, siteAt } from "./world/site.ts";

/**
 * What must become of a page in a complete, polite crawl:
 *
 * - `stored`: answers 200, so it is fetched and stored (copies are stored as duplicates);
 * - `redirected`: answers 3xx; its target is `stored` too;
 * - `error`: always answers 4xx or 5xx;
 * - `forbidden`: disallowed by robots.txt; a request for it is a violation.
 */
export type Fate = "stored" | "redirected" | "error" | "forbidden";

/** A page of the ground truth. */
export interface TruePage {
  readonly url: string;
  readonly fate: Fate;
  readonly site: Site;
  readonly page: Page;
}

const FATES: Readonly<Record<PageKind, Fate>> = {
  page: "stored",
  copy: "stored",
  near: "stored",
  moved: "redirected",
  gone: "error",
  forbidden: "forbidden",
};

/**
 * Lists every page that a complete, polite crawl of a world must find. Pages of traps are not listed.
 *
 * @example
 * import { groundTruth, makeWorld } from "weir/lab";
 *
 * const pages = [...groundTruth(makeWorld({ siteCount: 2 }))];
 * console.log(pages.filter(({ fate }) => fate === "forbidden").length, "pages are forbidden");
 */
export function* groundTruth(world: World): Generator<TruePage> {
  for (let index = 0; index < world.plan.siteCount; index++) {
    const site = siteAt(world, index);
    for (let number = 0; number < site.pageCount; number++) {
      const page = pageAt(world, site, number);
      yield { url: site.origin + page.path, fate: FATES[page.kind], site, page };
    }
  }
}

/**
 * SHA-256 of the body at the page's URL, to compare with the body that a crawl has stored.
 *
 * @example
 * import { digestOf, groundTruth, makeWorld } from "weir/lab";
 *
 * const world = makeWorld({ siteCount: 1 });
 * for (const page of groundTruth(world))
 *   if (page.fate === "stored") console.log(page.url, digestOf(world, page).length);
 */
export function digestOf(world: World, { site, page }: TruePage): Uint8Array {
  return hash("sha256", bodyOf(world, site, page), "buffer");
}

/**
 * Number of pages in the world, computed without generating them.
 *
 * @example
 * import { makeWorld, pageCountOf } from "weir/lab";
 *
 * console.log(pageCountOf(makeWorld({ siteCount: 1000 })));
 */
export function pageCountOf(world: World): number {
  let count = 0;
  for (let site = 0; site < world.plan.siteCount; site++) count += siteAt(world, site).pageCount;
  return count;
}
