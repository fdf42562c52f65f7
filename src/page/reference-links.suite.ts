/**
 * The links of a page by a whole HTML parser: the reference for `links.ts`.
 *
 * parse5 builds the tree of the HTML standard; the links are then read from its elements by the
 * plain rules of `link-elements.ts`, with strings, one after the other. Slow, and simple to trust.
 */

import { parse, type DefaultTreeAdapterTypes as Tree } from "parse5";
import { canonicalUrl, type CanonicalUrl, PLAIN_RULES } from "../url/url.ts";
import { LinkHarvester } from "./links.ts";
import { readRefresh } from "./meta-refresh.ts";
import { readRobotsWords } from "./robots-tags.ts";
import { srcsetTargets } from "./srcset.ts";

export interface PageLinks {
  readonly targets: readonly string[];
  readonly canonical: string | undefined;
  readonly refresh: string | undefined;
  readonly robots: string;
  readonly title: string;
}

const harvester = new LinkHarvester({ images: true, robotName: "weir", ...PLAIN_RULES });

/** The links by `links.ts`. */
export function ownLinks(html: string, page: CanonicalUrl): PageLinks {
  const harvest = harvester.harvest(
    Buffer.from(html),
    { url: page, written: undefined },
    () => false,
  );
  const fresh = [...harvest.fresh, ...(harvest.later?.portions() ?? [])].flat();
  return {
    targets: fresh.map((link) => `${link.url}${link.nofollow ? " nofollow" : ""}`).sort(),
    canonical: harvest.canonical,
    refresh: harvest.refresh?.url,
    robots: JSON.stringify(harvest.robots),
    title: harvest.title,
  };
}

export function referenceLinks(html: string, page: CanonicalUrl): PageLinks {
  const elements = elementsOf(parse(html, { scriptingEnabled: false }));
  const base = firstOf(elements, (element) => {
    if (!isHtml(element, "base")) return undefined;
    const href = attribute(element, "href");
    return href === undefined ? undefined : resolved(href, page);
  });
  const from = base ?? page;
  const targets = new Map<string, boolean>();
  for (const element of elements)
    for (const text of linkTexts(element)) {
      const url = resolved(text, from);
      if (url === undefined || url === page) continue;
      targets.set(url, (targets.get(url) ?? true) && words(element, "rel").includes("nofollow"));
    }
  return {
    targets: [...targets].map(([url, nofollow]) => `${url}${nofollow ? " nofollow" : ""}`).sort(),
    canonical: firstOf(elements, (element) => canonicalOf(element, from)),
    refresh: firstOf(elements, (element) => refreshOf(element, from)),
    robots: robotsOf(elements),
    title: titleOf(elements),
  };
}

function linkTexts(element: Tree.Element): string[] {
  const one = (name: string): string[] => {
    const value = attribute(element, name);
    return value === undefined ? [] : [value];
  };
  if (element.tagName === "a") return one("href");
  if (isHtml(element, "area")) return one("href");
  if (isHtml(element, "frame") || isHtml(element, "iframe")) return one("src");
  const many = [...srcsetTargets(attribute(element, "srcset") ?? "")];
  if (isHtml(element, "img")) return [...one("src"), ...many];
  if (isHtml(element, "source")) return many;
  if (!isHtml(element, "link")) return [];
  const rel = words(element, "rel");
  const type = (attribute(element, "type") ?? "").trim().toLowerCase();
  const isPage = ["", "text/html", "application/xhtml+xml"].includes(type);
  const isRelated = rel.some((word) => ["next", "prev", "alternate"].includes(word));
  return isPage && isRelated && !rel.includes("stylesheet") ? one("href") : [];
}

function canonicalOf(element: Tree.Element, base: CanonicalUrl): CanonicalUrl | undefined {
  if (!isHtml(element, "link") || !words(element, "rel").includes("canonical")) return undefined;
  return resolved(attribute(element, "href") ?? "", base);
}

function refreshOf(element: Tree.Element, base: CanonicalUrl): CanonicalUrl | undefined {
  if (!isHtml(element, "meta")) return undefined;
  if (attribute(element, "http-equiv")?.toLowerCase() !== "refresh") return undefined;
  const refresh = readRefresh(attribute(element, "content") ?? "");
  return refresh === undefined ? undefined : resolved(refresh.target, base);
}

function robotsOf(elements: readonly Tree.Element[]): string {
  let noindex = false;
  let nofollow = false;
  for (const element of elements) {
    const name = isHtml(element, "meta") ? attribute(element, "name")?.toLowerCase() : undefined;
    if (name !== "robots" && name !== "weir") continue;
    const tags = readRobotsWords(attribute(element, "content") ?? "");
    noindex ||= tags.noindex;
    nofollow ||= tags.nofollow;
  }
  return JSON.stringify({ noindex, nofollow });
}

function titleOf(elements: readonly Tree.Element[]): string {
  const title = elements.find((element) => isHtml(element, "title"));
  const text = (title?.childNodes ?? [])
    .map((node) => ("value" in node ? node.value : ""))
    .join("");
  const clean = text
    .replace(/[\t\n\v\f\r \u00a0\u2028\u2029]+/g, " ")
    .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, "");
  return clean.trim().slice(0, 512);
}

function elementsOf(document: Tree.Document): Tree.Element[] {
  const elements: Tree.Element[] = [];
  const left: Tree.ParentNode[] = [document];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if ("tagName" in node) elements.push(node);
    for (const child of node.childNodes.toReversed()) if ("childNodes" in child) left.push(child);
  }
  return elements;
}

function isHtml(element: Tree.Element, name: string): boolean {
  return element.tagName === name && element.namespaceURI === "http://www.w3.org/1999/xhtml";
}

function attribute(element: Tree.Element, name: string): string | undefined {
  return element.attrs.find((attr) => attr.name === name && attr.prefix === undefined)?.value;
}

function words(element: Tree.Element, name: string): string[] {
  return (attribute(element, name) ?? "").toLowerCase().split(/[\t\n\f\r ]+/);
}

function resolved(text: string, base: CanonicalUrl): CanonicalUrl | undefined {
  const url = canonicalUrl(text, base);
  return typeof url === "string" ? url : undefined;
}

function firstOf<T>(
  elements: readonly Tree.Element[],
  read: (element: Tree.Element) => T | undefined,
): T | undefined {
  for (const element of elements) {
    const value = read(element);
    if (value !== undefined) return value;
  }
  return undefined;
}
