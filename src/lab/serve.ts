/**
 * Serves a world over real HTTP on loopback, for crawlers with real sockets.
 *
 * Sites are distinguished by address (127.1.0.1 and up) or by Host header on one server, or by port.
 * Unpaced, a site answers as fast as it can write the page; paced, it has the world's latency and
 * hourly speed in real time. Requests are logged on the server's side.
 *
 * Only loopback is served: connections to any other local address are closed.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { assert } from "../base/assert.ts";
import { RequestLog } from "./request-log.ts";
import { respond, siteNamed, type WorldAnswer } from "./world.ts";
import { addressedSites, hostedSites, portedSites } from "./world/naming.ts";
import { makeWorld, type World, type WorldPlan } from "./world/plan.ts";
import { type Site, speedBpsAt } from "./world/site.ts";

/** How {@link serveWorld} names and slows down its sites. */
export interface ServeOptions {
  /** How sites are distinguished. */
  readonly by: "address" | "host" | "port";
  /** Whether sites have the latency and speed of the world. */
  readonly paced?: boolean;
  /** The port of all sites; a free one when absent. Ignored when sites are distinguished by port. */
  readonly port?: number;
}

/** A synthetic web on loopback; close it, or declare it with `await using`. */
export interface WorldServer extends AsyncDisposable {
  readonly world: World;
  readonly log: RequestLog;
  close(): Promise<void>;
}

/** Most sites by port, because each port is a listening socket. */
const PORTS_MAX = 1_000;
const CHUNK_BYTES_MAX = 16_384;
/** Interval between the chunks of a paced body: many per body, but long enough for accurate timers. */
const CHUNK_MS = 50;

/**
 * Serves a synthetic web over HTTP on loopback, to test a crawler with real sockets.
 *
 * @example
 * import { crawl } from "weir";
 * import { seedUrls, serveWorld } from "weir/lab";
 *
 * await using web = await serveWorld({ siteCount: 2, pagesMax: 30 }, { by: "port" });
 * const { pages } = await crawl({
 *   urls: seedUrls(web.world),
 *   allowPrivate: ["127.0.0.0/8"],
 *   onPage: ({ url, title }) => console.log(url, title),
 * });
 * console.log(pages, "pages,", web.log.entries.length, "requests");
 */
export async function serveWorld(
  plan: Partial<WorldPlan>,
  options: ServeOptions,
): Promise<WorldServer> {
  const log = new RequestLog();
  const servers: Server[] = [];
  let world: World = makeWorld(plan);
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    answer({ world, log, paced: options.paced ?? false }, request, response);
  };

  if (options.by === "port") {
    assert(world.plan.siteCount <= PORTS_MAX, "too many sites by port");
    for (let site = 0; site < world.plan.siteCount; site++) {
      servers.push(await listen(listener, 0, "127.0.0.1"));
    }
    world = makeWorld(plan, portedSites(servers.map(portOf)));
  } else {
    const byAddress = options.by === "address";
    const server = await listen(listener, options.port ?? 0, byAddress ? "0.0.0.0" : "127.0.0.1");
    servers.push(server);
    world = makeWorld(
      plan,
      byAddress ? addressedSites(portOf(server)) : hostedSites(portOf(server)),
    );
  }

  const close = async (): Promise<void> => {
    await Promise.all(servers.map(stop));
  };
  return { world, log, close, [Symbol.asyncDispose]: close };
}

interface Served {
  readonly world: World;
  readonly log: RequestLog;
  readonly paced: boolean;
}

function answer(served: Served, request: IncomingMessage, response: ServerResponse): void {
  const { world, log, paced } = served;
  const path = request.url ?? "/";
  const site = siteNamed(world, request.headers.host ?? "");
  if (site === undefined) {
    response.writeHead(421).end();
    return;
  }
  const { origin, address } = site;
  const ended = log.begin({ site: origin, address, path, startMs: performance.now() });
  const made = respond(world, site, path, request.headers["if-none-match"]);
  response.once("close", () => {
    const whole = response.writableFinished;
    ended({ endMs: performance.now(), status: response.headersSent ? made.status : 0, whole });
  });
  if (paced) setTimeout(() => writePaced(site, made, response), site.latencyMs + site.thinkMs);
  else writeHead(made, response).end(made.body);
}

function writePaced(site: Site, made: WorldAnswer, response: ServerResponse): void {
  writeHead(made, response);
  let sent = 0;
  const writeNext = (): void => {
    if (response.destroyed) return;
    const bytesPerChunk = Math.ceil((speedBpsAt(site, Date.now()) * CHUNK_MS) / 1000);
    const chunk = made.body.subarray(sent, sent + Math.min(bytesPerChunk, CHUNK_BYTES_MAX));
    sent += chunk.length;
    response.write(chunk);
    if (sent >= made.body.length) response.end();
    else setTimeout(writeNext, (chunk.length / bytesPerChunk) * CHUNK_MS);
  };
  if (made.body.length === 0) response.end();
  else writeNext();
}

function writeHead(made: WorldAnswer, response: ServerResponse): ServerResponse {
  return response.writeHead(made.status, made.statusText, made.headers.flat());
}

async function listen(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
  port: number,
  address: string,
): Promise<Server> {
  const server = createServer({ keepAliveTimeout: 30_000 }, listener);
  server.on("connection", (socket) => {
    if (socket.localAddress?.startsWith("127.") !== true) socket.destroy();
  });
  server.listen(port, address);
  await new Promise<void>((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", reject);
  });
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
