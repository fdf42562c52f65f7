/**
 * Translates errors of the NATS client into errors that an operator can fix.
 *
 * Recognised by names and codes, not by classes, so that the library need not be loaded.
 */

import { CrawlError } from "../../base/errors.ts";

/** JetStream's codes: not enabled in the server, or not for this account. */
const NO_JETSTREAM = new Set([10039, 10076]);
/** JetStream's codes: no memory, storage, streams or consumers left for this account or server. */
const NO_ROOM = new Set([10002, 10023, 10026, 10027, 10028, 10047]);
const TLS_CODE =
  /^(ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/;
const DENIED = new Set([
  "AuthorizationError",
  "UserAuthenticationExpiredError",
  "PermissionViolationError",
]);

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
    return new CrawlError("BUS_DENIED", told("access denied"), { cause: error });
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

/** Names and codes of an error and its causes. */
function cluesOf(error: unknown): Clues {
  const names: string[] = [];
  const codes: (string | number)[] = [];
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    names.push(at.name);
    const { code } = at as { code?: unknown };
    if (typeof code === "string" || typeof code === "number") codes.push(code);
  }
  return { names, codes, message: messageOf(error) };
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
