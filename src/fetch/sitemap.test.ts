import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { below, pick, randomFrom } from "../base/random.ts";
import { type Sitemap, SITEMAP_BYTES_MAX, SitemapReader } from "./sitemap.ts";

const CONFORMANCE = new URL("../../../shared/data/conformance/open.tar.xz", import.meta.url);
const NOW_MS = Date.UTC(2025, 5, 1);
const PIECE_BYTES = 2 ** 20;

function read(text: string | Uint8Array): Sitemap {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const reader = new SitemapReader(NOW_MS);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    if (!reader.push(bytes.subarray(at, at + PIECE_BYTES))) break;
  return reader.finish();
}

function urlsOf(sitemap: Sitemap): string[] {
  return sitemap.entries.map((entry) => entry.url);
}

function urlset(content: string): string {
  return `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${content}</urlset>`;
}

test("a list of pages with their dates and priorities", () => {
  const sitemap = read(
    urlset(
      "<url><loc>https://x.test/a?b=1&amp;c=%20</loc><lastmod>2024-02-03</lastmod><priority>0.8</priority></url>" +
        "<url>\n<loc>\n https://x.test/&#x62; \n</loc></url>",
    ),
  );
  assert.deepEqual(sitemap, {
    kind: "pages",
    problem: undefined,
    entries: [
      { url: "https://x.test/a?b=1&c=%20", modifiedAtMs: Date.UTC(2024, 1, 3), priority: 0.8 },
      { url: "https://x.test/b", modifiedAtMs: undefined, priority: 0.5 },
    ],
  });
});

test("an index names sitemaps", () => {
  const sitemap = read(
    "<sitemapindex><sitemap><loc>http://x.test/1.xml</loc></sitemap><sitemap>http://x.test/2.xml</sitemap></sitemapindex>",
  );
  assert.equal(sitemap.kind, "index");
  assert.deepEqual(urlsOf(sitemap), ["http://x.test/1.xml", "http://x.test/2.xml"]);
});

test("a plain list, with or without a byte order mark", () => {
  const list = "http://x.test/a\r\nhttps://x.test/b\n\n  http://x.test/c  \nftp://x.test/\nnoise";
  for (const text of [list, `\ufeff${list}`]) {
    const sitemap = read(text);
    assert.equal(sitemap.kind, "pages");
    assert.deepEqual(urlsOf(sitemap), ["http://x.test/a", "https://x.test/b", "http://x.test/c"]);
  }
  assert.equal(read("just words").kind, "unknown");
  assert.equal(read("").kind, "unknown");
});

test("feeds name their items, not themselves", () => {
  const rss = read(
    "<rss><channel><link>http://x.test/</link><item><title>t</title><link>http://x.test/1</link>" +
      "<pubDate>Sat, 01 Feb 2025 10:00:00 GMT</pubDate></item></channel></rss>",
  );
  assert.deepEqual(rss.entries, [
    { url: "http://x.test/1", modifiedAtMs: Date.UTC(2025, 1, 1, 10), priority: 0.5 },
  ]);
  const atom = read(
    `<feed><link href="http://x.test/"/><entry><link rel="edit" href="http://x.test/e"/>` +
      `<link href='http://x.test/2?a&amp;b'/><updated>2025-02-01T10:00:00</updated></entry></feed>`,
  );
  assert.deepEqual(atom.entries, [
    { url: "http://x.test/2?a&b", modifiedAtMs: Date.UTC(2025, 1, 1, 10), priority: 0.5 },
  ]);
});

test("other vocabularies inside an entry are not its own", () => {
  const sitemap = read(
    `<s:urlset xmlns:s="a"><s:url><s:loc>http://x.test/</s:loc><image:image><image:loc>http://x.test/i.png` +
      `</image:loc></image:image><loc>http://x.test/no</loc></s:url></s:urlset>`,
  );
  assert.deepEqual(urlsOf(sitemap), ["http://x.test/"]);
});

function dateAndPriority(lastmod: string, priority: string): unknown {
  const fields = `<lastmod>${lastmod}</lastmod><priority>${priority}</priority>`;
  const [entry] = read(urlset(`<url><loc>http://x.test/</loc>${fields}</url>`)).entries;
  return [entry?.modifiedAtMs, entry?.priority];
}

test("dates that cannot be are left out, priorities are brought into range", () => {
  assert.deepEqual(dateAndPriority("9999-01-01", "1000000000"), [undefined, 1]);
  assert.deepEqual(dateAndPriority("0000-01-01", "-5"), [undefined, 0]);
  assert.deepEqual(dateAndPriority("yesterday", "high"), [undefined, 0.5]);
  assert.deepEqual(dateAndPriority("2025-13-45", ""), [undefined, 0.5]);
  assert.deepEqual(dateAndPriority("2025-08-01", "NaN"), [undefined, 0.5]);
  assert.deepEqual(dateAndPriority("2005-01-01T00:00:00+01:00", "0.25"), [
    Date.UTC(2004, 11, 31, 23),
    0.25,
  ]);
});

test("a document type with entities is refused before it can be used", () => {
  const laughs =
    `<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;">]>` +
    urlset("<url><loc>http://x.test/&lol2;</loc></url>");
  assert.deepEqual(read(laughs), { kind: "unknown", entries: [], problem: "bad_xml" });
  const external = `<!DOCTYPE u [<!ENTITY x SYSTEM "file:///etc/passwd">]>${urlset("")}`;
  assert.equal(read(external).problem, "bad_xml");
});

test("an entity of nobody's ends the reading, a bare ampersand does not", () => {
  const good = "<url><loc>http://x.test/1?a=1&b=2</loc></url>";
  const sitemap = read(urlset(`${good}<url><loc>http://x.test/&nbsp;</loc></url>${good}`));
  assert.deepEqual(urlsOf(sitemap), ["http://x.test/1?a=1&b=2"]);
  assert.equal(sitemap.problem, "bad_xml");
});

test("a file that breaks off gives what came before", () => {
  const whole = urlset(
    "<url><loc>http://x.test/1</loc></url><url><loc>http://x.test/2</loc></url>",
  );
  const broken = read(whole.slice(0, whole.indexOf("/2")));
  assert.deepEqual(urlsOf(broken), ["http://x.test/1"]);
  assert.equal(broken.problem, "bad_xml");
  const noise = read(`${whole}<<<>>trailing & noise`);
  assert.deepEqual(urlsOf(noise), ["http://x.test/1", "http://x.test/2"]);
});

test("comments, CDATA, empty tags and quoted brackets are read as XML means them", () => {
  const sitemap = read(
    urlset(
      `<!-- <url><loc>http://x.test/no</loc></url> > --><?pi >?><url a="1>2" b='">'><x/>` +
        `<loc><![CDATA[http://x.test/?a&amp;b]]></loc ></url><url><loc/></url>`,
    ),
  );
  assert.deepEqual(urlsOf(sitemap), ["http://x.test/?a&amp;b"]);
});

test("the protocol's limits hold: 50,000 URLs, 50 MiB", () => {
  const many = Array.from({ length: 50_001 }, (_, i) => `<url><loc>http://x.test/${i}</loc></url>`);
  const capped = read(urlset(many.join("")));
  assert.equal(capped.entries.length, 50_000);
  assert.equal(capped.problem, "sitemap_capped");
  assert.equal(read(urlset(many.slice(1).join(""))).problem, undefined);

  const reader = new SitemapReader(NOW_MS);
  reader.push(Buffer.from("<urlset><url><loc>http://x.test/</loc></url>"));
  const padding = Buffer.from("<x/>".repeat(262_144));
  let pushed = 0;
  while (reader.push(padding)) pushed += padding.length;
  assert.ok(pushed <= SITEMAP_BYTES_MAX, `${pushed} bytes taken`);
  assert.equal(reader.finish().problem, "sitemap_capped");
});

test("URLs too long, relative or of other schemes are left out", () => {
  const locs = ["/a", "x.test", "javascript:1", "file:///etc", `http://x/${"a".repeat(2_048)}`, ""];
  const sitemap = read(urlset(locs.map((loc) => `<url><loc>${loc}</loc></url>`).join("")));
  assert.deepEqual(urlsOf(sitemap), []);
});

test("UTF-16, Latin-1 and unknown encodings are read", () => {
  const text = urlset("<url><loc>http://x.test/é</loc></url>");
  assert.deepEqual(urlsOf(read(Buffer.from(`\ufeff${text}`, "utf16le"))), ["http://x.test/é"]);
  const latin = text.replace(`version="1.0"`, `version="1.0" encoding="ISO-8859-1"`);
  assert.deepEqual(urlsOf(read(Buffer.from(latin, "latin1"))), ["http://x.test/é"]);
  const odd = text.replace(`version="1.0"`, `version="1.0" encoding="x-none"`);
  assert.deepEqual(urlsOf(read(odd)), ["http://x.test/é"]);
});

test("an HTML page is not a sitemap", () => {
  const page = "<!DOCTYPE html><html><body><a href='http://x.test/'>x</a></body></html>";
  assert.deepEqual(read(page), { kind: "unknown", entries: [], problem: undefined });
});

test("how the bytes are cut does not matter", () => {
  const text = urlset(
    "<!-- c --><url><loc>http://x.test/é?a&amp;b</loc><priority>0.1</priority></url>".repeat(20) +
      "<url><loc><![CDATA[http://x.test/c]]></loc></url>",
  );
  const whole = read(text);
  assert.equal(whole.entries.length, 21);
  for (let seed = 1; seed <= 100; seed++) {
    const random = randomFrom(seed);
    const bytes = Buffer.from(text);
    const reader = new SitemapReader(NOW_MS);
    for (let at = 0; at < bytes.length;) {
      const length = 1 + below(random, 40);
      reader.push(bytes.subarray(at, at + length));
      at += length;
    }
    assert.deepEqual(reader.finish(), whole, `seed ${seed}`);
  }
});

test("no bytes make it throw", () => {
  const parts = [
    "<urlset>",
    "<url>",
    "<loc>",
    "</loc>",
    "</url>",
    "&",
    "&#",
    "&#x110000;",
    "<!",
    "<![",
    "<?",
    "]]>",
    "-->",
    `"`,
    "'",
    ">",
    "<",
    "http://x/",
    "\u0000",
  ];
  for (let seed = 1; seed <= 500; seed++) {
    const random = randomFrom(seed);
    const text = Array.from({ length: below(random, 60) }, () => pick(random, parts)).join("");
    assert.ok(read(text).entries.length <= 60, `seed ${seed}`);
    read(Buffer.from(Array.from({ length: 300 }, () => below(random, 256))));
  }
});

test("the sitemaps of the conformance collection are read", (t) => {
  if (!existsSync(CONFORMANCE)) return t.skip("needs ../shared/data");
  const folder = "crawler-commons/sitemaps";
  const file = (name: string): Buffer =>
    execFileSync("tar", ["-xJOf", CONFORMANCE.pathname, `${folder}/${name}`]);
  const counts: Record<string, [Sitemap["kind"], number]> = {
    "atom.xml": ["pages", 1],
    "sitemap-with-bom.txt": ["pages", 2],
    "sitemap.txt": ["pages", 2],
    "sitemap.badns.xml": ["pages", 2],
    "sitemap.index.xml": ["index", 15],
    "sitemap.ns.xml": ["pages", 2],
    "extension/hebdenbridgetimes-articles-sitemap.xml": ["pages", 74],
    "extension/pagemaps-sitemap.xml": ["pages", 2],
    "extension/shinpaideshou-news-sitemap.xml": ["pages", 3],
    "extension/sitemap-images.xml": ["pages", 1],
    "extension/sitemap-links.xml": ["pages", 3],
    "extension/sitemap-mobile.xml": ["pages", 3],
    "extension/sitemap-news.xml": ["pages", 2],
    "extension/sitemap-videos.xml": ["pages", 3],
    "extension/sitemap-videos-tvshow.xml": ["pages", 1],
  };
  for (const [name, [kind, count]] of Object.entries(counts)) {
    const sitemap = read(file(name));
    assert.deepEqual([sitemap.kind, sitemap.entries.length], [kind, count], name);
    assert.equal(sitemap.problem, undefined, name);
  }
  assert.equal(read(gunzipSync(file("xmlSitemap.gz"))).entries.length, 5);
  assert.equal(read(gunzipSync(file("sitemap.txt.gz"))).entries.length, 5);
  return undefined;
});
