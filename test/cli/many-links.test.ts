import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { run, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

const LOCAL = ["--allow-private", "127.0.0.0/8", "--delay", "0"];

test("every page of a listing of 10,000 is stored", async () => {
  const pageCount = 10_000;
  await using site = await startSite({ pageCount });
  using folder = temporaryFolder();
  const words = ["crawl", site.origin, "--out", join(folder.path, "out"), "--json"];
  const patience = { patienceMs: 300_000 };
  const crawl = await run([...words, "--concurrency-per-site", "32", ...LOCAL], patience);
  assert.equal(crawl.code, 0, crawl.stderr);
  const result = JSON.parse(crawl.stdout) as {
    readonly pages: number;
    readonly complete: boolean;
    readonly caps: readonly unknown[];
  };
  assert.equal(result.pages, pageCount + 1);
  assert.equal(result.complete, true);
  assert.deepEqual(result.caps, []);
});

test("nofollow beyond the first 2,000 links is obeyed", async () => {
  const links = (response: ServerResponse): void => {
    const all = Array.from({ length: 5_000 }, (_, number) => {
      return `<a ${number === 4_000 ? "" : "rel=nofollow"} href=/page/${number + 1}>`;
    });
    response.writeHead(200, { "content-type": "text/html" }).end(all.join(""));
  };
  await using site = await startSite({ pageCount: 5_000, special: { "/": links } });
  using folder = temporaryFolder();
  const words = ["crawl", site.origin, "--out", join(folder.path, "out"), "--depth", "1"];
  const crawl = await run([...words, "--json", ...LOCAL]);
  assert.equal(crawl.code, 0, crawl.stderr);
  assert.deepEqual(
    site.requests.filter((path) => path.startsWith("/page")),
    ["/page/4001"],
  );
});

test("the summary names each cap that cut something off, with its setting", async () => {
  const large = (response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "text/html" }).end("x".repeat(5_000));
  };
  await using site = await startSite({ pageCount: 30, special: { "/page/1": large } });
  using folder = temporaryFolder();
  const out = ["--out", join(folder.path, "out")];
  const words = ["crawl", site.origin, ...out, "--body-max", "4KiB", "--pattern-budget", "20"];
  const crawl = await run([...words, ...LOCAL]);
  assert.equal(crawl.code, 0, crawl.stderr);
  assert.match(crawl.stdout, /cut off by a cap:/);
  assert.match(crawl.stdout, /\b1 bodies too large \(body_too_large; see --body-max/);
  assert.match(
    crawl.stdout,
    /\b1\d links beyond the budget .* \(trap_pattern; see --pattern-budget/,
  );
  const again = await run([...words, ...LOCAL, "--json"]);
  const { caps } = JSON.parse(again.stdout) as { readonly caps: readonly unknown[] };
  assert.deepEqual(caps[0], {
    cap: "body_too_large",
    setting: "--body-max, --decoded-max",
    count: 1,
  });
});
