/**
 * robots.txt. Promises: every path has a verdict, the same when asked again and when the file's lines end otherwise;
 * delay, sitemaps and rules are bounded.
 */

import assert from "node:assert/strict";
import { isUtf8 } from "node:buffer";
import type { Random } from "../../src/base/random.ts";
import { pick } from "../../src/base/random.ts";
import { parseRobots } from "../../src/fetch/robots.ts";
import type { Target } from "./target.ts";

const DAY_MS = 86_400_000;
const PATHS = [
  "/",
  "/a",
  "/a/b.html?x=1",
  "/A%2fb",
  "/é",
  "/a%C3%A9",
  "/index.html",
  "//",
  "/$",
  "/*",
  "/a;b",
];

function check(input: Uint8Array, random: Random): string {
  const rules = parseRobots(input, "weir");
  const asText = parseRobots(Buffer.from(input).toString("utf8"), "weir");
  const path = `${pick(random, PATHS)}${"a/".repeat(Math.floor(random.next() * 800))}`;
  const verdicts = [...PATHS, path].map((one) => {
    const { allowed, rule } = rules.allows(one);
    assert.equal(rules.allows(one).allowed, allowed, "asked again, it differs");
    if (isUtf8(input)) assert.equal(asText.allows(one).allowed, allowed, "as text, it differs");
    return `${Number(allowed)}${rule === undefined ? "" : "r"}`;
  });
  const { crawlDelayMs, sitemaps, linesUnread } = rules;
  if (crawlDelayMs !== undefined) assert.ok(crawlDelayMs >= 0 && crawlDelayMs <= DAY_MS);
  assert.ok(sitemaps.length <= 1_000);
  assert.equal(new Set(sitemaps).size, sitemaps.length);
  for (const url of sitemaps) assert.match(url, /^https?:\/\//i);
  assert.ok(rules.allows("/robots.txt").allowed);
  assert.equal(rules.mustAskAgain, false);
  const counts = [sitemaps.length, linesUnread].map((count) => Math.min(3, count));
  return `${verdicts.join("")} ${counts.join(" ")} ${crawlDelayMs === undefined ? "" : "d"}`;
}

const FIELDS =
  "User-agent Disallow Allow Crawl-delay Sitemap disalow useragent user agent Host Request-rate noindex";

export const ROBOTS: Target = {
  name: "robots",
  samples: [
    "User-agent: *\nDisallow: /a\nAllow: /a/b*.html$\nCrawl-delay: 2.5\nSitemap: http://h.example/s.xml\n",
    "User-agent: weir\r\nUser-agent: other\r\nDisallow: /*?\r\n\r\nUser-agent: *\rDisallow: /\r",
    "\ufeffuser-agent:weir # c\nallow:/index.htm\ndisallow:/\n<html>\n",
    "User-agent: *\nDisallow: /%C3%A9\nDisallow: /é\nDisallow: /%2f%7E\n",
  ].map((text) => Buffer.from(text)),
  words: [
    ...FIELDS.split(" ").flatMap((name) => [`${name}: `, `${name} `, `\n${name}:`]),
    "*",
    "$",
    "/",
    "?",
    "#",
    "%",
    "%2f",
    "%C3%A9",
    "é",
    "\n",
    "\r",
    "\r\n",
    "\0",
    ":",
    " ",
    "\t",
    "weir",
    "Weir/1.0",
    "/a*",
    "***",
    "/index.html",
    "1e9",
    "-1",
    "0.5",
    "https://x.example/",
    "\u2028",
    "\ufeff",
    Buffer.from([0xff, 0xfe]),
    "a".repeat(17_000),
  ],
  inputBytesMax: 64 * 1024,
  // 36 verdicts, each of which may search 5 million characters.
  cpuMsMax: 1_500,
  inputsPerTest: 6_000,
  check,
};
