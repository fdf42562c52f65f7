import assert from "node:assert/strict";
import { createReadStream, globSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { WARCParser } from "warcio";
import { run, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

const LOCAL = ["--allow-private", "127.0.0.0/8", "--delay", "0"];

/** Every page of the site below but the home page, as its links write it. */
const WRITTEN = ["/%7Euser/", "/%7Euser/a%2fb", "/caf%c3%a9?q=%e4", "/bare?", "/moved/%7euser"];
const FIRST = WRITTEN[0] as string;

function page(text: string, headers: readonly string[] = []) {
  return (response: ServerResponse): void => {
    response.writeHead(200, ["Content-Type", "text/html", ...headers]);
    response.end(`<title>t</title>${text}`);
  };
}

/** Each page links to one that is written in its own way; the same URL in another spelling comes second. */
const SITE = {
  pageCount: 0,
  special: {
    "/": page(`<a href="${FIRST}">a</a><a href="/~user/">b</a>`),
    [FIRST]: page(`one <a href="a%2fb">a</a><a href="${FIRST}">self</a>`, [
      "X-Odd-CASE",
      "1",
      "ETag",
      '"x"',
    ]),
    "/%7Euser/a%2fb": page('two <a href="/caf%c3%a9?q=%e4">a</a><a href="/caf%C3%A9?q=%E4">b</a>'),
    "/caf%c3%a9?q=%e4": page('three <a href="/bare?">a</a>'),
    "/bare?": page('four <a href="/to">a</a>'),
    "/to": (response: ServerResponse): void => {
      response.writeHead(302, { location: "moved/%7euser" }).end();
    },
    "/moved/%7euser": page("five"),
  },
};

test("URLs are requested, archived, exported and found as they were written, each once", async () => {
  await using site = await startSite(SITE);
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const crawl = await run(["crawl", `${site.origin}/`, "--out", out, ...LOCAL, "--json"]);
  assert.equal(crawl.code, 0, crawl.stderr);
  const asked = site.requests.filter((path) => path !== "/robots.txt" && path !== "/sitemap.xml");
  assert.deepEqual(asked.toSorted(), ["/", "/to", ...WRITTEN].toSorted());

  const { responses, requests, heads } = await archived(out);
  const urls = ["/", ...WRITTEN].map((path) => site.origin + path).toSorted();
  assert.deepEqual(responses, urls);
  assert.deepEqual(
    requests,
    urls.map((url) => `GET ${url.slice(site.origin.length)} HTTP/1.1`),
  );
  assert.match(heads.join(""), /\r\nX-Odd-CASE: 1\r\nETag: "x"\r\n/);
  assert.match(heads.join(""), /\r\nContent-Type: text\/html\r\n/);

  const lines = await run(["export", out, "--format", "jsonl"]);
  const exported = lines.stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as Row).url);
  assert.deepEqual(exported.toSorted(), urls);
  const cdxj = await run(["export", out, "--format", "cdxj"]);
  for (const url of urls) assert.ok(cdxj.stdout.includes(`"url":"${url}"`), cdxj.stdout);
  const links = await run(["export", out, "--format", "links"]);
  assert.ok(links.stdout.includes(`${site.origin}/\t${site.origin}${FIRST}\n`), links.stdout);
  for (const word of ["7Euser", "user", "five"]) {
    const found = await run(["search", out, word, "--json"]);
    assert.ok(found.stdout.includes(`${site.origin}${WRITTEN[4]}`), `${word}: ${found.stdout}`);
  }

  const before = site.requests.length;
  const again = await run(["crawl", `${site.origin}/`, "--out", out, ...LOCAL, "--refresh"]);
  assert.equal(again.code, 0, again.stderr);
  const refreshed = site.requests.slice(before).filter((path) => path.includes("%"));
  assert.deepEqual(refreshed.toSorted(), WRITTEN.filter((path) => path.includes("%")).toSorted());
});

test("a seed is requested as it was written, also by several processes, which keep spellings", async () => {
  await using site = await startSite(SITE);
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  // By URL hash the pages of the site are spread over both processes, so that links cross.
  const words = ["--procs", "2", "--partition", "url-hash", "--mode", "exchange", "--json"];
  const seed = `${site.origin}${FIRST}`;
  const crawl = await run(["crawl", seed, "--out", out, ...LOCAL, ...words]);
  assert.equal(crawl.code, 0, crawl.stderr);
  const asked = site.requests.filter((path) => path !== "/robots.txt" && path !== "/sitemap.xml");
  assert.deepEqual(asked.toSorted(), ["/to", ...WRITTEN].toSorted());
  const parallel = (JSON.parse(crawl.stdout) as { parallel: { urlsExchanged: number } }).parallel;
  assert.ok(parallel.urlsExchanged > 0, "some links were sent");
  const { responses } = await archived(out);
  assert.deepEqual(responses, WRITTEN.map((path) => site.origin + path).toSorted());
});

interface Row {
  readonly url: string;
}

/** What warcio reads in the archive of a crawl: targets, request lines, heads of the responses. */
async function archived(out: string) {
  const responses: string[] = [];
  const requests: string[] = [];
  const heads: string[] = [];
  for (const file of globSync(`${out}/**/*.warc.gz`))
    for await (const record of new WARCParser(createReadStream(file), { keepHeadersCase: true })) {
      const bytes = await record.readFully(true);
      const text = Buffer.from(bytes).toString("latin1");
      if (record.warcType === "response" && record.httpHeaders?.statusCode === 200) {
        responses.push(record.warcTargetURI ?? "");
        heads.push(record.httpHeaders.toString());
      } else if (record.warcType === "request") requests.push(requestLine(record, text));
    }
  return { responses: responses.toSorted(), requests: requests.toSorted(), heads };
}

function requestLine(
  record: { readonly httpHeaders: { readonly statusline: string } | null },
  text: string,
): string {
  return record.httpHeaders?.statusline ?? text.split("\r\n", 1)[0] ?? "";
}
