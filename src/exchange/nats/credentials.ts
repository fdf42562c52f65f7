/** Authentication methods of a NATS server, and the files that some of them use. */

import { readFileSync } from "node:fs";
import type { Authenticator } from "@nats-io/transport-node";
import { CrawlError } from "../../base/errors.ts";

export type NatsCredentials =
  /** A file of `nsc` with a user's token and key. */
  | { readonly kind: "file"; readonly path: string }
  /** A file with the seed of a key whose public half the server knows. */
  | { readonly kind: "nkey"; readonly path: string }
  | { readonly kind: "password"; readonly user: string; readonly password: string }
  | { readonly kind: "token"; readonly token: string };

/** Reports a missing file at the start; the library would retry without end. */
export function checkReadable(path: string): void {
  try {
    readFileSync(path);
  } catch (cause) {
    throw new CrawlError("FILE_UNREADABLE", `${path}: cannot be read`, { cause });
  }
}

export async function authenticatorOf(
  credentials: NatsCredentials | undefined,
): Promise<Authenticator | undefined> {
  if (credentials === undefined) return undefined;
  const nats = await import("@nats-io/transport-node");
  switch (credentials.kind) {
    case "password":
      return nats.usernamePasswordAuthenticator(credentials.user, credentials.password);
    case "token":
      return nats.tokenAuthenticator(credentials.token);
    case "file":
      return rereading(credentials.path, (bytes) => nats.credsAuthenticator(bytes));
    case "nkey":
      return rereading(credentials.path, (bytes) =>
        nats.nkeyAuthenticator(Buffer.from(Buffer.from(bytes).toString().trim())),
      );
  }
}

/** Reads the file for every connection, so that a new one takes effect; a bad one is refused at the start only. */
function rereading(path: string, make: (bytes: Uint8Array) => Authenticator): Authenticator {
  const read = (): Authenticator => {
    const authenticator = make(readFileSync(path));
    authenticator("to see whether it signs");
    return authenticator;
  };
  let latest: Authenticator;
  try {
    latest = read();
  } catch (cause) {
    const what = `${path}: no credentials can be read from it`;
    throw new CrawlError("FILE_UNREADABLE", what, { cause });
  }
  return (nonce) => {
    try {
      latest = read();
    } catch {
      // It may be being written at this moment.
    }
    return latest(nonce);
  };
}
