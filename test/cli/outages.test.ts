/** Servers that do not respond: what the program shows, how it ends, and what the same command does then. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { run, start, temporaryFolder } from "./program.ts";
import { startSite } from "./small-site.ts";

const LOCAL = ["--allow-private", "127.0.0.0/8"];
/** A site of three pages on a port that can be closed and opened again. */
interface Server {
  readonly origin: string;
  open(): Promise<void>;
  close(): Promise<void>;
}

async function serverThatComesAndGoes(): Promise<Server> {
  let port = 0;
  let server = createServer();
  const open = async (): Promise<void> => {
    server = createServer(({ url }, response) => {
      if (url === "/robots.txt" || url === "/sitemap.xml") return response.writeHead(404).end();
      response.writeHead(200, { "content-type": "text/html" });
      return response.end(`<title>${url}</title><a href="/1">1</a> <a href="/2">2</a>`);
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  };
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  await open();
  return { origin: `http://127.0.0.1:${port}`, open, close };
}

interface Result {
  readonly pages: number;
  readonly complete: boolean;
  readonly stoppedBy: string;
  readonly urls: { readonly pending: number; readonly failed: number };
  readonly unreachable: {
    readonly count: number;
    readonly first: readonly { readonly site: string; readonly reason: string }[];
  };
}

for (const procs of ["1", "2"])
  test(`a dead server beside a live one, --procs ${procs}: 3, pending, and the same command completes it`, async () => {
    const dead = await serverThatComesAndGoes();
    await dead.close();
    await using live = await startSite({ pageCount: 5 });
    using folder = temporaryFolder();
    const out = join(folder.path, "out");
    const seeds = [dead.origin, live.origin];
    const words = ["crawl", ...seeds, "--out", out, "--patience", "2s", "--procs", procs, ...LOCAL];
    const first = await run([...words, "--json"]);
    assert.equal(first.code, 3, first.stderr);
    const result = JSON.parse(first.stdout) as Result;
    // One link leads to a page that does not exist.
    assert.deepEqual([result.pages, result.complete, result.urls.failed], [6, false, 1]);
    assert.equal(result.urls.pending, 1);
    assert.equal(result.stoppedBy, "1 site could not be reached");
    assert.equal(result.unreachable.count, 1);
    assert.equal(result.unreachable.first[0]?.site, dead.origin);
    assert.equal(result.unreachable.first[0]?.reason, "connect_refused");
    const again = await run(words);
    assert.equal(again.code, 3, again.stderr);
    assert.match(again.stdout, /Stopped \(1 site could not be reached\)/);
    assert.match(again.stdout, /connect_refused for .*, 1 URL waiting/);
    assert.match(again.stdout, /The same command tries these sites again/);
    await dead.open();
    const last = await run([...words, "--json"]);
    await dead.close();
    assert.equal(last.code, 0, last.stderr);
    const { pages, complete } = JSON.parse(last.stdout) as Result;
    assert.deepEqual([pages, complete], [9, true]);
  });

test("a crawl whose only site goes away is shown as paused, and goes on when it is back", async () => {
  const site = await serverThatComesAndGoes();
  await site.close();
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const crawl = start(["crawl", site.origin, "--out", out, ...LOCAL]);
  await crawl.saw(
    /paused \(1 site could not be reached; trying again, --patience ends in 1[45] min/,
  );
  let status: { state?: string; unreachable?: number; sites?: { state: string }[] } = {};
  while (status.unreachable !== 1)
    status = JSON.parse((await run(["status", out, "--json"])).stdout) as typeof status;
  assert.equal(status.state, "paused");
  assert.equal(status.sites?.[0]?.state, "unreachable");
  await site.open();
  const { code, stdout } = await crawl.ended;
  await site.close();
  assert.equal(code, 0);
  assert.match(stdout, /Done: 3 pages/);
});

test("a patience that makes no sense is refused", async () => {
  for (const patience of ["0", "0s", "-1m", "soon"]) {
    const { code, stderr } = await run([
      "crawl",
      "http://127.0.0.1:9/",
      "--patience",
      patience,
      ...LOCAL,
    ]);
    assert.equal(code, 2);
    assert.match(stderr, /--patience ".*": expects a duration from 1s to 365d/);
  }
});
