/**
 * Pages. Promises: links are canonical and at most 2,000 at once, their fingerprints are those of their URLs, positions
 * of text are in order and inside the page, and a page read twice, with another one in between, gives the same.
 */

import assert from "node:assert/strict";
import type { Random } from "../../src/base/random.ts";
import { detectCharset, toUtf8 } from "../../src/page/charset.ts";
import { listLinks } from "../../src/page/link-list.ts";
import { type Harvest, LinkHarvester } from "../../src/page/links.ts";
import { NearHasher } from "../../src/page/near-duplicate.ts";
import { marksOf } from "../../src/page/page-marks.ts";
import { packText } from "../../src/page/packed-text.ts";
import { judgeBody } from "../../src/page/sniff.ts";
import { visibleText } from "../../src/page/text.ts";
import { RUNS_MAX } from "../../src/page/text-runs.ts";
import { fingerprintOf } from "../../src/url/fingerprint.ts";
import { canonicalUrl, PLAIN_RULES, type ResolvedUrl } from "../../src/url/url.ts";
import type { Target } from "./target.ts";

const PAGE = { url: "http://a.example/b/c?d=e", written: undefined } as ResolvedUrl;
const RULES = { ...PLAIN_RULES, images: true, robotName: "weir" };
const OTHER_PAGE = Buffer.from("<svg><style><template><select><title>unclosed <a href=/x>y");
const LINKS_AT_ONCE_MAX = 2_000;
const TEXT_BYTES_MAX = 1 << 20;

const harvester = new LinkHarvester(RULES);
const hasher = new NearHasher();

function check(input: Uint8Array, random: Random): string {
  judgeBody("text/html", input);
  const { name } = detectCharset(input, random.next() < 0.5 ? undefined : "text/html");
  const html = toUtf8(input, name);
  const isKnown = (high: number, low: number): boolean => ((high ^ low) & 7) === 0;
  const first = summaryOf(harvester.harvest(html, PAGE, isKnown), html);
  harvester.harvest(OTHER_PAGE, PAGE, () => false);
  const harvest = harvester.harvest(html, PAGE, isKnown);
  assert.deepEqual(summaryOf(harvest, html), first, "read twice, it differs");
  checkLinks(harvest);
  checkRuns(harvest, html.length);
  hasher.hash(html, harvest.runs);
  const marks = marksOf({ html, runs: harvest.runs, links: harvest.fingerprints.length / 8 });
  assert.ok(packText(html, harvest.runs, TEXT_BYTES_MAX).length <= TEXT_BYTES_MAX + 8);
  assert.ok(visibleText(html, 1_000).length <= 1_000);
  const listed = listLinks(html, PAGE.url, 1_000);
  const remarks = Object.values(harvest.refused).map((count) => Math.min(count, 2));
  const counts = [harvest.fresh.length, listed.length, harvest.runs.count].map((count) =>
    Math.min(8, count),
  );
  const { canonical, refresh, title, language, robots } = harvest;
  const facts = [canonical, refresh, title, language].map((fact) => (fact ? 1 : 0));
  return [name, ...marks, ...counts, ...remarks, ...facts, ...Object.values(robots)].join(" ");
}

function summaryOf(harvest: Harvest, html: Uint8Array): object {
  const { runs, later, ...rest } = harvest;
  const near = new NearHasher();
  near.hash(html, runs);
  return { ...rest, runs: runs.count, later: later?.count, near: [near.high, near.low] };
}

function checkLinks({ fresh, later, fingerprints, title }: Harvest): void {
  assert.ok(fresh.length <= LINKS_AT_ONCE_MAX);
  assert.equal(fingerprints.length % 8, 0);
  assert.ok(title.length <= 4_096, "a title is bounded");
  const seen = new Set<string>();
  const links = [...fresh];
  for (const portion of later?.portions() ?? []) links.push(...portion);
  for (const { url, written, high, low } of links) {
    assert.equal(canonicalUrl(url), url, "a link is canonical");
    if (written !== undefined) assert.equal(canonicalUrl(written), url);
    const own = fingerprintOf(url);
    assert.deepEqual([own.high, own.low], [high, low], `the fingerprint of ${url}`);
    assert.ok(!seen.has(url), `${url} twice`);
    seen.add(url);
  }
}

function checkRuns({ runs }: Harvest, bytes: number): void {
  assert.ok(runs.count <= RUNS_MAX);
  let at = 0;
  for (let run = 0; run < runs.count; run++) {
    assert.ok(runs.start(run) >= at && runs.end(run) > runs.start(run), "runs are in order");
    at = runs.end(run);
  }
  assert.ok(at <= bytes, "runs are inside the page");
}

const ELEMENTS =
  "a area base link meta html head body title script style svg math template select iframe noscript textarea xmp " +
  "plaintext img source frame form p div br foreignObject annotation-xml desc mi font table option";
const ATTRIBUTES =
  "href src srcset content name http-equiv rel charset lang color encoding action data-x";
const VALUES = [
  "/a",
  "../..//b?c=%7e&amp;d#e",
  "//h.example:80/x",
  "https://ä.example/ü",
  "javascript:1",
  "?",
  "#f",
  "&#x2f;a",
  "&notit;&amp",
  "http://[::1]/",
  "a b\tc\nd",
  "0;url=/next",
  "0; URL='x",
  "noindex,nofollow",
  "nofollow ugc",
  "robots",
  "WEIR",
  "refresh",
  "canonical",
  "text/html; charset=utf-16le",
  "shift_jis",
  "de-DE",
  "a 1x, b 2x,,c",
  "data:,x",
  "%",
  "%4%31",
  "%00",
  "\\\\h\\p",
  "http:/x",
  "http:x",
  "..",
  "./.",
  "a/%2e%2E/b",
  "é",
  "\u{1f600}",
];

export const HTML: Target = {
  name: "html",
  samples: [
    "<!doctype html><html lang=en><title>T</title><base href=/d/><a href='x'>one</a> two <a href=\"y?z=1&amp;q\">3</a>",
    "<meta charset=utf-8><meta name=robots content=noindex><link rel=canonical href=/c><meta http-equiv=refresh content='3;url=/n'>",
    "<script><!--<script></script>--></script><style>a{}</style><!-- c --><img src=i srcset='j 1x, k 2x'><p>text<br>more",
    "<svg><title><a href=/s>x</a></title><![CDATA[<a href=/no>]]></svg><math><annotation-xml encoding=text/html><a href=/m>",
    "<template><a href=/t></a></template><select><a href=/o></select><textarea><a href=/p></textarea><noscript><a href=/q>",
    "\xff\xfe<\0a\0 \0h\0r\0e\0f\0=\0x\0>\0",
    Array.from({ length: 2_100 }, (_, index) => `<a href=${index}>`).join(""),
  ].map((text) => Buffer.from(text, "latin1")),
  words: [
    ...ELEMENTS.split(" ").flatMap((name) => [
      `<${name} `,
      `<${name}>`,
      `</${name}>`,
      `<${name}/>`,
    ]),
    ...ATTRIBUTES.split(" ").flatMap((name) => [
      ` ${name}=`,
      ` ${name}="`,
      ` ${name}='`,
      ` ${name}`,
    ]),
    ...VALUES,
    "<",
    ">",
    "'",
    '"',
    "=",
    "/",
    "<!--",
    "-->",
    "--!>",
    "<!",
    "<?",
    "<![CDATA[",
    "]]>",
    "&",
    ";",
    " ",
    "\n",
    "\f",
    "\0",
    "\xef\xbb\xbf",
    "text",
    "</",
    "<a href=x>",
    "</a\t\n",
    Buffer.from([0xff]),
    Buffer.from([0xed, 0xa0, 0x80]),
    Buffer.from([0x1b, 0x24, 0x42]),
  ],
  inputBytesMax: 128 * 1024,
  inputsPerTest: 6_000,
  check,
};
