import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { type Ended, LAUNCHER, type Place, run, start, temporaryFolder } from "./program.ts";

const SITES = 40;
const PAGES_PER_SITE = 4;

test("with few descriptors a crawl asks for less at the same time, says so once, and stores all pages", async () => {
  await using web = await startWeb({ siteCount: SITES, pagesPerSite: PAGES_PER_SITE });
  for (const limit of [48, 64, 100, 256]) {
    using folder = temporaryFolder();
    const words = ["crawl", ...web.seeds, "--out", join(folder.path, "out"), "--json"];
    const more = ["--allow-private", "127.0.0.0/8", "--delay", "0", "--connections", "200"];
    const ended = await run([...words, ...more], under(limit));
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(outcomesOf(ended), { ok: SITES * PAGES_PER_SITE });
    const told = ended.stderr.split("\n").filter((line) => line.startsWith("warn"));
    assert.equal(told.length, 1, ended.stderr);
    const message = new RegExp(
      String.raw`^warn: at most (\d+) instead of 200 requests at the same time: the system allows ${limit} open files; raise it with .ulimit -n.$`,
    );
    const requests = Number(message.exec(told[0] ?? "")?.[1]);
    assert.ok(requests >= 1 && requests <= limit - 40, ended.stderr);
    // 40 are files; the server may see a connection end after the next one has begun.
    assert.ok(web.connectionsMost() <= limit - 40, `${web.connectionsMost()} connections`);
    web.forget();
  }
});

test("with too few descriptors a crawl ends before it creates anything, with a code and the remedy", async () => {
  using folder = temporaryFolder();
  const out = join(folder.path, "out");
  const words = ["crawl", "http://127.0.0.1:8099/", "--allow-private", "127.0.0.0/8", "--out", out];
  const { code, stdout, stderr } = await run(words, under(30));
  assert.equal(code, 1);
  assert.equal(stdout, "");
  const [what, remedy, end, ...rest] = stderr.split("\n");
  assert.match(what ?? "", /^weir: The system allows this process 30 open files; a crawl needs/);
  assert.match(remedy ?? "", /ulimit -n 4096.*\(DESCRIPTORS_USED_UP\)$/);
  assert.deepEqual([end, rest], ["", []]);
  assert.equal(existsSync(out), false);
});

test("each of several processes has its own limit", async () => {
  await using web = await startWeb({ siteCount: 8, pagesPerSite: PAGES_PER_SITE });
  using folder = temporaryFolder();
  const words = ["crawl", ...web.seeds, "--out", join(folder.path, "out"), "--json"];
  const more = ["--allow-private", "127.0.0.0/8", "--delay", "0", "--connections", "200"];
  const ended = await run([...words, ...more, "--procs", "2"], under(64));
  assert.equal(ended.code, 0, ended.stderr);
  assert.equal(outcomesOf(ended)["ok"], 8 * PAGES_PER_SITE);
  for (const name of ["proc-1", "proc-2"])
    assert.match(ended.stderr, new RegExp(`instead of 100 requests .* process=${name}\\n`));
});

test("a crawl whose descriptors run out pauses, resumes when some are free, and loses no page", async () => {
  await using web = await startWeb({ siteCount: 2, pagesPerSite: 150, pageBytes: 20_000 });
  using folder = temporaryFolder();
  const words = ["crawl", ...web.seeds, "--out", join(folder.path, "out"), "--json"];
  // Small files, so that the archive must open one for every few pages; under a limit the line is watched too.
  const more = ["--allow-private", "127.0.0.0/8", "--delay", "10ms", "--limit", "20MB/s"];
  const crawl = start([...words, ...more, "--warc-size", "64KiB"], {
    ...under(128),
    variables: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(HOARDER)}` },
  });
  await web.asked(20);
  crawl.process.kill("SIGUSR2");
  await crawl.saw("code=DESCRIPTORS_USED_UP");
  crawl.process.kill("SIGUSR2");
  const ended = await crawl.ended;
  assert.equal(ended.code, 0, ended.stderr);
  assert.deepEqual(outcomesOf(ended), { ok: 2 * 150 });
});

/** Opens files until the system refuses, at a first signal, and closes them at the next one. */
const HOARDER = `
import { closeSync, openSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
let files = [];
if (isMainThread)
  process.on("SIGUSR2", () => {
    if (files.length > 0) return files.splice(0).forEach((file) => closeSync(file));
    try {
      for (;;) files.push(openSync("/dev/null"));
    } catch {}
  });
`;

/** The program in a shell that allows it so many open files. */
function under(limit: number): Place {
  return { program: ["/bin/sh", "-c", `ulimit -n ${limit}; exec "$0" "$@"`, LAUNCHER] };
}

function outcomesOf({ stdout }: Ended): Record<string, number> {
  return (JSON.parse(stdout) as { outcomes: Record<string, number> }).outcomes;
}

interface WebPlan {
  readonly siteCount: number;
  readonly pagesPerSite: number;
  readonly pageBytes?: number;
}

interface Web extends AsyncDisposable {
  readonly seeds: readonly string[];
  /** Open at the same time. */
  connectionsMost(): number;
  /** Resolves after so many requests. */
  asked(requests: number): Promise<void>;
  forget(): void;
}

/** Sites on one port, each on an address of its own: 127.0.0.1 and up. */
async function startWeb({ siteCount, pagesPerSite, pageBytes = 100 }: WebPlan): Promise<Web> {
  let open = 0;
  let most = 0;
  let requests = 0;
  const links = Array.from({ length: pagesPerSite - 1 }, (_, index) => `<a href="/${index + 1}">`);
  const server = createServer((request, response) => {
    requests += 1;
    const number = /^\/(\d*)$/.exec(request.url ?? "");
    if (number === null) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`${links.join(" ")} ${wordsOf(`${request.headers.host}${number[1]}`, pageBytes)}`);
  });
  server.on("connection", (socket) => {
    most = Math.max(most, ++open);
    socket.on("close", () => (open -= 1));
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    seeds: Array.from({ length: siteCount }, (_, index) => `http://127.0.0.${index + 1}:${port}/`),
    connectionsMost: () => most,
    asked: async (count) => {
      while (requests < count) await new Promise((resolve) => setTimeout(resolve, 10));
    },
    forget: () => (most = open),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Text that does not compress well. */
function wordsOf(seed: string, bytes: number): string {
  let state = [...seed].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7);
  let text = "";
  while (text.length < bytes) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    text += `${state.toString(36)} `;
  }
  return text;
}
