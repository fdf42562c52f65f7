/**
 * A web of hostile servers on loopback, one for each row, each on a port of its own.
 *
 * `startHostileWeb()` answers with where each row is and how a fetch of it must end; the same web
 * serves tests of the fetcher alone and of a whole crawl. Every request for /robots.txt that can
 * be answered is answered with 404, so that a crawl reaches the row itself.
 */

import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import { Worker } from "node:worker_threads";
import { until } from "../../src/base/patient-clock.suite.ts";
import { answer, type Row } from "./row.ts";
import { CODING_ROWS, PAGE_ROWS, SIZE_ROWS } from "./rows-body.ts";
import { CONNECTION_ROWS, TLS_ROWS } from "./rows-connection.ts";
import { FRAMING_ROWS, REDIRECT_ROWS } from "./rows-http.ts";

export const HOSTILE_ROWS: readonly Row[] = [
  ...CONNECTION_ROWS,
  ...TLS_ROWS,
  ...FRAMING_ROWS,
  ...REDIRECT_ROWS,
  ...CODING_ROWS,
  ...SIZE_ROWS,
  ...PAGE_ROWS,
];

export interface HostilePlace {
  readonly row: Row;
  readonly url: string;
}

export interface HostileWeb extends AsyncDisposable {
  readonly places: readonly HostilePlace[];
  /** Connections that are still open. */
  openSockets(): number;
}

const ROBOTS = answer("404 None", "Content-Type: text/plain\r\n");

/** Each row has a port of its own, and an address of its own where `addressOf` gives one. */
export async function startHostileWeb(
  rows: readonly Row[] = HOSTILE_ROWS,
  addressOf: (index: number) => string = () => "127.0.0.1",
): Promise<HostileWeb> {
  const sockets = new Set<Socket>();
  const stops: (() => Promise<unknown> | void)[] = [];
  const places: HostilePlace[] = [];
  for (const [index, row] of rows.entries()) {
    const address = row.port === "full" ? "127.0.0.1" : addressOf(index);
    const port =
      row.port === "full" ? await fullPort(stops) : await rowPort(row, { address, sockets, stops });
    const scheme = row.tls === undefined ? "http" : "https";
    places.push({ row, url: `${scheme}://${address}:${port}/` });
  }
  return {
    places,
    openSockets: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

interface Place {
  readonly address: string;
  readonly sockets: Set<Socket>;
  readonly stops: (() => Promise<unknown> | void)[];
}

async function rowPort(row: Row, { address, sockets, stops }: Place): Promise<number> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", ignore).on("close", () => sockets.delete(socket));
    if (row.onConnection !== undefined) row.onConnection(socket);
    else serveRequests(row.tls === undefined ? socket : secured(socket, row.tls), socket, row);
  });
  const port = await listen(server, address);
  if (row.port === "closed") await close(server);
  else stops.push(() => close(server));
  return port;
}

function secured(socket: Socket, tls: NonNullable<Row["tls"]>): Socket {
  const secureContext = createSecureContext(tls);
  return new TLSSocket(socket, { isServer: true, secureContext }).on("error", ignore);
}

function serveRequests(socket: Socket, tcp: Socket, row: Row): void {
  let earlier = 0;
  let pending = "";
  socket.on("data", (chunk) => {
    pending += chunk.toString("latin1");
    for (let end = pending.indexOf("\r\n\r\n"); end >= 0; end = pending.indexOf("\r\n\r\n")) {
      const head = pending.slice(0, end + 4);
      pending = pending.slice(end + 4);
      const path = head.split(" ", 2)[1] ?? "/";
      if (path === "/robots.txt") socket.write(ROBOTS);
      else row.onRequest?.({ socket, tcp, earlier: earlier++, path, head });
    }
  });
}

/**
 * A port where connections hang: its owner never accepts them, and its queue is full, so that the
 * kernel drops each further SYN.
 */
async function fullPort(stops: (() => Promise<unknown> | void)[]): Promise<number> {
  const worker = new Worker(
    `const { parentPort } = require("node:worker_threads");
     const server = require("node:net").createServer().listen(0, "127.0.0.1", 1, () => {
       parentPort.postMessage(server.address().port);
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
     });`,
    { eval: true },
  );
  const port = await new Promise<number>((resolve) => worker.once("message", resolve));
  let connected = 0;
  const fillers = Array.from({ length: 4 }, () =>
    connect(port, "127.0.0.1", () => connected++).on("error", ignore),
  );
  // A queue of length 1 holds two connections.
  await until(() => connected === 2, "a full queue");
  stops.push(() => {
    for (const filler of fillers) filler.destroy();
    return worker.terminate();
  });
  return port;
}

function listen(server: Server, address: string): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, address, () => resolve((server.address() as AddressInfo).port));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function ignore(): void {}
