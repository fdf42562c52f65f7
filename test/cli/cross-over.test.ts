/** Cross-over as the paper defines it: a process follows links to others' sites only while none of its own URLs waits. */

import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { CrawlResult } from "../../src/control/snapshot.ts";
import { assignGroups } from "../../src/partition/assignment.ts";
import { BUCKETS_DEFAULT, partitionFor } from "../../src/partition/partition.ts";
import type { CanonicalUrl } from "../../src/url/url.ts";
import { run, temporaryFolder } from "./program.ts";

const PAGES = 40;
const PROCS = 2;
const CONNECTIONS = 4;

test("own URLs that only another's pages lead to are fetched before more of the other's", async () => {
  using folder = temporaryFolder();
  await using sites = await twoSites();
  const { ours, theirs, requests } = sites;
  const manners = ["--allow-private", "127.0.0.0/8", "--delay", "0", "--scope", "any", "--json"];
  const shape = [
    "--procs",
    String(PROCS),
    "--mode",
    "cross-over",
    "--connections",
    `${CONNECTIONS}`,
  ];
  const out = ["--out", join(folder.path, "out"), "--no-sitemaps"];
  const { code, stdout, stderr } = await run(["crawl", `${ours}/`, ...manners, ...shape, ...out]);
  assert.equal(code, 0, stderr);
  // The other process has no seed, so the first one fetched everything.
  assert.equal((JSON.parse(stdout) as CrawlResult).pages, 1 + 2 * PAGES);
  const pages = requests.filter((url) => !url.endsWith("/robots.txt"));
  const metAt = pages.indexOf(`${theirs}/0`);
  const lastOwnAt = pages.findLastIndex((url) => url.startsWith(ours));
  const foreign = pages.slice(metAt + 1, lastOwnAt).filter((url) => url.startsWith(theirs));
  assert.ok(metAt >= 0 && lastOwnAt > metAt);
  assert.ok(foreign.length <= CONNECTIONS, `${foreign.length} foreign pages while own ones waited`);
});

interface TwoSites extends AsyncDisposable {
  readonly ours: string;
  readonly theirs: string;
  readonly requests: readonly string[];
}

/** Ours leads to theirs, whose first page leads to all of ours and whose every page to the next. */
async function twoSites(): Promise<TwoSites> {
  const requests: string[] = [];
  const servers = new Map<string, { readonly server: Server; readonly origin: string }>();
  while (servers.size < PROCS) {
    const server = createServer(({ url: path }, response) => {
      requests.push(`${origin}${path}`);
      const text = pageOf(`${origin}${path}`);
      response.writeHead(text === "" ? 404 : 200, { "content-type": "text/html" }).end(text);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const owner = ownerOf(origin);
    if (servers.has(owner)) server.close();
    else servers.set(owner, { server, origin });
  }
  const [ours, theirs] = [...servers.values()].map(({ origin }) => origin) as [string, string];
  const pageOf = (url: string): string => {
    if (url === `${ours}/`) return linksTo([`${theirs}/0`]);
    const number = Number(/\/(\d+)$/.exec(url)?.[1] ?? Number.NaN);
    if (!(number < PAGES)) return "";
    if (url.startsWith(ours)) return `<p>ours ${number}`;
    const next = number + 1 < PAGES ? [`${theirs}/${number + 1}`] : [];
    const all = Array.from({ length: PAGES }, (_, page) => `${ours}/${page}`);
    return linksTo([...next, ...(number === 0 ? all : [])]);
  };
  return {
    ours,
    theirs,
    requests,
    async [Symbol.asyncDispose]() {
      for (const { server } of servers.values()) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

function linksTo(urls: readonly string[]): string {
  return `<title>${urls[0]}</title>${urls.map((url) => `<a href="${url}">x</a>`).join(" ")}`;
}

function ownerOf(origin: string): string {
  const partition = partitionFor("site-hash", { bucketCount: BUCKETS_DEFAULT, rules: [] });
  const workers = Array.from({ length: PROCS }, (_, at) => ({ name: `proc-${at + 1}`, weight: 1 }));
  return assignGroups(partition, workers)[
    partition.bucketOf(`${origin}/` as CanonicalUrl)
  ] as string;
}
