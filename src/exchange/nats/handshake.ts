/**
 * Finds the server that responds first, by the greeting that a NATS server sends on connection.
 *
 * The client library would try the servers one after the other, and keep a socket open without end to one that accepts
 * the connection and sends nothing.
 */

import { connect } from "node:net";

export interface Greeting {
  readonly server: string;
  readonly wantsTls: boolean;
}

const NATS_PORT = 4222;

/** Rejects with the reason of each server if none responds in time. */
export async function firstGreeting(
  servers: readonly string[],
  withinMs: number,
): Promise<Greeting> {
  const decided = new AbortController();
  try {
    return await Promise.any(servers.map((server) => greetingOf(server, withinMs, decided.signal)));
  } finally {
    decided.abort();
  }
}

function greetingOf(server: string, withinMs: number, signal: AbortSignal): Promise<Greeting> {
  const { promise, resolve, reject } = Promise.withResolvers<Greeting>();
  const { hostname, port } = new URL(server.replace(/^(\w+:\/\/)?/, "http://"));
  const host = hostname.replaceAll(/[[\]]/g, "");
  const socket = connect({ host, port: Number(port || NATS_PORT), signal });
  const fail = (error: Error): void => {
    socket.destroy();
    reject(error);
  };
  socket.once("data", (bytes: Buffer) => {
    const text = bytes.toString("latin1");
    if (!text.startsWith("INFO ")) return fail(new Error(`${server} is not NATS`));
    resolve({ server, wantsTls: /"tls_(required|verify)":\s*true/.test(text) });
    socket.destroy();
  });
  socket.on("error", fail);
  socket.once("close", () => fail(new Error(`${server} says nothing`)));
  socket.setTimeout(withinMs, () => fail(new Error(`${server} does not answer`)));
  return promise;
}
