import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { LAUNCHER, run, start, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

const LOCAL = ["--allow-private", "127.0.0.0/8"];

test("a crawl says how it goes, sums up and ends with 0", async () => {
  await using site = await startSite({ pageCount: 20 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const { code, stdout, stderr } = await run(["crawl", site.origin, "--out", out, ...LOCAL]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /\d pages?, .* waiting/);
  assert.match(stdout, /Done: 21 pages/);
  assert.match(stdout, new RegExp(`weir status ${out}`));
  assert.ok(existsSync(join(out, "weir.json")));
  assert.doesNotMatch(stdout, /\u001b/, "no escape codes outside a terminal");
});

test("--json prints one JSON object on standard output and everything else on standard error", async () => {
  await using site = await startSite({ pageCount: 10 });
  using folder = temporaryFolder();
  const words = ["crawl", `${site.origin}/`, `${site.origin}/gone`, "--json", ...LOCAL];
  const { code, stdout, stderr } = await run([...words, "--out", join(folder.path, "out")]);
  assert.equal(code, 0, stderr);
  const result = JSON.parse(stdout) as Record<string, unknown>;
  assert.equal(stdout.trim().split("\n").length, 1);
  assert.equal(result["pages"], 11);
  assert.deepEqual(result["urls"], { known: 13, done: 11, failed: 2, skipped: 0, pending: 0 });
  assert.deepEqual(result["outcomes"], { ok: 11, http_404: 2 });
  const [only] = result["sites"] as { site: string; pages: number }[];
  assert.equal(only?.site, site.origin);
  assert.equal(only?.pages, 11);
  assert.equal(typeof result["bytes"], "number");
  assert.equal(typeof result["seconds"], "number");
  assert.deepEqual(Object.keys(result["bandwidth"] as object).toSorted(), [
    "limitBps",
    "longestWaitMs",
    "meanBps",
    "rankInversion",
    "secondsCpuBound",
    "secondsOver105",
    "utilisation",
    "worstSecond",
  ]);
  assert.equal(result["parallel"], null);
  assert.equal(result["topics"], null);
  assert.deepEqual(result["duplicates"], { exact: 0, near: 0 });
  assert.equal(result["resumed"], false);
});

test("Ctrl-C stops with 3, and the same command resumes without asking twice", async () => {
  await using site = await startSite({ pageCount: 40 });
  using folder = temporaryFolder();
  const words = [
    "crawl",
    site.origin,
    "--out",
    join(folder.path, "out"),
    "--delay",
    "30ms",
    ...LOCAL,
  ];
  const first = start([...words, "--verbose"]);
  await first.saw("/page/5");
  first.process.kill("SIGINT");
  const stopped = await first.ended;
  assert.equal(stopped.code, 3, stopped.stderr);
  assert.match(stopped.stdout, /Stopped \(Ctrl-C\)/);
  assert.match(stopped.stdout, /The same command resumes/);

  const second = await run([...words, "--json"]);
  assert.equal(second.code, 0, second.stderr);
  const result = JSON.parse(second.stdout) as { pages: number; resumed: boolean };
  assert.equal(result.pages, 41);
  assert.equal(result.resumed, true);
  const pages = site.requests.filter((path) => path.startsWith("/page/"));
  assert.equal(new Set(pages).size, pages.length, "no page was asked for twice");
});

test("a second Ctrl-C ends it at once with 130", async () => {
  await using site = await startSite({ pageCount: 1, isSilent: true });
  using folder = temporaryFolder();
  const crawl = start(["crawl", site.origin, "--out", join(folder.path, "out"), ...LOCAL]);
  while (!site.requests.includes("/")) await new Promise((resolve) => setTimeout(resolve, 20));
  crawl.process.kill("SIGINT");
  await crawl.saw("Ctrl-C again");
  crawl.process.kill("SIGINT");
  assert.equal((await crawl.ended).code, 130);
});

test("a limit that is reached ends with 3 and says which", async () => {
  await using site = await startSite({ pageCount: 20 });
  using folder = temporaryFolder();
  const words = ["crawl", site.origin, "--out", join(folder.path, "out"), "--pages", "5", ...LOCAL];
  const { code, stdout } = await run([...words, "--json"]);
  assert.equal(code, 3);
  const result = JSON.parse(stdout) as { pages: number; complete: boolean; stoppedBy: string };
  assert.equal(result.pages, 5);
  assert.equal(result.complete, false);
  assert.equal(result.stoppedBy, "pages limit");
});

test("all mistakes are told at once, with exit code 2 and nothing created", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "weir.yaml"), "dealy: 2s\nscope: everything\n");
  const words = ["crawl", "example.org", "http://127.0.0.1/", "--pages", "-3", "--exclud", "x"];
  const { code, stdout, stderr } = await run([...words, "--config", "weir.yaml"], {
    folder: folder.path,
  });
  assert.equal(code, 2);
  assert.equal(stdout, "");
  for (const part of [
    /6 mistakes/,
    /--exclud is unknown; did you mean --exclude\?/,
    /--pages "-3": expects a whole number from 1/,
    /weir.yaml line 1: dealy is unknown; did you mean delay\?/,
    /weir.yaml line 2: scope "everything": expects one of site, domain, host-list, any/,
    /"example.org" is not a URL; did you mean https:\/\/example.org\//,
    /"http:\/\/127.0.0.1\/" is a private or loopback address; --allow-private 127.0.0.0\/8/,
    /\(SETTINGS_INVALID\)/,
  ])
    assert.match(stderr, part);
  assert.deepEqual(readdirSync(folder.path), ["weir.yaml"]);
});

test("a command that does not exist is refused with the nearest one", async () => {
  const { code, stderr } = await run(["crwal", "http://a.test/"]);
  assert.equal(code, 2);
  assert.match(stderr, /no command "crwal"; did you mean crawl\?/);
});

test("a folder of somebody else is left untouched", async () => {
  await using site = await startSite({ pageCount: 1 });
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "thesis.tex"), "precious");
  for (const fresh of [[], ["--fresh"]]) {
    const words = ["crawl", site.origin, "--out", folder.path, ...fresh, ...LOCAL];
    const { code, stderr } = await run(words);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /FOLDER_FOREIGN/);
    assert.deepEqual(readdirSync(folder.path), ["thesis.tex"]);
  }
});

test("a second process on the same folder is refused, and the first goes on", async () => {
  await using site = await startSite({ pageCount: 30 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const words = ["crawl", site.origin, "--out", out, "--delay", "10s", ...LOCAL];
  const first = start(words);
  await first.saw("waiting");
  const second = await run(words);
  assert.equal(second.code, 1);
  assert.match(second.stderr, /STORE_LOCKED/);
  first.process.kill("SIGINT");
  assert.equal((await first.ended).code, 3);
});

test("what a site sends cannot move the cursor, whatever is shown", async () => {
  const evil = "\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e";
  await using site = await startSite({
    pageCount: 1,
    special: {
      "/": (response) => {
        response.writeHead(200, { "content-type": "text/html", "x-evil": "a\u009bb" });
        const title = `<title>${evil}</title>`;
        response.end(`${title}<a href="/\u001b[31m">x</a><a href="/a\r\nb">y</a><a href="/loop">`);
      },
      "/loop": (response) => {
        response.socket?.end(`HTTP/1.1 500 ${evil}\r\ncontent-length: 0\r\n\r\n`);
      },
    },
  });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const words = ["crawl", site.origin, "--out", out, "--retries", "0", "--verbose", ...LOCAL];
  const crawl = await run(words);
  assert.equal(crawl.code, 0, crawl.stderr);
  const status = await run(["status", out]);
  for (const text of [crawl.stdout, crawl.stderr, status.stdout])
    assert.doesNotMatch(text, /[^\P{Cc}\n]|\u202e/u);
});

test("robots tags for the name in --user-agent are obeyed, those for other robots are not", async () => {
  const page =
    (head: string, headers = {}) =>
    (response: ServerResponse) => {
      response.writeHead(200, { "content-type": "text/html", ...headers });
      response.end(`<title>t</title>${head}<a href="${response.req.url}/next">next</a>`);
    };
  const links = ["meta", "header", "other"].map((name) => `<a href="/${name}">${name}</a>`);
  await using site = await startSite({
    pageCount: 0,
    special: {
      "/": page(links.join(" ")),
      "/meta": page('<meta name="FooBot" content="nofollow">'),
      "/header": page("", { "x-robots-tag": "foobot: nofollow, noindex" }),
      "/other": page('<meta name="weir" content="nofollow">', { "x-robots-tag": "weir: none" }),
    },
  });
  const crawl = async (agent: readonly string[]): Promise<readonly string[]> => {
    using folder = temporaryFolder();
    const out = join(folder.path, "out");
    const ended = await run(["crawl", site.origin, "--out", out, ...agent, ...LOCAL]);
    assert.equal(ended.code, 0, ended.stderr);
    return site.requests.filter((path) => path.endsWith("/next")).toSorted();
  };
  assert.deepEqual(await crawl(["--user-agent", "FooBot/1.0"]), ["/other/next"]);
  assert.deepEqual(await crawl([]), ["/header/next", "/meta/next", "/other/next"]);
});

test("a password in the proxy's address appears nowhere", async () => {
  using folder = temporaryFolder();
  const words = ["crawl", "http://a.test/", "--out", join(folder.path, "out"), "--patience", "1s"];
  const proxy = "http://user:hunter2@127.0.0.1:1";
  const crawl = await run([...words, "--verbose", "--json"], { variables: { WEIR_PROXY: proxy } });
  assert.doesNotMatch(crawl.stdout + crawl.stderr, /hunter2/);
  const kept = spawnSync("grep", ["-r", "hunter2", folder.path], { encoding: "utf8" });
  assert.equal(kept.stdout, "");
});

test("the launcher works from any folder and through a link", async () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, "bin"));
  symlinkSync(LAUNCHER, join(folder.path, "direct"));
  symlinkSync("../direct", join(folder.path, "bin/weir"));
  const { code, stdout } = await run(["--version"], {
    folder: folder.path,
    program: [join(folder.path, "bin/weir")],
  });
  assert.equal(code, 0);
  assert.match(stdout, /^weir \d+\.\d+\.\d+\n$/);
});

test("in a terminal the view is drawn in place, and the cursor comes back", async (t) => {
  if (spawnSync("script", ["--version"]).status !== 0) return t.skip("needs script(1)");
  await using site = await startSite({ pageCount: 10 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const command = `${LAUNCHER} crawl ${site.origin} --out ${out} --delay 50ms ${LOCAL.join(" ")}`;
  const terminal = { TERM: "xterm-256color", COLUMNS: "100", LINES: "30" };
  const { code, stdout } = await run(["-qec", command, "/dev/null"], {
    program: ["script"],
    variables: terminal,
  });
  assert.equal(code, 0, stdout);
  const hiddenAt = stdout.indexOf("\u001b[?25l");
  const shownAt = stdout.lastIndexOf("\u001b[?25h");
  assert.ok(hiddenAt >= 0 && shownAt > hiddenAt, "hidden, then shown");
  assert.ok(stdout.split("\u001b[?2026h").length > 3, "several frames");
  assert.match(stdout.slice(hiddenAt, shownAt), /running.*pages\/s.*waiting/s);
  assert.match(stdout.slice(shownAt), /Done.*11 pages/s);
  return undefined;
});
