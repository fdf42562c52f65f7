import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Running, run, start, temporaryFolder } from "./program.ts";
import { type SmallSite, startSite } from "./small-site.ts";

const LOCAL = ["--allow-private", "127.0.0.0/8"];

function slowCrawl(site: SmallSite, out: string): Running {
  return start(["crawl", site.origin, "--out", out, "--delay", "100ms", ...LOCAL]);
}

interface Status {
  readonly running: boolean;
  readonly state: string;
  readonly pages: number;
  readonly urls: { readonly pending: number };
  readonly connections: { readonly max: number };
}

async function statusOf(out: string): Promise<Status> {
  const { code, stdout, stderr } = await run(["status", out, "--json"]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Status;
}

test("status and set reach a crawl while it runs, and status one that has stopped", async () => {
  await using site = await startSite({ pageCount: 200 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const crawl = slowCrawl(site, out);
  await crawl.saw("waiting");

  const running = await statusOf(out);
  assert.equal(running.running, true);
  assert.equal(running.state, "running");

  assert.equal((await run(["set", out, "pause", "true"])).code, 0);
  const before = site.requests.length;
  await new Promise((resolve) => setTimeout(resolve, 1200));
  assert.ok(site.requests.length <= before + 2, "only what was under way came after the pause");
  assert.equal((await statusOf(out)).state, "paused");
  assert.equal((await run(["set", out, "pause", "false"])).code, 0);

  const connections = await run(["set", out, "connections", "3", "--json"]);
  assert.equal(connections.code, 0, connections.stderr);
  assert.equal((JSON.parse(connections.stdout) as { key: string }).key, "connections");
  assert.equal((await run(["set", out, "delay", "10ms"])).code, 0);

  crawl.process.kill("SIGINT");
  assert.equal((await crawl.ended).code, 3);
  const stopped = await statusOf(out);
  assert.equal(stopped.running, false);
  assert.equal(stopped.state, "stopped");
  assert.ok(stopped.pages > 0 && stopped.urls.pending > 0);
  const late = await run(["set", out, "pause", "true"]);
  assert.equal(late.code, 1);
  assert.match(late.stderr, /NOT_RUNNING/);
});

test("set refuses what cannot be changed or read, with the nearest key and the range", async () => {
  using folder = temporaryFolder();
  const unknown = await run(["set", folder.path, "puase", "true"]);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /did you mean pause\?/);
  const wrong = await run(["set", folder.path, "delay", "5"]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /expects a duration from 0ms to/);
});

test("a folder without a crawl is told apart", async () => {
  using folder = temporaryFolder();
  for (const words of [
    ["status", folder.path],
    ["status", join(folder.path, "none")],
    ["set", folder.path, "pause", "true"],
    ["export", folder.path, "--format", "jsonl"],
  ]) {
    const { code, stderr } = await run(words);
    assert.equal(code, 2, words.join(" "));
    assert.match(stderr, /FOLDER_MISSING/, words.join(" "));
  }
});

test("pages leave as JSON lines, links, CDXJ and WARC", async () => {
  await using site = await startSite({ pageCount: 8 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const crawl = await run(["crawl", site.origin, "--out", out, "--quiet", ...LOCAL]);
  assert.equal(crawl.code, 0, crawl.stderr);
  assert.equal(crawl.stdout, "");

  const jsonl = await run(["export", out, "--format", "jsonl", "--text"]);
  assert.equal(jsonl.code, 0, jsonl.stderr);
  const pages = jsonl.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { url: string; title: string; text: string });
  assert.equal(pages.length, 9);
  const third = pages.find((page) => page.url === `${site.origin}/page/3`);
  assert.equal(third?.title, "Page 3");
  assert.match(third?.text ?? "", /Words 3\. page 4/);

  const links = await run(["export", out, "--format", "links"]);
  assert.ok(links.stdout.includes(`${site.origin}/page/3\t${site.origin}/page/4\n`), links.stderr);
  const cdxj = await run(["export", out, "--format", "cdxj"]);
  const keys = cdxj.stdout.trim().split("\n");
  assert.deepEqual(keys, keys.toSorted());
  assert.ok(keys.length >= 9);

  const file = join(folder.path, "all.warc.gz");
  const warc = await run(["export", out, "--format", "warc", "--out", file]);
  assert.equal(warc.code, 0, warc.stderr);
  assert.equal(readFileSync(file).readUInt16BE(0), 0x1f8b);
});

test("export refuses unknown formats and tells all mistakes", async () => {
  const { code, stderr } = await run(["export", "x", "--format", "jsnl", "--txt"]);
  assert.equal(code, 2);
  assert.match(stderr, /--txt is unknown; did you mean --text\?/);
  assert.match(stderr, /--format "jsnl": expects one of jsonl, parquet, warc, links, cdxj/);
});

test("every command has help with examples, and help is not an error", async () => {
  for (const words of [["--help"], ["crawl", "--help"], ["status", "-h"], ["help", "export"]]) {
    const { code, stdout, stderr } = await run(words);
    assert.equal(code, 0, words.join(" "));
    assert.equal(stderr, "");
    assert.match(stdout, /weir /);
  }
});

test("the folder of several crawls is listed, with the command to type for each", async () => {
  await using site = await startSite({ pageCount: 3 });
  using folder = temporaryFolder();
  const place = { folder: folder.path };
  for (const name of ["a", "b"]) {
    const words = ["crawl", site.origin, "--out", `all/${name}`, "--quiet", ...LOCAL];
    assert.equal((await run(words, place)).code, 0);
  }
  const status = await run(["status", "all"], place);
  assert.equal(status.code, 0, status.stderr);
  assert.match(status.stdout, /^all holds 2 crawls/);
  assert.match(status.stdout, /^ {2}weir status all\/a +done +4 pages .* 0 waiting$/m);
  assert.match(status.stdout, /^ {2}weir status all\/b +done/m);
  const json = JSON.parse((await run(["status", "all", "--json"], place)).stdout) as {
    crawls: { folder: string; pages: number }[];
  };
  assert.deepEqual(
    json.crawls.map(({ folder: name, pages }) => [name, pages]),
    [
      ["all/a", 4],
      ["all/b", 4],
    ],
  );
  for (const command of ["serve", "report", "export", "search", "set"]) {
    const words =
      { search: ["word"], set: ["limit", "1MB/s"], export: ["--format", "links"] }[command] ?? [];
    const { code, stderr } = await run([command, "all", ...words], place);
    assert.equal(code, 2, command);
    assert.match(stderr, new RegExp(`^ {2}weir ${command} all/b +done`, "m"));
  }
  const none = await run(["status", "none"], place);
  assert.match(none.stderr, /FOLDER_MISSING/);
});

test("every usual spelling asks for the version", async () => {
  for (const word of ["version", "-v", "--version", "-V"]) {
    const { code, stdout } = await run([word]);
    assert.equal(code, 0, word);
    assert.match(stdout, /^weir \d+\.\d+\.\d+\n$/, word);
  }
});
