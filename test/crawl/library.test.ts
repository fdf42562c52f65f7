/** The library as a JavaScript program meets it: nothing checks its options before they are given. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Crawl, crawl, CrawlError, type CrawlOptions, settingsFrom } from "../../src/index.ts";
import { type Ended, ROOT, run, temporaryFolder } from "../cli/program.ts";
import { startSite } from "../cli/small-site.ts";

const LOCAL = { allowPrivate: ["127.0.0.0/8"], delayMs: 0 };
const URLS = ["http://127.0.0.1:1/"];

/** As JavaScript sees it. */
const untyped = crawl as (options?: unknown) => Crawl;

async function errorOf(options: unknown): Promise<CrawlError> {
  try {
    await untyped(options);
  } catch (error) {
    assert.ok(error instanceof CrawlError, String(error));
    return error;
  }
  return assert.fail("it was accepted");
}

test("a wrong option is refused with the nearest name, or with the value to write", async () => {
  const wrong: readonly (readonly [options: Record<string, unknown>, message: RegExp])[] = [
    [{ limtBps: 3 }, /^limtBps is no option; did you mean limitBps\?$/],
    [{ onpage() {} }, /^onpage is no option; did you mean onPage\?$/],
    [{ headers: {} }, /^headers is no option/],
    [{ limit: 2e6 }, /^limit is the name in weir.yaml; the option of a program is limitBps$/],
    [
      { limitBps: "2MB/s" },
      /^limitBps: "2MB\/s" is text; expects a number in bytes per second: write 2000000$/,
    ],
    [{ delayMs: "500ms" }, /delayMs: .* in milliseconds: write 500$/],
    [{ delayMs: -1 }, /delayMs: -1 is not a duration from 0ms to 1h/],
    [{ limitBps: Number.NaN }, /limitBps: NaN is not a rate from/],
    [{ limitBps: 2 }, /limitBps: 2 is not a rate from 4KB\/s/],
    [{ concurrencyPerSite: 0 }, /concurrencyPerSite: 0 is not a whole number from 1 to 256$/],
    [{ bodyBytesMax: Infinity }, /bodyBytesMax: Infinity is not a size from/],
    [{ revisitChance: 10 }, /revisitChance: 10 is not a share from 0% to 100%/],
    [{ limitBps: "fast" }, /limitBps: "fast" is text; expects a number in bytes per second$/],
    [{ quota: "5GB/day" }, /quota: .* write \{"bytes":5000000000,"per":"day"\}$/],
    [{ limitAt: "mon-fri 08:00-18:00=1MB/s,else=8MB/s" }, /settingsFrom\(\["--limit-at", …\]\)/],
    [{ scope: "hots" }, /scope: "hots" is text; expects one of site, domain/],
    [{ warc: "no" }, /^warc: expects true or false$/],
    [{ pagesMax: null }, /^pagesMax: null is no value; leave the option out$/],
    [{ include: "/news/*" }, /^include: expects a list/],
    [{ urls: URLS[0] }, /^urls: expects a list, such as \["https:\/\/example.org\/"\]$/],
    [{ onPage: true }, /^onPage: expects a function$/],
    [{ sites: [{ url: URLS[0], dealyMs: 3 }] }, /^sites\[0\].dealyMs is no option; .* delayMs\?$/],
    [{ sites: URLS }, /^sites: expects a list, such as/],
    [
      { natsPassword: 7, limtBps: 1 },
      /^2 mistakes in the settings:\n {2}natsPassword: .*\n {2}limtBps/,
    ],
  ];
  for (const [options, message] of wrong) {
    const error = await errorOf({ urls: URLS, ...LOCAL, ...options });
    assert.equal(error.code, "SETTINGS_INVALID");
    assert.match(error.message, message);
  }
  assert.match((await errorOf(undefined)).message, /crawl expects an object/);
  assert.match((await errorOf(URLS[0])).message, /crawl expects an object/);
});

test("the settings of the command line are right options, and undefined means the default", async () => {
  await using site = await startSite({ pageCount: 3 });
  using folder = temporaryFolder();
  const words =
    "--limit 2MB/s --limit-at 00:00-12:00=1MB/s --quota 5GB/day --packet-overhead 4% --deadline 10m " +
    "--time-zone Europe/Rome --holidays US-CA --accept-types text/* --include * --contact you@example.org " +
    "--dashboard auto --host-share 0.5 --replicate popular.txt --nats-user weir --allow-private 127.0.0.0/8";
  const settings = await settingsFrom([site.origin, ...words.split(" ")]);
  const result = await crawl({
    ...settings,
    outFolder: join(folder.path, "out"),
    hostShareMax: undefined,
    scope: undefined as unknown as "site",
    sites: [{ url: site.origin, delayMs: 0 }],
  });
  assert.equal(result.complete, true);
  assert.equal(result.pages, 4);
});

test("a failure before the first await rejects it, and does not end the program", async () => {
  const awaited = await programEndsWith(`
    const crawling = crawl({ urls: ["not a url"] });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await crawling.catch((error) => console.log("caught", error.code));`);
  assert.deepEqual([awaited.code, awaited.stdout], [0, "caught SEED_REFUSED\n"], awaited.stderr);
  const iterated = await programEndsWith(`
    const crawling = crawl({ urls: ["not a url"] });
    await new Promise((resolve) => setTimeout(resolve, 300));
    try { for await (const page of crawling) console.log(page.url); }
    catch (error) { console.log("caught", error.code); }`);
  assert.deepEqual([iterated.code, iterated.stdout], [0, "caught SEED_REFUSED\n"], iterated.stderr);
});

test("a failure that the program never awaits is thrown at its end", async () => {
  const { code, stdout, stderr } = await programEndsWith(`
    crawl({ urls: ["not a url"] });
    setTimeout(() => console.log("the rest of the program"), 300);`);
  assert.equal(code, 1);
  assert.equal(stdout, "the rest of the program\n");
  assert.match(stderr, /CrawlError: "not a url" is not a URL/);
});

test("an aborted signal rejects with its reason, before the crawl and in the middle of it", async () => {
  await using site = await startSite({ pageCount: 300 });
  const reason = new Error("the user left");
  const options: CrawlOptions = { urls: [site.origin], ...LOCAL, delayMs: 5 };
  await assert.rejects(
    async () => crawl({ ...options, signal: AbortSignal.abort(reason) }),
    (error) => error === reason,
  );
  assert.deepEqual(site.requests, []);
  const abort = new AbortController();
  const onPage = (): void => abort.abort(reason);
  await assert.rejects(
    async () => crawl({ ...options, onPage, signal: abort.signal }),
    (error) => error === reason,
  );
  assert.ok(site.requests.length < 300);
});

test("stop ends the crawl with its result, also when it comes at once", async () => {
  await using site = await startSite({ pageCount: 300 });
  const crawling = crawl({ urls: [site.origin], ...LOCAL, delayMs: 5 });
  crawling.stop();
  const result = await crawling;
  assert.equal(result.complete, false);
  assert.equal(result.stoppedBy, "stopped by the program");
  let isOver = false;
  await crawling.finally(() => (isOver = true));
  assert.equal(isOver, true);
});

async function programEndsWith(text: string): Promise<Ended> {
  using folder = temporaryFolder();
  const file = join(folder.path, "program.ts");
  const index = JSON.stringify(join(ROOT, "src/index.ts"));
  writeFileSync(file, `import { crawl } from ${index};\n${text}\n`);
  writeFileSync(join(folder.path, "package.json"), '{ "type": "module" }');
  return await run([file], { program: [process.execPath] });
}
