/**
 * Finds in what the NATS client throws the error an operator can do something about.
 *
 * It is told by names and codes, not by classes, so that the library need not be loaded for it.
 */

import { connect } from "node:net";
import { CrawlError } from "../base/errors.ts";

/** JetStream's own: not enabled in the server, or not for this account. */
const NO_JETSTREAM = new Set([10039, 10076]);
/** JetStream's own: no memory, storage, streams or consumers left for this account or server. */
const NO_ROOM = new Set([10002, 10023, 10026, 10027, 10028, 10047]);
const TLS_CODE =
  /^(ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/;
const DENIED = new Set([
  "AuthorizationError",
  "UserAuthenticationExpiredError",
  "PermissionViolationError",
]);

const NATS_PORT = 4222;
const GREETING_MS_MAX = 1_000;

interface Clues {
  readonly names: readonly string[];
  readonly codes: readonly (string | number)[];
  readonly message: string;
}

export function natsTrouble(error: unknown, where: string): CrawlError {
  if (error instanceof CrawlError) return error;
  const { names, codes, message } = cluesOf(error);
  const told = (what: string): string => `NATS at ${where}: ${what} (${message})`;
  if (names.some((name) => DENIED.has(name)))
    return new CrawlError("BUS_DENIED", told("we are not let in"), { cause: error });
  if (isTls(codes, message))
    return new CrawlError("BUS_TLS", told("no secure connection"), { cause: error });
  if (codes.some((code) => typeof code === "number" && NO_ROOM.has(code)))
    return new CrawlError("BUS_NO_JETSTREAM", told("JetStream has no room"), { cause: error });
  const isOff = codes.some((code) => typeof code === "number" && NO_JETSTREAM.has(code));
  if (isOff || names.includes("JetStreamNotEnabled") || names.includes("NoResponders"))
    return new CrawlError("BUS_NO_JETSTREAM", told("JetStream is not enabled"), { cause: error });
  return new CrawlError("BUS_UNREACHABLE", told("no connection"), { cause: error });
}

function isTls(codes: Clues["codes"], message: string): boolean {
  return (
    codes.some((code) => typeof code === "string" && TLS_CODE.test(code)) ||
    message.includes("'tls'")
  );
}

/** Whether one of the servers, by what each says first and in the clear, wants a secure connection. */
export async function wantsTls(servers: readonly string[]): Promise<boolean> {
  const greetings = await Promise.all(servers.map(greetingOf));
  return greetings.some((greeting) => /"tls_(required|verify)":\s*true/.test(greeting));
}

function greetingOf(server: string): Promise<string> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(server.replace(/^(\w+:\/\/)?/, "http://"));
    const socket = connect(Number(port || NATS_PORT), hostname.replaceAll(/[[\]]/g, ""));
    const end = (text: string): void => {
      socket.destroy();
      resolve(text);
    };
    socket.once("data", (bytes: Buffer) => end(bytes.toString("latin1")));
    socket.once("error", () => end("")).once("close", () => end(""));
    socket.setTimeout(GREETING_MS_MAX, () => end(""));
  });
}

/** The names and codes of an error and of what caused it. */
function cluesOf(error: unknown): Clues {
  const names: string[] = [];
  const codes: (string | number)[] = [];
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    names.push(at.name);
    const { code } = at as { code?: unknown };
    if (typeof code === "string" || typeof code === "number") codes.push(code);
  }
  return { names, codes, message: error instanceof Error ? error.message : String(error) };
}
