import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { configOf, isDone, serveDemo } from "../../src/cli/commands/demo.ts";
import { seedUrls } from "../../src/lab/world.ts";
import { run, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

interface Plan {
  readonly sites: readonly {
    readonly deadlineSeconds: number | null;
    readonly leftOut: string | null;
  }[];
  readonly late: readonly unknown[];
}

test("the demo's plan knows all of its sites, and keeps three of four deadlines", async () => {
  using folder = temporaryFolder();
  const config = join(folder.path, "demo.yaml");
  const urls = Array.from({ length: 12 }, (_, index) => `http://127.1.0.${index + 1}:8673/`);
  writeFileSync(config, configOf(urls));
  const words = ["plan", "--config", config, "--as-crawled", "--json"];
  const { code, stdout, stderr } = await run(words, { folder: folder.path });
  assert.equal(code, 0, stderr);
  const { sites, late } = JSON.parse(stdout) as Plan;
  assert.equal(sites.filter(({ leftOut }) => leftOut === null).length, 12);
  const dated = sites.filter(({ deadlineSeconds }) => deadlineSeconds !== null);
  assert.deepEqual([dated.length, late.length], [4, 1]);
});

test("a demo beside another one ends with a clear error", async () => {
  await using other = await serveDemo(0);
  const port = Number(new URL(seedUrls(other.world)[0] ?? "").port);
  await assert.rejects(serveDemo(port), {
    code: "DEMO_PORT",
    message: `Port ${port} is in use, probably by another demo on this machine.`,
  });
});

test("a demo is crawled again only when no URL is left", async () => {
  await using site = await startSite({ pageCount: 3 });
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  assert.equal(await isDone(out), false);
  const words = ["crawl", site.origin, "--out", out, "--allow-private", "127.0.0.0/8"];
  await run([...words, "--pages", "1"]);
  assert.equal(await isDone(out), false);
  await run(words);
  assert.equal(await isDone(out), true);
});
