import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { run, start, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

const LOCAL = ["--allow-private", "127.0.0.0/8"];

interface WatchedSite {
  readonly site: string;
  readonly round: number;
  readonly nextRoundInSeconds: number | null;
  readonly roundPages: Readonly<Record<string, number>>;
}

interface Result {
  readonly complete: boolean;
  readonly stoppedBy: string;
  readonly urls: Readonly<Record<string, number>>;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly sites: readonly WatchedSite[];
  readonly resumed: boolean;
}

/** Answers 304 to a request with this version. */
function answer(response: ServerResponse, version: number, links = ""): void {
  const etag = `"${version}"`;
  if (response.req.headers["if-none-match"] === etag) {
    response.writeHead(304, { etag }).end();
    return;
  }
  response.writeHead(200, { "content-type": "text/html", etag });
  response.end(`<title>${version}</title><p>${response.req.url ?? ""} ${version} ${links}`);
}

test("a watch begins rounds by itself, survives kill -9, and ends with 3 at Ctrl-C", async () => {
  let asked = 0;
  let goneAsked = 0;
  let news = 0;
  await using site = await startSite({
    pageCount: 0,
    special: {
      "/": (response) => {
        news += 1;
        const links = ["same", "other", "gone", "never", `new-${Math.min(3, news)}`];
        answer(response, news, links.map((name) => `<a href=/${name}>${name}</a>`).join(" "));
      },
      "/same": (response) => answer(response, 1),
      "/other": (response) => answer(response, ++asked),
      "/gone": (response) => {
        goneAsked += 1;
        if (goneAsked === 1) answer(response, 1);
        else response.writeHead(404).end();
      },
      "/new-1": (response) => answer(response, 1),
      "/new-2": (response) => answer(response, 1),
      "/new-3": (response) => answer(response, 1),
    },
  });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const words = ["crawl", site.origin, "--out", out, "--watch", "--schedule", "every 1s", ...LOCAL];

  const first = start([...words, "--verbose"]);
  await first.saw("next recrawl of");
  const status = await run(["status", out, "--json"]);
  const seen = JSON.parse(status.stdout) as { running: boolean; sites: WatchedSite[] };
  assert.equal(seen.running, true, status.stdout);
  assert.ok((seen.sites[0]?.nextRoundInSeconds ?? 9) <= 1, status.stdout);
  await first.saw("recrawl 4 of");
  first.process.kill("SIGKILL");
  assert.equal((await first.ended).code, null);

  const second = start([...words, "--json", "--verbose"]);
  await second.saw(/recrawl [5-9] of \S+ is done/);
  second.process.kill("SIGINT");
  const ended = await second.ended;
  assert.equal(ended.code, 3, ended.stderr);
  assert.doesNotMatch(ended.stderr, /recrawl [1-3] of/);
  const result = JSON.parse(ended.stdout) as Result;
  assert.deepEqual(
    [result.complete, result.stoppedBy, result.resumed],
    [false, "Ctrl-C", true],
    ended.stdout,
  );
  const [watched] = result.sites;
  assert.ok((watched?.round ?? 0) >= 5, ended.stdout);
  assert.equal(typeof watched?.nextRoundInSeconds, "number");
  // The home page and /other are new every time.
  assert.equal(watched?.roundPages["changed"], 2, ended.stdout);
  assert.equal(watched?.roundPages["gone"], 0, ended.stdout);
  const count = (path: string): number => site.requests.filter((one) => one === path).length;
  assert.equal(count("/gone"), 3, "found, gone, and asked once more");
  assert.equal(count("/never"), 2, "not there, and asked once more");
  assert.ok(count("/new-2") >= 1 && count("/new-3") >= 1, "links that came later are followed");
  // Once a round, and once more if the kill came before the answer was stored.
  assert.ok(count("/other") <= (watched?.round ?? 0) + 1, `${count("/other")} requests`);
  assert.equal(result.urls["known"], 8);
  assert.equal(result.outcomes["http_404"], 2);

  const stopped = await run(["status", out, "--json"]);
  const after = JSON.parse(stopped.stdout) as { running: boolean; sites: WatchedSite[] };
  assert.equal(after.running, false);
  assert.equal(after.sites[0]?.round, watched?.round);
});

test("in a file each site has its own schedule, and a site without one is crawled once", async () => {
  await using often = await startSite({ pageCount: 2 });
  await using once = await startSite({ pageCount: 2 });
  using folder = temporaryFolder();
  const file = join(folder.path, "weir.yaml");
  writeFileSync(
    file,
    `watch: true
allowPrivate: 127.0.0.0/8
sites:
  - url: ${often.origin}/
    schedule: every 1s
  - url: ${once.origin}/
`,
  );
  const running = start([
    "crawl",
    "--config",
    file,
    "--out",
    join(folder.path, "out"),
    "--verbose",
  ]);
  await running.saw(`recrawl 3 of ${often.origin} is done`);
  running.process.kill("SIGTERM");
  const ended = await running.ended;
  assert.equal(ended.code, 3, ended.stderr);
  assert.match(ended.stdout, /Stopped \(SIGTERM\)/);
  assert.ok(often.requests.filter((path) => path === "/page/1").length >= 3);
  assert.equal(once.requests.filter((path) => path === "/page/1").length, 1);
});

test("--pages limits what a refresh fetches: the pages at hand first, and again with every refresh", async () => {
  await using site = await startSite({ pageCount: 20 });
  using folder = temporaryFolder();
  const crawl = async (...words: string[]): Promise<{ asked: string[]; result: Result }> => {
    const out = join(folder.path, "out");
    const before = site.requests.length;
    const ended = await run(["crawl", site.origin, "--out", out, "--json", ...words, ...LOCAL]);
    assert.ok(ended.code === 0 || ended.code === 3, ended.stderr);
    const asked = site.requests.slice(before).filter((path) => path === "/" || /page/.test(path));
    return { asked: asked.toSorted(), result: JSON.parse(ended.stdout) as Result };
  };
  const first = await crawl("--pages", "5");
  assert.equal(first.asked.length, 5);
  for (let time = 0; time < 2; time++) {
    const again = await crawl("--pages", "5", "--refresh");
    assert.deepEqual(again.asked, first.asked, "the same five and no other");
    assert.equal(again.result.stoppedBy, "pages limit");
  }
  const more = await crawl("--pages", "8", "--refresh");
  assert.equal(more.asked.length, 8, "the five and three new ones");
  assert.ok(first.asked.every((path) => more.asked.includes(path)));

  const whole = await crawl();
  assert.equal(whole.result.complete, true);
  const some = await crawl("--pages", "4", "--refresh");
  assert.equal(some.asked.length, 4);
  const rest = await crawl();
  assert.equal(rest.asked.length, 17, "without --refresh the recrawl is finished");
  assert.equal(rest.result.complete, true);
});

test("a refresh after a run that was stopped finishes that run, and says so", async () => {
  await using site = await startSite({ pageCount: 20 });
  using folder = temporaryFolder();
  const words = ["crawl", site.origin, "--out", join(folder.path, "out"), ...LOCAL];
  const first = start([...words, "--delay", "30ms", "--verbose"]);
  await first.saw("/page/5");
  first.process.kill("SIGINT");
  assert.equal((await first.ended).code, 3);
  const second = await run([...words, "--refresh"]);
  assert.equal(second.code, 0, second.stderr);
  assert.match(
    second.stderr + second.stdout,
    /previous run had not finished; this run finishes it/,
  );
  assert.equal(site.requests.filter((path) => path === "/page/1").length, 1);
});

test("what does not fit together is said, with what to write", async () => {
  await using site = await startSite({ pageCount: 1 });
  using folder = temporaryFolder();
  const crawl = (...words: string[]) =>
    run(["crawl", site.origin, "--out", join(folder.path, "out"), ...LOCAL, ...words]);
  const unwatched = await crawl("--schedule", "every 1h");
  assert.equal(unwatched.code, 0, unwatched.stderr);
  assert.match(unwatched.stdout, /no effect without --watch: this crawl ends when it is done/);
  const nothing = await crawl("--watch");
  assert.equal(nothing.code, 2);
  assert.match(nothing.stderr, /--watch needs a schedule: --schedule 'every 1h'/);
  const wrong = ["--schedule", "often", "--pages", "5", "--refresh", "--revisit-chance", "ten"];
  const { code, stderr } = await crawl("--watch", ...wrong);
  assert.equal(code, 2);
  for (const told of [
    /"often": is not a schedule; write every 1h/,
    /use --site-budget or --depth/,
    /leave --refresh out/,
    /a share from 0% to 100%/,
  ])
    assert.match(stderr, told);
});
