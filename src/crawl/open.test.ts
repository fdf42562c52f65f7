import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { silentLog } from "../base/log.ts";
import type { Settings } from "../config/schema.ts";
import { defaultSettings } from "../config/sources.ts";
import { fetcherOptions, openCrawl } from "./open.ts";
import { urlOf } from "./small-crawl.suite.ts";

test("a crawl in a folder stores state and archive, and the same folder resumes it", async (t) => {
  const { order, requests } = await served(t, { pagesMax: 1 });
  const first = await (await openCrawl(order)).done;
  assert.deepEqual([first.pages, first.complete, first.resumed], [1, false, false]);
  for (const name of ["state", "archive"]) assert.ok(existsSync(join(order.folder, name)), name);
  const settings = { ...order.settings, pagesMax: undefined };
  const second = await (await openCrawl({ ...order, settings })).done;
  assert.deepEqual([second.pages, second.complete, second.resumed], [2, true, true]);
  assert.deepEqual(
    requests.filter((path) => path !== "/robots.txt"),
    ["/", "/next"],
  );
});

test("a crawl cannot be resumed with rules that identify other URLs; the message names them", async (t) => {
  const { order } = await served(t, {});
  await (
    await openCrawl(order)
  ).done;
  const settings = { ...order.settings, dropQuery: true, scope: "domain" as const };
  await assert.rejects(openCrawl({ ...order, settings }), (error: Error & { code?: string }) => {
    assert.deepEqual([error.code], ["STORE_CHANGED"]);
    assert.match(error.message, /another scope, dropQuery/);
    return true;
  });
  // The refusal has released the lock of the folder.
  assert.equal((await (await openCrawl(order)).done).complete, true);
});

test("a folder in use is refused", async (t) => {
  const { order } = await served(t, { delayMs: 60_000 });
  const open = await openCrawl(order);
  await assert.rejects(openCrawl(order), { code: "STORE_LOCKED" });
  open.stop("test");
  await open.done;
});

test("--fresh starts again in the same folder", async (t) => {
  const { order } = await served(t, {});
  await (
    await openCrawl(order)
  ).done;
  const settings = { ...order.settings, fresh: true };
  const { resumed, pages } = await (await openCrawl({ ...order, settings })).done;
  assert.deepEqual([resumed, pages], [false, 2]);
});

test("settings of a request reach the fetcher, with the contact in the user agent", () => {
  const settings = {
    ...defaultSettings(),
    userAgent: "Bot/1",
    contact: "a@b.example",
    cookies: true,
  };
  const { userAgent, limits, cookies, proxied } = fetcherOptions(settings);
  assert.equal(userAgent, "Bot/1 (+a@b.example)");
  assert.deepEqual([limits.totalMs, proxied], [settings.totalTimeoutMs, false]);
  assert.ok(cookies !== undefined);
});

async function served(t: TestContext, changes: Partial<Settings>) {
  const requests: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    requests.push(url);
    if (url === "/robots.txt") return response.writeHead(404).end();
    return response.setHeader("content-type", "text/html").end(`${url}<a href="/next">next</a>`);
  });
  await new Promise<void>((goOn) => server.listen(0, "127.0.0.1", goOn));
  const folder = mkdtempSync(join(tmpdir(), "weir-open-"));
  t.after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  const { port } = server.address() as AddressInfo;
  const local = { allowPrivate: ["127.0.0.0/8"], sitemaps: false };
  const settings = { ...defaultSettings(), ...local, ...changes };
  const seeds = [urlOf(`http://127.0.0.1:${port}/`)];
  return { requests, order: { settings, seeds, folder, hooks: {}, log: silentLog } };
}
