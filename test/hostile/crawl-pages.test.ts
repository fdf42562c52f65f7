/** B6 and B7, as a whole crawl meets them: pages and links that try the reader and the gate. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { crawlSites, html, type Reply, type Report, startTestSite } from "./crawl-sites.ts";

/** A crawl of one page with this body, beside a healthy one that it links to first. */
async function crawlPage(reply: Reply): Promise<Report & { origin: string; asked: string[] }> {
  await using site = await startTestSite(({ path }) => {
    if (path === "/") return html("/healthy", "/odd");
    if (path === "/odd") return reply;
    return path === "/healthy" ? `${html("/after")}healthy` : path === "/after" ? "end" : undefined;
  });
  const report = await crawlSites([`${site.origin}/`]);
  for (const path of ["/", "/healthy", "/after"])
    assert.equal(report.reasons.get(site.origin + path), "ok", `${path} is complete`);
  return { ...report, origin: site.origin, asked: site.paths() };
}

function typed(type: string, body: string | Uint8Array): Reply {
  return { headers: { "content-type": type }, body };
}

/** Links on the odd page that were asked for. */
function followed({ asked }: { asked: readonly string[] }): string[] {
  return asked.filter((path) => !["/", "/healthy", "/after", "/odd"].includes(path)).sort();
}

describe("B7: links that are no links, or one link in many dresses", () => {
  test("U1: a URL of a megabyte is counted on the page that held it", async () => {
    const crawl = await crawlPage(html(`/${"x".repeat(1_000_000)}`, "/short"));
    assert.equal(crawl.result.refusedLinks["url_too_long"], 1);
    assert.deepEqual(followed(crawl), ["/short"]);
  });

  test("U2: other schemes are refused, and are no failures", async () => {
    const schemes = ["javascript:x()", "mailto:a@b.c", "tel:1", "data:,x", "blob:x", "about:blank"];
    const crawl = await crawlPage(html(...schemes, "intent:#Intent;end", "ws://x/"));
    assert.equal(crawl.result.refusedLinks["scheme_refused"], 8);
    assert.equal(crawl.result.urls.failed, 0);
    assert.deepEqual(followed(crawl), []);
  });

  test("U3, U7, U9: backslashes, other protocols' ports and too many dots", async () => {
    const crawl = await crawlPage(
      html("\\back\\slash", "//127.0.0.1:25/", "/a/../../../etc/passwd", "/ta\n\tb", "http://[::1"),
    );
    assert.deepEqual(followed(crawl), ["/back/slash", "/etc/passwd", "/tab"]);
    assert.equal(crawl.result.refusedLinks["port_refused"], 1);
    assert.equal(crawl.result.refusedLinks["bad_url"], 1);
  });

  test("U6: a password in a link is neither sent, kept nor told", async () => {
    await using site = await startTestSite(({ path, host }) => {
      if (path === "/") return html(`http://user:hunter2@${host}/page`, `http://user@${host}/page`);
      return path === "/page" ? html() : undefined;
    });
    const report = await crawlSites([`http://boss:hunter2@127.0.0.1:${site.port}/`]);
    assert.deepEqual([...report.reasons.keys()], [`${site.origin}/`, `${site.origin}/page`]);
    assert.ok(site.asked.every(({ headers }) => headers.authorization === undefined));
    assert.ok(!JSON.stringify([report.result, [...report.pages]]).includes("hunter2"));
  });

  test("U10: fifty spellings of one URL are one fetch", async () => {
    await using site = await startTestSite(({ path, host }) => {
      const port = host.split(":")[1] ?? "";
      const hosts = ["127.0.0.1", "0x7f.1", "2130706433", "0177.0.0.1", "127.1"];
      const spellings = hosts.flatMap((name) => {
        const place = `${name}:${port}`;
        const paths = [
          "/page",
          "/%70age",
          "/p%61ge",
          "/./page",
          "/x/../page",
          "/page#top",
          "/page?",
        ];
        const odd = [
          `HTTP://${place}/page`,
          `http:\\\\${place}\\page`,
          `http://user@${name}:0${port}/page`,
        ];
        return paths.map((each) => `http://${place}${each}`).concat(odd);
      });
      assert.equal(spellings.length, 50);
      return path === "/" ? html(...spellings) : path === "/page" ? html() : undefined;
    });
    const { reasons } = await crawlSites([`${site.origin}/`]);
    assert.deepEqual(site.paths(), ["/", "/page"]);
    assert.equal(reasons.size, 2);
  });

  test("U11: names of the language's own are only names, as hosts and as paths", async () => {
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
    await using site = await startTestSite(({ path, host }) =>
      path === "/" || names.includes(path.slice(1))
        ? `${html(...names.map((name) => `/${name}`))}${host}${path}`
        : undefined,
    );
    const seeds = names.map((name) => `${site.named(name)}/`);
    const { result } = await crawlSites(seeds);
    assert.equal(result.pages, names.length * (1 + names.length));
    assert.equal(result.sites.length, names.length);
  });

  test("U12: links of a page to itself are not fetched again", async () => {
    const crawl = await crawlPage(html("", "#", "#part", "?", "/odd", "./odd", "odd#x"));
    assert.equal(crawl.asked.filter((path) => path === "/odd").length, 1);
    assert.deepEqual(followed(crawl), []);
  });
});

describe("B6: pages that try the reader", () => {
  test("M1: a charset that is unknown, absurd or a lie", async () => {
    const page = `${html("/linked")}<p>Gr\u00fc\u00dfe`;
    for (const charset of ["utf-9", "x".repeat(5_000), "utf-16", "'", "iso-2022-kr"]) {
      const crawl = await crawlPage(typed(`text/html; charset=${charset}`, page));
      assert.equal(crawl.reasons.get(`${crawl.origin}/odd`), "ok", charset.slice(0, 20));
      assert.ok((crawl.pages.get(`${crawl.origin}/odd`)?.charset.length ?? 99) < 20);
    }
  });

  for (const tag of ["b", "div", "table", "svg", "template"])
    test(`M4: a million nested <${tag}>`, async () => {
      const count = Math.min(1_000_000, Math.floor(8_000_000 / (tag.length + 2)));
      const crawl = await crawlPage(`<a href=/linked>x</a>${`<${tag}>`.repeat(count)}`);
      assert.equal(crawl.reasons.get(`${crawl.origin}/odd`), "ok");
      assert.deepEqual(followed(crawl), ["/linked"]);
    });

  test("M5: a tag with 100,000 attributes, and one attribute of megabytes", async () => {
    const many = Array.from({ length: 100_000 }, (_, index) => `a${index}=${index}`).join(" ");
    const crawl = await crawlPage(
      `<a ${many} href=/one>x</a><a title="${"y".repeat(5_000_000)}" href=/two>z</a>`,
    );
    assert.deepEqual(followed(crawl), ["/one", "/two"]);
  });

  test("M6: all of 500,000 links are looked at, as many taken as a pattern may have", async () => {
    const links = Array.from({ length: 500_000 }, (_, index) => `<a href=/${index}>`).join("");
    await using site = await startTestSite(({ path }) => {
      if (path === "/") return links;
      return /^\/\d+$/.test(path) ? `${html()}${path}` : undefined;
    });
    const { result, pages } = await crawlSites([`${site.origin}/`], {
      concurrencyPerSite: 8,
      patternUrlsMax: 3_000,
    });
    assert.equal(result.pages, 3_001);
    assert.equal(result.refusedLinks["outlinks_capped"], undefined);
    assert.equal(result.refusedLinks["trap_pattern"], 497_000);
    assert.deepEqual(pages.get(`${site.origin}/`)?.remarks, []);
  });

  test("M7: links before an unclosed comment, script or quote are kept", async () => {
    for (const rest of ["<!-- ", "<script>", '<a href="', "<textarea>"]) {
      const crawl = await crawlPage(`<a href=/before>x</a>${rest}<a href=/behind>y</a>`);
      assert.deepEqual(followed(crawl), ["/before"], rest);
    }
  });

  test("M8: a base on another host, on no host, or twice cannot widen the scope", async () => {
    await using other = await startTestSite({ "/linked": html() });
    const away = await crawlPage(`<base href="${other.origin}/">${html("linked")}`);
    assert.deepEqual(followed(away), []);
    assert.deepEqual(other.asked, []);
    assert.equal(away.result.refusedLinks["outside site"], 1);
    const data = await crawlPage(`<base href="data:,x">${html("linked")}`);
    assert.deepEqual(followed(data), ["/linked"]);
    const twice = await crawlPage(`<base href="/first/"><base href="/second/">${html("linked")}`);
    assert.deepEqual(followed(twice), ["/first/linked"]);
  });

  test("M9: NUL bytes and lone surrogates leave no trace in what is kept", async () => {
    const odd = Buffer.from("<title>a\0b\xed\xa0\x80c</title><a href=/linked>\0", "latin1");
    const crawl = await crawlPage({ body: odd });
    const title = crawl.pages.get(`${crawl.origin}/odd`)?.title ?? "";
    assert.ok(title.isWellFormed() && !title.includes("\0"), JSON.stringify(title));
    assert.deepEqual(followed(crawl), ["/linked"]);
  });

  for (const [name, start] of [
    ["a zip file", "PK\x03\x04\x14\0\0\0"],
    ["a PDF", "%PDF-1.7\n"],
    ["an MP4", "\0\0\0\x20ftypisom\0\0\x02\0"],
  ] as const)
    test(`M10: ${name} sent as a page is kept and not read`, async () => {
      const body = Buffer.from(`${start}\x01\x02<a href="/inside">x</a>`, "latin1");
      const crawl = await crawlPage({ body });
      assert.deepEqual(crawl.pages.get(`${crawl.origin}/odd`)?.remarks, ["not_html"]);
      assert.deepEqual(followed(crawl), []);
    });

  test("M11: a page sent as an image is kept and not read", async () => {
    const crawl = await crawlPage(typed("image/png", html("/inside")));
    assert.deepEqual(crawl.pages.get(`${crawl.origin}/odd`)?.remarks, ["type_mismatch"]);
    assert.deepEqual(followed(crawl), []);
  });

  test("M13: a title of megabytes, of controls or of direction marks", async () => {
    const titles = ["t".repeat(5_000_000), "\x1b]0;owned\x07\r\n", "\u202eesrever\u2066"];
    for (const text of titles) {
      const crawl = await crawlPage(`<title>${text}</title>`);
      const title = crawl.pages.get(`${crawl.origin}/odd`)?.title ?? "none";
      assert.ok(title.length <= 512);
      assert.doesNotMatch(title, /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    }
  });

  test("M15: a srcset of 100,000 candidates", async () => {
    const set = Array.from({ length: 100_000 }, (_, index) => `/i${index} ${index + 1}w`).join(",");
    await using site = await startTestSite(({ path }) => {
      if (path === "/") return `<img srcset="${set}">${html("/data")}`;
      return path === "/data"
        ? `<img srcset="data:,a 1x, data:;base64,,, 2x"><img src=data:>`
        : undefined;
    });
    const { result } = await crawlSites([`${site.origin}/`], {
      images: true,
      concurrencyPerSite: 8,
      patternUrlsMax: 100,
    });
    assert.ok((result.refusedLinks["outlinks_capped"] ?? 0) > 0);
    assert.ok(result.urls.known <= 2_002);
  });

  test("M16: rel=canonical is a hint: it fetches nothing and removes nothing", async () => {
    await using other = await startTestSite({ "/": html(), "/stolen": html() });
    const hint = `<link rel=canonical href="${other.origin}/stolen">`;
    await using site = await startTestSite({
      "/robots.txt": "User-agent: *\nDisallow: /closed",
      "/": html("/a", "/b"),
      "/a": `${hint}${html()}a`,
      "/b": `<link rel=canonical href="/closed/x">${html()}b`,
    });
    const report = await crawlSites([`${site.origin}/`, `${other.origin}/`]);
    assert.equal(report.result.pages, 4);
    assert.deepEqual(other.paths(), ["/"]);
    assert.deepEqual(site.paths().sort(), ["/", "/a", "/b"]);
  });

  test("M17: nofollow and noindex in every dress are honoured and counted", async () => {
    const tags: readonly Reply[] = [
      `<meta name=ROBOTS content="NoFollow">${html("/linked")}`,
      `<meta content=" noindex ,nofollow" name="robots">${html("/linked")}`,
      `<meta name=robots content=NONE>${html("/linked")}`,
      `<meta name=weir content=nofollow>${html("/linked")}`,
      { headers: { "x-robots-tag": "noarchive, NOFOLLOW" }, body: html("/linked") },
      { headers: { "x-robots-tag": ["otherbot: all", "weir: none"] }, body: html("/linked") },
      `<a rel="external NOFOLLOW" href=/linked>x</a>`,
    ];
    for (const [index, reply] of tags.entries()) {
      const crawl = await crawlPage(reply);
      assert.deepEqual(followed(crawl), [], `case ${index}`);
      assert.equal(crawl.result.refusedLinks["nofollow"], 1, `case ${index}`);
    }
    const others = { headers: { "x-robots-tag": "otherbot: nofollow" }, body: html("/linked") };
    assert.deepEqual(followed(await crawlPage(others)), ["/linked"]);
  });
});
