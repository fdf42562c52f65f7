/**
 * A world over real HTTP, on loopback: what a crawler of flesh and sockets can be let loose on.
 *
 * All sites share one server and are told apart by address (127.1.0.1 and up), by Host header, or
 * by port. Unpaced, it answers as fast as it can write the pages; paced, every site has the latency
 * and the speed that the world gives it at this hour, in real time. The log is the server's own.
 *
 * Only loopback is served: a connection that came in by another address is closed.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { assert } from "../base/assert.ts";
import { RequestLog } from "./request-log.ts";
import { respond, siteNamed, type WorldAnswer } from "./world.ts";
import { addressedSites, hostedSites, portedSites } from "./world/naming.ts";
import { makeWorld, type World, type WorldPlan } from "./world/plan.ts";
import { type Site, speedBpsAt } from "./world/site.ts";

export interface ServeOptions {
  /** How sites are told apart. */
  readonly by: "address" | "host" | "port";
  /** Whether latency and speed are those of the world. */
  readonly paced?: boolean;
  /** The port of all sites; any free one when absent, and always so when told apart by port. */
  readonly port?: number;
}

export interface WorldServer extends AsyncDisposable {
  readonly world: World;
  readonly log: RequestLog;
  close(): Promise<void>;
}

/** Each port is a listening socket; beyond this, tell sites apart by address. */
const PORTS_MAX = 1_000;
const CHUNK_BYTES_MAX = 16_384;
/** Short enough that a paced body arrives in many pieces, long enough for timers to keep. */
const CHUNK_MS = 50;

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
    assert(world.plan.siteCount <= PORTS_MAX, "sites by port are few");
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

interface Desk {
  readonly world: World;
  readonly log: RequestLog;
  readonly paced: boolean;
}

function answer(desk: Desk, request: IncomingMessage, response: ServerResponse): void {
  const { world, log, paced } = desk;
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
