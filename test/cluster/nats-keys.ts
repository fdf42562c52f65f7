/**
 * Keys and a credentials file as `nsc` would make them, for a server of one test.
 *
 * NATS's own tokens are JWTs signed by Ed25519 keys in its own spelling
 * (docs.nats.io, "JWT authentication"); an operator vouches for an account, that for a user.
 */

import { createHash } from "node:crypto";
import { nkeys } from "@nats-io/transport-node";

type KeyPair = ReturnType<typeof nkeys.createUser>;

export function newUserKey(): { readonly seed: string; readonly publicKey: string } {
  const pair = nkeys.createUser();
  return { seed: Buffer.from(pair.getSeed()).toString(), publicKey: pair.getPublicKey() };
}

/** Lines for a server's configuration, and a credentials file that it accepts. */
export function newCredentials(): { readonly config: string; readonly file: string } {
  const operator = nkeys.createOperator();
  const [account, system] = [nkeys.createAccount(), nkeys.createAccount()];
  const user = nkeys.createUser();
  const unlimited = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const limits = { subs: -1, data: -1, payload: -1, conn: -1, leaf: -1, ...unlimited };
  const accountToken = token(operator, account.getPublicKey(), { type: "account", limits });
  const userToken = token(account, user.getPublicKey(), { type: "user", subs: -1, payload: -1 });
  const config = [
    `operator: ${token(operator, operator.getPublicKey(), { type: "operator" })}`,
    "resolver: MEMORY",
    `system_account: ${system.getPublicKey()}`,
    "resolver_preload: {",
    `${account.getPublicKey()}: ${accountToken}`,
    `${system.getPublicKey()}: ${token(operator, system.getPublicKey(), { type: "account" })}`,
    "}",
  ];
  const seed = Buffer.from(user.getSeed()).toString();
  const file = section("NATS USER JWT", userToken) + section("USER NKEY SEED", seed);
  return { config: config.join("\n"), file };
}

function section(name: string, text: string): string {
  return `-----BEGIN ${name}-----\n${text}\n------END ${name}------\n\n`;
}

function token(issuer: KeyPair, subject: string, nats: object): string {
  const claims = {
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    name: subject,
    sub: subject,
    nats: { ...nats, version: 2 },
  };
  const jti = createHash("sha256").update(JSON.stringify(claims)).digest("hex");
  const head = base64url(JSON.stringify({ typ: "JWT", alg: "ed25519-nkey" }));
  const text = `${head}.${base64url(JSON.stringify({ ...claims, jti }))}`;
  return `${text}.${base64url(issuer.sign(Buffer.from(text)))}`;
}

function base64url(data: string | Uint8Array): string {
  return Buffer.from(data).toString("base64url");
}
