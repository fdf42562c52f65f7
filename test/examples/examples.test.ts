import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { serveWorld } from "../../src/lab/serve.ts";
import { seedUrls } from "../../src/lab/world.ts";
import { type Ended, ROOT, run, temporaryFolder } from "../cli/program.ts";
import { startSite } from "../cli/small-site.ts";

const FOLDER = join(ROOT, "examples");
const LOCAL = ["--allow-private", "127.0.0.0/8"];
const LINES_MAX = 60;
/** Small, and without waits, so that each example is over in about a second. */
const SMALL = { siteCount: 2, pagesMin: 20, pagesMax: 40, crawlDelayShare: 0 };

const tried = new Set<string>();

async function example(
  name: string,
  words: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const file = `${name}.ts`;
  tried.add(file);
  const program = [process.execPath, join(FOLDER, file)] as const;
  const ended = await run(words, { program: [...program], variables });
  assert.equal(ended.code, 0, ended.stderr);
  return ended;
}

test("pages are walked while they come", async () => {
  await using site = await startSite({ pageCount: 5 });
  const { stdout } = await example("01-pages", [site.origin, ...LOCAL]);
  assert.equal(stdout.match(/^200 /gm)?.length, 6);
  assert.match(stdout, /^6 pages, \d+ bytes/m);
});

test("an order of one's own puts short addresses first, those with a query last, and leaves files out", async () => {
  const leaf = (response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "text/html" }).end("<p>end");
  };
  await using site = await startSite({
    pageCount: 0,
    special: {
      "/": (response) => {
        response.writeHead(200, { "content-type": "text/html" });
        response.end("<a href=/q?x=1></a><a href=/a/b/c></a><a href=/a/b></a><a href=/file.pdf>");
      },
      "/q?x=1": leaf,
      "/a/b/c": leaf,
      "/a/b": leaf,
    },
  });
  const { stdout } = await example("02-order", [site.origin, ...LOCAL, "--connections", "1"]);
  const paths = stdout.trim().split("\n");
  assert.deepEqual(
    paths.map((url) => url.replace(site.origin, "")),
    ["/", "/a/b", "/a/b/c", "/q?x=1"],
  );
});

test("an output of one's own has a line for every page", async () => {
  await using site = await startSite({
    pageCount: 3,
    special: {
      "/page/2": (response) => {
        response.writeHead(200, { "content-type": "text/html" }).end('<title>=1+"1"</title>');
      },
    },
  });
  using folder = temporaryFolder();
  const file = join(folder.path, "pages.csv");
  await example("03-output", [site.origin, ...LOCAL], { CSV_FILE: file });
  const lines = readFileSync(file, "utf8").trim().split("\n");
  assert.equal(lines.length, 4);
  assert.ok(
    lines.some((line) => line.includes(`"'=1+""1"""`)),
    lines.join("\n"),
  );
});

test("structured data comes out, and what is broken does not stop it", async () => {
  const page = (json: string) => (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(`<script type="application/ld+json">${json}</script>`);
  };
  await using site = await startSite({
    pageCount: 3,
    special: {
      "/page/1": page('{"@type":"Product","name":"A weir"}'),
      "/page/2": page('{"@graph":[{"@type":"Person","name":"Ångström"},7]}'),
      "/page/3": page("{"),
    },
  });
  const { stdout } = await example("04-structured-data", [site.origin, ...LOCAL]);
  const names = stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { name: string }).name);
  assert.deepEqual(names.toSorted(), ["A weir", "Ångström"]);
});

test("news sites are crawled in rounds, each told with what came of it", async () => {
  await using site = await startSite({ pageCount: 3 });
  using folder = temporaryFolder();
  const file = join(folder.path, "news.yaml");
  writeFileSync(
    file,
    `revisitChance: 0%\nsites:\n  - url: ${site.origin}/\n    schedule: every 1s\n    deadline: 30s\n`,
  );
  const { stdout } = await example("05-news", ["--config", file, ...LOCAL], { ROUNDS: "1" });
  assert.match(stdout, /new or changed: \S+\/page\/3 Page 3/);
  assert.match(stdout, /round: 2/);
});

test("the settings of the news example are in order", async () => {
  const words = ["plan", "--config", join(FOLDER, "news.yaml"), "--json"];
  const { code, stderr } = await run(words);
  assert.equal(code, 0, stderr);
});

test("several processes are one crawl with one result", async () => {
  await using web = await serveWorld(SMALL, { by: "address" });
  using folder = temporaryFolder();
  const words = [...seedUrls(web.world), ...LOCAL, "--out", join(folder.path, "out")];
  const { stdout } = await example("06-processes", words);
  assert.match(stdout, /^\d{2,} pages by 2 processes$/m);
  assert.match(stdout, /^overlap 0, URLs sent per page 0?\.?\d+/m);
});

test("pages are classified, and most are what they were made to be", async () => {
  await using web = await serveWorld({ ...SMALL, siteCount: 1, topicPurity: 1 }, { by: "address" });
  const { stdout } = await example("07-classify", [...seedUrls(web.world), ...LOCAL]);
  const topics = stdout.match(/^[a-z]+ \d+ % http/gm) ?? [];
  assert.ok(topics.length > 10, stdout);
});

test("a focused crawl stops when it has enough pages of its topic", async () => {
  await using web = await serveWorld(
    { ...SMALL, siteCount: 15, topicPurity: 1 },
    { by: "address" },
  );
  const words = [...seedUrls(web.world), ...LOCAL, "--scope", "any"];
  const { stdout } = await example("08-focused", words, { TOPIC: "sports", ENOUGH: "5" });
  assert.match(stdout, /^5 of \d+ pages are about sports$/m);
});

test("a simulation says how long it would take, shorter with more, and nothing was broken", async () => {
  const { stdout } = await example("09-simulate", []);
  const minutes = [...stdout.matchAll(/pages in ([\d.]+) minutes$/gm)].map(([, text]) =>
    Number(text),
  );
  assert.equal(minutes.length, 3, stdout);
  assert.deepEqual(
    minutes,
    minutes.toSorted((a, b) => b - a),
  );
  assert.doesNotMatch(stdout, /\[/);
});

test("an archive is read back, page by page", async () => {
  await using site = await startSite({ pageCount: 4 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const crawled = await run(["crawl", site.origin, "--out", out, ...LOCAL]);
  assert.equal(crawled.code, 0, crawled.stderr);
  const files = readdirSync(out, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".warc.gz"),
  );
  const { stdout } = await example(
    "10-read-warc",
    files.map((name) => join(out, name)),
  );
  assert.equal(stdout.match(/HTTP\/1\.1 200/g)?.length, 5);
});

test("every example was tried, is short, and is listed", () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".ts"));
  assert.deepEqual([...tried].toSorted(), files.toSorted());
  const list = readFileSync(join(FOLDER, "README.md"), "utf8");
  for (const file of files) {
    const text = readFileSync(join(FOLDER, file), "utf8");
    assert.ok(text.split("\n").length <= LINES_MAX, `${file} is too long`);
    assert.ok(text.startsWith("/**"), `${file} says what it shows`);
    assert.ok(list.includes(`](${file})`), `${file} is in the list`);
  }
});
