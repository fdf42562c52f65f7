import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { run, temporaryFolder } from "./program.ts";

const ARTICLES = 30;
/** Words that make every article, and every list of them, another text. */
const text = (from: number): string =>
  Array.from({ length: 60 }, (_, at) => `word${(from * 61 + at * at * 7) % 5_003}`).join(" ");

/** A wiki: every article has an edit page, a history and old versions, none of them to be indexed. */
function answer(url: URL): string {
  const id = Number(url.searchParams.get("id") ?? 0);
  const links = [id + 1, id + 2].filter((next) => next < ARTICLES).map((next) => `?id=${next}`);
  const actions = ["edit", "history", "info"].map((action) => `?id=${id}&action=${action}`);
  const versions = [1, 2, 3].map((version) => `?id=${id}&version=${version}`);
  const isAction = url.searchParams.has("action") || url.searchParams.has("version");
  const all = isAction ? [] : [...links, ...actions, ...versions];
  return `<!doctype html><title>${url.search}</title>
    ${isAction ? "<meta name=robots content=noindex>" : ""}<p>${text(id)} ${url.search}</p>
    ${all.map((link) => `<a href="/wiki${link}">${link}</a>`).join(" ")}`;
}

test("worthless shapes are requested last and sampled, no article is lost, --traps off requests all", async () => {
  const requested: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://a.test");
    requested.push(url.search);
    if (url.pathname === "/wiki") response.setHeader("content-type", "text/html");
    if (url.pathname === "/wiki") response.end(answer(url));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const seed = `http://127.0.0.1:${(server.address() as AddressInfo).port}/wiki`;
  using folder = temporaryFolder();
  const words = ["crawl", seed, "--fresh", "--json", "--allow-private", "127.0.0.0/8"];
  const crawl = async (choice: string): Promise<Record<string, number>> => {
    requested.length = 0;
    const out = join(folder.path, "out");
    const { stdout } = await run([...words, "--out", out, "--traps", choice]);
    return (JSON.parse(stdout) as { outcomes: Record<string, number> }).outcomes;
  };
  try {
    const learnt = await crawl("learn");
    const isContent = (query: string): boolean => /^\?id=\d+$/.test(query);
    const articles = new Set(requested.filter(isContent)).size;
    assert.equal(articles, ARTICLES - 1, "all but the first, which is the home page");
    const junk = requested.filter((query) => /action|version/.test(query));
    assert.ok(junk.length < 25, `${junk.length} worthless pages requested`);
    assert.ok((learnt["trap_useless"] ?? 0) > 130, JSON.stringify(learnt));
    const lastArticle = requested.findLastIndex(isContent);
    const firstAction = requested.findIndex((query) => query.includes("action"));
    assert.ok(lastArticle < firstAction, "actions of known software go last");
    const all = await crawl("off");
    assert.deepEqual(all, { ok: 1 + (ARTICLES - 1) + 6 * ARTICLES });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
