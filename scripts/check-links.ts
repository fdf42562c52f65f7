/**
 * Compares our link finding with a whole HTML parser, and lists every difference.
 *
 *   node scripts/check-links.ts                  all real pages and HTML cases of ../shared/data
 *   node scripts/check-links.ts FOLDER [FILES]   the HTML files of a folder
 */

import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { htmlCases } from "../src/page/html-cases.suite.ts";
import { ownLinks, type PageLinks, referenceLinks } from "../src/page/reference-links.suite.ts";
import { realPages } from "../src/url/shared-data.suite.ts";
import { canonicalUrl, type CanonicalUrl } from "../src/url/url.ts";

const LISTED_MAX = 40;
const PAGE_FILES = [
  "pages/html-pages-trafilatura.jsonl.xz",
  "pages/uic-2018.pages.jsonl.xz",
  "pages/uci-ics.pages.jsonl.xz",
  "topics/wikipedia-for-schools.pages.jsonl.xz",
];

interface Count {
  pages: number;
  links: number;
  different: number;
}

const [folder, files = "Infinity"] = process.argv.slice(2);
let listed = 0;

if (folder === undefined) {
  const cases = newCount();
  for (const [number, html] of htmlCases().entries()) compare(html, caseUrl(number), cases);
  report("HTML tokenizer and tree cases", cases);
  for (const file of PAGE_FILES) {
    const count = newCount();
    for await (const page of realPages(file)) compare(page.html, urlOf(page.url), count);
    report(file, count);
  }
} else {
  const count = newCount();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const pages = entries
    .filter((entry) => entry.isFile() && /\.html?$/.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
  const stride = Math.max(1, pages.length / Number(files));
  for (let place = 0; place < pages.length; place += stride) {
    const name = pages[Math.floor(place)] ?? "";
    const html = readFileSync(join(folder, name), "utf8");
    compare(html, urlOf(encodeURI(`http://site.test/${name}`)), count);
  }
  report(folder, count);
}

function compare(html: string, url: CanonicalUrl, count: Count): void {
  const own = ownLinks(html, url);
  count.pages += 1;
  const reference = referenceLinks(html, url);
  count.links += reference.targets.length;
  const differences = differencesOf(own, reference);
  if (differences.length === 0) return;
  count.different += 1;
  if (listed >= LISTED_MAX) return;
  listed += 1;
  const sample = html.length <= 300 ? ` ${JSON.stringify(html)}` : "";
  console.log(`${url}${sample}\n  ${differences.slice(0, 6).join("\n  ")}`);
}

function differencesOf(own: PageLinks, reference: PageLinks): string[] {
  const missing = reference.targets.filter((target) => !own.targets.includes(target));
  const surplus = own.targets.filter((target) => !reference.targets.includes(target));
  const facts = (["canonical", "refresh", "robots", "title"] as const)
    .filter((fact) => own[fact] !== reference[fact])
    .map((fact) => `${fact}: ours ${own[fact]}, parse5 ${reference[fact]}`);
  return [
    ...missing.map((target) => `missing ${target}`),
    ...surplus.map((target) => `surplus ${target}`),
    ...facts,
  ];
}

function report(name: string, count: Count): void {
  const { pages, links, different } = count;
  console.log(`${name}: ${pages} pages, ${links} links, ${different} differ`);
}

function newCount(): Count {
  return { pages: 0, links: 0, different: 0 };
}

function caseUrl(number: number): CanonicalUrl {
  return urlOf(`http://case.test/${number}/page`);
}

function urlOf(text: string): CanonicalUrl {
  const url = canonicalUrl(text);
  return typeof url === "string" ? url : urlOf("http://page.test/folder/page.html");
}
