/**
 * The dashboard's server: one folder's crawl for browsers on this machine.
 *
 * Every request is checked first (`guard.ts`), every path is looked up in a table (`routes.ts`,
 * `assets.ts`), every answer has the same strict headers. Connections, heads, bodies and event
 * streams are bounded. It listens on loopback by default.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CrawlError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import { type Asset, readAssets } from "./assets.ts";
import { Feed } from "./feed.ts";
import { Guard, SAFE_HEADERS } from "./guard.ts";
import { METRICS_TYPE, metricsText } from "./metrics.ts";
import { type Means, ROUTES } from "./routes.ts";
import type { ChangeAnswer } from "./shapes.ts";
import { Watch } from "./watch.ts";

export interface DashboardWish {
  readonly folder: string;
  readonly speedsFile: string | undefined;
  readonly address: string;
  readonly port: number;
  /** Whether another port will do when this one is taken. */
  readonly orOtherPort: boolean;
  readonly token: string | undefined;
}

export interface Dashboard extends AsyncDisposable {
  /** With the token, for the user who started it. */
  readonly url: string;
}

const CONNECTIONS_MAX = 64;
const HEAD_BYTES_MAX = 8192;
const BODY_BYTES_MAX = 4096;
const HEAD_MS_MAX = 5000;
const REQUEST_MS_MAX = 10_000;
const JSON_TYPE = "application/json; charset=utf-8";
const TEXT_TYPE = "text/plain; charset=utf-8";

export async function serveDashboard(wish: DashboardWish): Promise<Dashboard> {
  const watch = new Watch(wish.folder);
  const isNamed = !/^[\d.:]+$|:/.test(wish.address);
  const guard = new Guard({
    hostName: isNamed ? wish.address : undefined,
    token: wish.token,
  });
  const desk = new Desk(guard, { watch, folder: wish.folder, speedsFile: wish.speedsFile });
  const options = {
    maxHeaderSize: HEAD_BYTES_MAX,
    headersTimeout: HEAD_MS_MAX,
    requestTimeout: REQUEST_MS_MAX,
    connectionsCheckingInterval: 2000,
  };
  const server = createServer(options, (request, response) => void desk.answer(request, response));
  server.maxConnections = CONNECTIONS_MAX;
  await listening(server, wish);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${shownHost(wish.address)}:${port}/?token=${guard.token}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      await desk.close();
      // What is being sent may end; a page that keeps its line open is not waited for.
      setTimeout(() => server.closeAllConnections(), 200).unref();
      server.closeIdleConnections();
      await closed;
      watch[Symbol.dispose]();
    },
  };
}

async function listening(
  server: Server,
  { address, port, orOtherPort }: DashboardWish,
): Promise<void> {
  try {
    await listen(server, address, port);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EADDRINUSE" && orOtherPort) return listen(server, address, 0);
    const what = error instanceof Error ? error.message : String(error);
    throw new CrawlError("DASHBOARD_PORT", `The dashboard cannot listen: ${what}`, {
      cause: error,
    });
  }
}

async function listen(server: Server, address: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, address, () => {
    server.off("error", reject);
    resolve();
  });
  await promise;
}

/** A server on all addresses is shown with the one of loopback. */
function shownHost(address: string): string {
  if (address === "0.0.0.0" || address === "::") return "127.0.0.1";
  return address.includes(":") ? `[${address}]` : address;
}

class Desk {
  readonly #guard: Guard;
  readonly #means: Means;
  readonly #feed: Feed;
  #assets: ReadonlyMap<string, Asset> | undefined;

  constructor(guard: Guard, means: Means) {
    this.#guard = guard;
    this.#means = means;
    this.#feed = new Feed(() => means.watch.look());
  }

  async close(): Promise<void> {
    await this.#feed[Symbol.asyncDispose]();
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      for (const [name, value] of Object.entries(SAFE_HEADERS)) response.setHeader(name, value);
      await this.#judgeAndAnswer(request, response);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else sendText(response, 500, error instanceof CrawlError ? error.message : "A mistake here.");
    }
  }

  async #judgeAndAnswer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { path, query } = split(request.url ?? "/");
    const method = request.method ?? "";
    const verdict = this.#guard.judge(
      {
        method,
        path,
        headers: request.headers,
        localAddress: request.socket.localAddress ?? "",
        tokenInQuery: query.get("token") ?? undefined,
      },
      performance.now(),
    );
    if (verdict.kind === "refused") return sendText(response, verdict.status, verdict.why);
    if (verdict.kind === "welcome") return this.#welcome(response);
    if (path === "/metrics") return this.#metrics(method, response);
    const name = path.startsWith(this.#guard.base)
      ? path.slice(this.#guard.base.length)
      : undefined;
    if (name === undefined) return sendText(response, 404, "There is nothing here.");
    if (name === "api/change") return this.#change(request, response);
    if (method !== "GET" && method !== "HEAD") return sendText(response, 405, "Only GET here.");
    if (name === "api/events") return this.#events(response);
    // Read at the first request, because many dashboards are never opened.
    const asset = (this.#assets ??= readAssets()).get(name);
    if (asset !== undefined) return sendAsset(request, response, asset);
    const route = Object.hasOwn(ROUTES, name) ? ROUTES[name] : undefined;
    const answer = await route?.(this.#means, query);
    if (answer === undefined) return sendText(response, 404, "There is nothing here.");
    return send(response, 200, JSON_TYPE, JSON.stringify(answer));
  }

  /**
   * Hands out the session, and goes on to the page by itself: a redirect would count as coming from
   * wherever the link was, and a strict cookie is not sent then.
   */
  #welcome(response: ServerResponse): void {
    response.setHeader("set-cookie", this.#guard.cookie);
    const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Weir</title>
<link rel="icon" href="${this.#guard.base}app/dashboard/page/icon.svg">
<meta http-equiv="refresh" content="0;url=${this.#guard.base}"><p><a href="${this.#guard.base}">The dashboard</a></p></html>
`;
    send(response, 200, "text/html; charset=utf-8", page);
  }

  async #metrics(method: string, response: ServerResponse): Promise<void> {
    if (method !== "GET" && method !== "HEAD") return sendText(response, 405, "Only GET here.");
    send(response, 200, METRICS_TYPE, metricsText(await this.#means.watch.look()));
  }

  async #events(response: ServerResponse): Promise<void> {
    if (this.#feed.isFull) return sendText(response, 503, "Too many pages are open already.");
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    await this.#feed.add(response);
  }

  async #change(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "POST") return sendText(response, 405, "Only POST here.");
    const text = await bodyOf(request);
    if (text === undefined) return sendText(response, 413, "That is too much.");
    const wish = wishIn(text);
    if (wish === undefined) return sendText(response, 400, "A change is a key and a value.");
    // Refused or not, the question was well put; whether it was done is in the answer.
    send(response, 200, JSON_TYPE, JSON.stringify(await this.#ask(wish.key, wish.value)));
  }

  async #ask(key: string, value: string): Promise<ChangeAnswer> {
    try {
      return await this.#means.watch.change(key, value);
    } catch (error) {
      if (!(error instanceof CrawlError)) throw error;
      return { ok: false, message: `${error.message} ${error.remedy}` };
    }
  }
}

/** Not by `new URL`: an odd path must stay what it is, and find nothing. */
function split(target: string): { path: string; query: URLSearchParams } {
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  return { path, query: new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1)) };
}

/** undefined when there is more than anybody needs to say. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function wishIn(text: string): { readonly key: string; readonly value: string } | undefined {
  try {
    const { key, value } = JSON.parse(text) as { readonly key?: unknown; readonly value?: unknown };
    return typeof key === "string" && typeof value === "string" ? { key, value } : undefined;
  } catch {
    return undefined;
  }
}

function sendAsset(request: IncomingMessage, response: ServerResponse, asset: Asset): void {
  response.setHeader("etag", asset.tag);
  response.setHeader("cache-control", "no-cache");
  if (request.headers["if-none-match"] === asset.tag) response.writeHead(304).end();
  else send(response, 200, asset.type, asset.body);
}

function sendText(response: ServerResponse, status: number, words: string): void {
  send(response, status, TEXT_TYPE, `${visible(words, 500)}\n`);
}

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  const headers = { "content-type": type, "content-length": Buffer.byteLength(body) };
  response.writeHead(status, headers).end(body);
}
