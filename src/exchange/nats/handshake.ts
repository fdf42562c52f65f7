/**
 * Finds the server that answers first, by what a NATS server says before anything is asked of it.
 *
 * The client library would try one server after the other, and leave a socket open for ever at the last
 * one that takes a connection and says nothing.
 */

import { connect } from "node:net";

export interface Greeting {
  readonly server: string;
  readonly wantsTls: boolean;
}

const NATS_PORT = 4222;

/** Rejects with everybody's reason when nobody answers in time. */
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
