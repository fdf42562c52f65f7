import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import { fingerprintOf } from "../url/fingerprint.ts";
import { hasSharedData, NEEDS_DATA, realPages } from "../url/shared-data.suite.ts";
import { canonicalUrl, type CanonicalUrl, isRefused, PLAIN_RULES, resolveUrl } from "../url/url.ts";
import { htmlCases } from "./html-cases.suite.ts";
import { type Harvest, LinkHarvester } from "./links.ts";
import { LinkResolver } from "./link-resolver.ts";
import { ownLinks, referenceLinks } from "./reference-links.suite.ts";

const PAGE = "https://example.org/docs/guide/page.html?lang=en" as CanonicalUrl;
const AT_PAGE = { url: PAGE, written: undefined };

function harvest(html: string | Uint8Array, images = false): Harvest {
  const harvester = new LinkHarvester({ images, robotName: "weir", ...PLAIN_RULES });
  return harvester.harvest(
    typeof html === "string" ? Buffer.from(html) : html,
    AT_PAGE,
    () => false,
  );
}

function urls(html: string, images = false): string[] {
  return harvest(html, images).fresh.map((link) => link.url);
}

test("the links of a page are found, resolved and told once", () => {
  const html = `<a href="next.html">n</a><A HREF='../up?a=1&amp;b=2#x'>u</A><area href=/root>
    <iframe src="//frame.net/x"></iframe><a href=next.html>again</a><a href="#here">self</a>
    <link rel="next" href="two"><link rel=stylesheet href=style.css><a href="mailto:a@b.c">m</a>`;
  assert.deepEqual(urls(html), [
    "https://example.org/docs/guide/next.html",
    "https://example.org/docs/up?a=1&b=2",
    "https://example.org/root",
    "https://frame.net/x",
    "https://example.org/docs/guide/two",
  ]);
  assert.equal(harvest(html).refused.scheme_refused, 1);
});

test("fingerprints come in page order, and known targets never become strings", () => {
  const first = fingerprintOf("https://example.org/a");
  const harvester = new LinkHarvester({ images: false, robotName: "weir", ...PLAIN_RULES });
  const known = (high: number, low: number) => high === first.high && low === first.low;
  const found = harvester.harvest(Buffer.from("<a href=/a><a href=/b>"), AT_PAGE, known);
  assert.deepEqual(
    found.fresh.map((link) => link.url),
    ["https://example.org/b"],
  );
  const bytes = Buffer.from(found.fingerprints);
  assert.equal(bytes.length, 16);
  assert.deepEqual({ high: bytes.readUInt32BE(0), low: bytes.readUInt32BE(4) }, first);
});

test("what only looks like a tag is none", () => {
  const html = `<!-- <a href=/no> --><script>"<a href=/no>"</script><style><a href=/no></style>
    <title><a href=/no></title><textarea><a href=/no></textarea><template><a href=/no></template>
    <p title="<a href=/no>"><svg><style><a href=/yes></style></svg>
    <noscript><a href=/also></noscript>`;
  assert.deepEqual(urls(html), ["https://example.org/yes", "https://example.org/also"]);
});

test("the first valid base holds for every link, also for those before it", () => {
  const html = `<a href=x><base href="data:,"><base href="//b.net/d/"><base href="//c.net/">
    <a href=y>`;
  assert.deepEqual(urls(html), ["https://b.net/d/x", "https://b.net/d/y"]);
});

test("hints, robots, title and language are told beside the links", () => {
  const found = harvest(`<html lang="de-AT"><title> A &amp;\n <b> </title>
    <link rel="Canonical" href="/c"><meta http-equiv=refresh content="3; url='/r'">
    <meta name=ROBOTS content="NoIndex"><meta name=weir content=nofollow>`);
  assert.equal(found.title, "A & <b>");
  assert.equal(found.language, "de-AT");
  assert.equal(found.canonical, "https://example.org/c");
  assert.equal(found.refresh?.url, "https://example.org/r");
  assert.equal(found.refresh?.delaySeconds, 3);
  assert.deepEqual(found.robots, { noindex: true, nofollow: true });
});

test("a target is nofollow only when every link to it is", () => {
  const html = `<a rel="x NOFOLLOW" href=/a><a rel=nofollow href=/b><a href=/b>`;
  assert.deepEqual(
    harvest(html).fresh.map((link) => link.nofollow),
    [true, false],
  );
});

test("images count when asked for", () => {
  const html = `<img src=a.png srcset="b.png 2x, c.png 3x"><source srcset=d.png>`;
  assert.deepEqual(urls(html), []);
  assert.equal(urls(html, true).length, 4);
});

test("all of 100,000 links are found, each with its own nofollow", () => {
  const links = Array.from({ length: 100_000 }, (_, number) => `<a rel=nofollow href=/${number}>`);
  const found = harvest(`${links.join("")}<a href=/7><a href=/99999><a href="/%7Ex"><a href=/7>`);
  const all = [...found.fresh, ...(found.later?.portions() ?? [])].flat();
  assert.equal(found.fingerprints.length, 8 * 100_001);
  assert.equal(new Set(all.map((link) => link.url)).size, 100_001);
  const followed = all.filter((link) => !link.nofollow);
  assert.deepEqual(
    followed.map((link) => link.written ?? link.url),
    ["/7", "/99999", "/%7Ex"].map((path) => `https://example.org${path}`),
  );
  const bytes = Buffer.from(found.fingerprints);
  for (const [index, { url, high, low }] of all.entries()) {
    assert.deepEqual({ high, low }, fingerprintOf(url));
    assert.equal(bytes.readUInt32BE(8 * index), high);
    assert.equal(bytes.readUInt32BE(8 * index + 4), low);
  }
  assert.equal(harvest("<a href=/1>").fingerprints.length, 8);
});

test("a link keeps the spelling of its page's URL and its own", () => {
  const page = resolveUrl("https://example.org/%7euser/caf%c3%a9/index.html");
  assert.ok(!isRefused(page));
  const harvester = new LinkHarvester({ images: false, robotName: "weir", ...PLAIN_RULES });
  const html = `<a href="a.html"><a href="../b%2fc"><a href="/plain"><a href="?"><a href="/p%41?">`;
  const { fresh } = harvester.harvest(Buffer.from(html), page, () => false);
  assert.deepEqual(
    fresh.map(({ url, written }) => [url, written].map((text) => text?.slice(19))),
    [
      ["/~user/caf%C3%A9/a.html", "/%7euser/caf%c3%a9/a.html"],
      ["/~user/b%2Fc", "/%7euser/b%2fc"],
      ["/plain", undefined],
      ["/pA", "/p%41?"],
    ],
  );
});

/** Each is 4 MB of one kind of trouble; were any of them quadratic, the tests would not end. */
test("hostile pages take no longer per byte than others", () => {
  const pieces = [
    "<b>",
    "<svg>",
    "<template></svg>",
    "<!----!>",
    "<!--",
    "<script><!--<script>",
    "</",
    "<a href=[>",
    "<a href=a/a:",
    "&a",
    "<a ",
    '<a b="',
    "x=",
    "<![CDATA[",
    "<math><annotation-xml>",
    "\n",
    "<base href=x>",
  ];
  for (const piece of pieces)
    for (const before of ["", "<a href='", "<a "])
      harvest(before + piece.repeat(4e6 / piece.length));
  const images = Array.from({ length: 1e5 }, (_, number) => `${number}.png 1x, `).join("");
  assert.equal(harvest(`<img srcset="${images}">`, true).capped, 99_000);
});

test("a link resolved from bytes is the link that the parser makes of it", () => {
  const pieces = [
    ..."abzAZ019-._~!$'()*+,;=:@/?#[]|^{}\\ \t\0é",
    ..."../ ./ .. // & &amp; &amp;amp; &copy= &copy; &copy &#x41; &a=1 %20 %2F %2f %41 % %4".split(
      " ",
    ),
    ..."http:// https:// https://example.org/ //h.net/ //H.net/ 1.2.3.4 xn--a user@ :80".split(" "),
    ..."javascript: ;jsessionid=1 (S(a)) sid= utm_x=1 docs guide .html ?q= ?x=1&y=2 #frag".split(
      " ",
    ),
  ];
  const flags = [false, true];
  for (let seed = 1; seed <= 60_000; seed++) {
    const random = randomFrom(seed);
    const rules = { dropQuery: pick(random, flags), stripSessionIds: pick(random, flags) };
    const base = canonicalUrl(PAGE, undefined, rules);
    assert.ok(!isRefused(base));
    let text = "";
    for (let count = below(random, 7); count > 0; count--) text += pick(random, pieces);
    const value = Buffer.from(`"${text}"`);
    const resolver = new LinkResolver(rules);
    resolver.setBase({ url: base, written: undefined });
    const refusal = resolver.resolve(value, 1, value.length - 1);
    const { url, written } = referenceUrl(text, base, rules);
    const message = `seed ${seed}: ${JSON.stringify(text)}`;
    assert.equal(refusal ?? resolver.url(), url, message);
    if (refusal !== undefined) continue;
    assert.equal(resolver.written, written, message);
    const { high, low } = fingerprintOf(resolver.url());
    assert.deepEqual([resolver.high >>> 0, resolver.low >>> 0], [high, low], message);
  }
});

function referenceUrl(
  text: string,
  base: CanonicalUrl,
  rules: typeof PLAIN_RULES,
): { readonly url: string; readonly written: string | undefined } {
  const resolver = new LinkResolver(rules);
  resolver.setBase({ url: base, written: undefined });
  // An unnecessary reference in front sends the value the slow way round.
  const value = Buffer.from(`&#32;${text}`);
  const url = resolver.resolve(value, 0, value.length) ?? resolver.url();
  return { url, written: resolver.written };
}

test("a tag ends where parse5 ends it, whatever stands between its attributes", () => {
  const pieces = [..."ab=\"'/> \n", '="', "='", '"=', "= ", " =", "==", 'b="x"', "b='>'", "b=x"];
  for (let seed = 1; seed <= 20_000; seed++) {
    const random = randomFrom(seed);
    let html = pick(random, ["<p ", "<p/", "</p ", "<a href=/0 ", "<br\t"]);
    for (let count = below(random, 12); count > 0; count--) html += pick(random, pieces);
    html += '><a href="/1">"</a><a href="/2">\'</a><a href=/3>';
    const message = `seed ${seed}: ${JSON.stringify(html)}`;
    assert.deepEqual(ownLinks(html, PAGE), referenceLinks(html, PAGE), message);
  }
});

test("HTML cases have the links that parse5 finds, but for framesets and selects", (t) => {
  if (!hasSharedData()) return t.skip(NEEDS_DATA);
  // Every seventh: eleven surroundings and seven have no common factor, so all surroundings come.
  for (const [number, html] of htmlCases().entries()) {
    if (number % 7 !== 0 || /<(?:frameset|select)/i.test(html)) continue;
    assert.deepEqual(ownLinks(html, PAGE), referenceLinks(html, PAGE), JSON.stringify(html));
  }
});

test("real pages have the links that parse5 finds", async (t) => {
  if (!hasSharedData()) return t.skip(NEEDS_DATA);
  for (const file of ["pages/html-pages-trafilatura.jsonl.xz", "pages/uic-2018.pages.jsonl.xz"])
    for await (const page of realPages(file, 60)) {
      const url = canonicalUrl(page.url);
      if (isRefused(url)) continue;
      assert.deepEqual(ownLinks(page.html, url), referenceLinks(page.html, url), page.url);
    }
});
