/**
 * One connection to NATS with JetStream, for as long as the program runs.
 *
 * At the start every way it can fail is told within seconds, with a code and a remedy, because
 * then somebody is looking. Once it has stood it is never given up: it is tried again for ever,
 * soon at first and then every few seconds, with the same credentials or what their file says by
 * then. The client library is loaded here and nowhere else, when it is asked for.
 */

import { readFileSync } from "node:fs";
import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import type { Authenticator, ConnectionOptions, NatsConnection } from "@nats-io/transport-node";
import { type Clock, sleep, systemClock } from "../base/clock.ts";
import { CrawlError } from "../base/errors.ts";
import { type Log, silentLog } from "../base/log.ts";
import { systemRandom } from "../base/random.ts";
import { natsTrouble, wantsTls } from "./nats-trouble.ts";

export type NatsCredentials =
  /** What `nsc` makes: a user's token and key in one file. */
  | { readonly kind: "file"; readonly path: string }
  /** A file with the seed of a key whose public half the server knows. */
  | { readonly kind: "nkey"; readonly path: string }
  | { readonly kind: "password"; readonly user: string; readonly password: string }
  | { readonly kind: "token"; readonly token: string };

export interface NatsOptions {
  /** `nats://host:4222`; with `tls://` a server without TLS is refused. */
  readonly servers: readonly string[];
  /** Free text; crawls of different names share a server and do not meet. */
  readonly crawl: string;
  readonly credentials?: NatsCredentials | undefined;
  /** Paths of PEM files: whom to trust, and who we are. */
  readonly tls?:
    | {
        readonly caFile?: string | undefined;
        readonly certFile?: string | undefined;
        readonly keyFile?: string | undefined;
      }
    | undefined;
  /** Of JetStream, where the server at hand is a leaf and another one stores. */
  readonly domain?: string | undefined;
  /** Servers of a cluster that keep a copy; 1 where there is one server. */
  readonly replicas?: number | undefined;
  readonly log?: Log | undefined;
  readonly clock?: Clock | undefined;
}

export interface NatsLink {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  /** Where JetStream listens to requests. */
  readonly apiPrefix: string;
  /** False from the moment it is known to be broken until it stands again. */
  isUp(): boolean;
  /** Called whenever it stands again after having been broken. */
  onUp(callBack: () => void): void;
  close(): Promise<void>;
}

/** Holds any note and any entry of the registry with their names, and a piece of a parcel. */
const PAYLOAD_BYTES_MIN = 128 * 1024;
const START_MS_MAX = 5_000;
const REQUEST_MS_MAX = 2_000;
/** A server that answers nothing is left after about three of these. */
const PING_MS = 5_000;
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 5_000;

export async function connectNats(options: NatsOptions): Promise<NatsLink> {
  const clock = options.clock ?? systemClock;
  const where = options.servers.join(", ");
  let connection: NatsConnection | undefined;
  try {
    const { jetstream, jetstreamManager } = await import("@nats-io/jetstream");
    const backOff = new BackOff(clock);
    connection = await connectInTime(await clientOptions(options, backOff), clock);
    checkPayload(connection);
    const api = {
      timeout: REQUEST_MS_MAX,
      ...(options.domain !== undefined && { domain: options.domain }),
    };
    const manager = await jetstreamManager(connection, api);
    const link = new Link(connection, {
      client: jetstream(connection, api),
      manager,
      apiPrefix: options.domain === undefined ? "$JS.API" : `$JS.${options.domain}.API`,
      backOff,
    });
    link.attend(options.log ?? silentLog);
    return link;
  } catch (error) {
    await connection?.close();
    const trouble = natsTrouble(error, where);
    // A server that does not like our certificate says so only by silence.
    if (trouble.code === "BUS_UNREACHABLE" && (await wantsTls(options.servers)))
      throw new CrawlError("BUS_TLS", trouble.message, { cause: error });
    throw trouble;
  }
}

async function connectInTime(options: ConnectionOptions, clock: Clock): Promise<NatsConnection> {
  const { connect } = await import("@nats-io/transport-node");
  const connecting = connect(options);
  const late = new AbortController();
  try {
    const inTime = await Promise.race([connecting, sleep(clock, START_MS_MAX, late.signal)]);
    if (inTime !== undefined) return inTime;
  } finally {
    late.abort();
  }
  connecting.then(
    (tooLate) => tooLate.close(),
    () => {},
  );
  throw new Error("no answer");
}

function checkPayload({ info }: NatsConnection): void {
  const bytesMax = info?.max_payload ?? 0;
  if (bytesMax >= PAYLOAD_BYTES_MIN) return;
  const what = `NATS takes messages of up to ${bytesMax} bytes; ${PAYLOAD_BYTES_MIN} are needed`;
  throw new CrawlError("BUS_PAYLOAD", what);
}

async function clientOptions(options: NatsOptions, backOff: BackOff): Promise<ConnectionOptions> {
  const { servers, tls } = options;
  const isTls = tls !== undefined || servers.some((server) => server.startsWith("tls://"));
  for (const path of Object.values(tls ?? {})) if (path !== undefined) checkReadable(path);
  const authenticator = await authenticatorOf(options.credentials);
  return {
    servers: [...servers],
    name: `weir ${options.crawl}`,
    ...(authenticator && { authenticator }),
    ...(isTls && { tls: definedOf(tls ?? {}) }),
    timeout: Math.max(1_000, Math.floor((0.9 * START_MS_MAX) / servers.length)),
    maxReconnectAttempts: -1,
    // Credentials that are wrong today may be right when the server has been set right.
    ignoreAuthErrorAbort: true,
    reconnectDelayHandler: () => backOff.delayMs(),
    pingInterval: PING_MS,
    maxPingOut: 2,
    noAsyncTraces: true,
  };
}

function checkReadable(path: string): void {
  try {
    readFileSync(path);
  } catch (cause) {
    throw new CrawlError("FILE_UNREADABLE", `${path}: cannot be read`, { cause });
  }
}

async function authenticatorOf(
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

/** Asks the file at every connection, so that a new one takes effect; a bad one only at the start. */
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
      // Somebody may be writing it just now.
    }
    return latest(nonce);
  };
}

function definedOf<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** Waits longer the longer a connection has been missing, and never exactly as long as others. */
class BackOff {
  readonly #clock: Clock;
  #brokenAtMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isBroken(): boolean {
    return this.#brokenAtMs !== undefined;
  }

  broken(): void {
    this.#brokenAtMs ??= this.#clock.nowMs();
  }

  mended(): void {
    this.#brokenAtMs = undefined;
  }

  delayMs(): number {
    const missingMs = this.#clock.nowMs() - (this.#brokenAtMs ?? this.#clock.nowMs());
    const delayMs = Math.min(RETRY_MS_MAX, Math.max(RETRY_MS_MIN, missingMs / 4));
    return delayMs * (0.75 + 0.5 * systemRandom.next());
  }
}

class Link implements NatsLink {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly apiPrefix: string;
  readonly #backOff: BackOff;
  readonly #callBacks: (() => void)[] = [];

  constructor(
    connection: NatsConnection,
    parts: Pick<NatsLink, "client" | "manager" | "apiPrefix"> & { readonly backOff: BackOff },
  ) {
    this.connection = connection;
    this.client = parts.client;
    this.manager = parts.manager;
    this.apiPrefix = parts.apiPrefix;
    this.#backOff = parts.backOff;
  }

  isUp(): boolean {
    return !this.#backOff.isBroken && !this.connection.isClosed();
  }

  onUp(callBack: () => void): void {
    this.#callBacks.push(callBack);
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  /** Follows what happens to the connection until it is closed. */
  async attend(log: Log): Promise<void> {
    for await (const status of this.connection.status()) {
      if (status.type === "disconnect") {
        this.#backOff.broken();
        log.write({
          level: "warn",
          message: "lost NATS, trying again",
          values: { server: status.server },
        });
      } else if (status.type === "reconnect") {
        this.#backOff.mended();
        log.write({
          level: "info",
          message: "NATS is back",
          values: { server: status.server },
        });
        for (const callBack of this.#callBacks) callBack();
      } else if (status.type === "error") {
        const { message } = status.error;
        log.write({ level: "warn", message: "NATS complains", values: { reason: message } });
      }
    }
  }
}
