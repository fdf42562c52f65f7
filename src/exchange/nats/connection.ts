/**
 * One connection to NATS with JetStream, for the lifetime of the program.
 *
 * At the start every kind of failure is reported within seconds, with a code and a remedy. After that the connection is
 * never given up: reconnects are attempted without end, soon at first and then every few seconds, with the credentials of
 * that moment. The client library is loaded here only, on demand.
 */

import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import type { ConnectionOptions, NatsConnection } from "@nats-io/transport-node";
import { type Clock, sleep, systemClock } from "../../base/clock.ts";
import { CrawlError } from "../../base/errors.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { systemRandom } from "../../base/random.ts";
import { authenticatorOf, checkReadable, type NatsCredentials } from "./credentials.ts";
import { firstGreeting, type Greeting } from "./handshake.ts";
import { natsTrouble } from "./errors.ts";

export interface NatsOptions {
  /** `nats://host:4222`; with `tls://` a server without TLS is refused. */
  readonly servers: readonly string[];
  /** Free text; crawls of different names share a server without conflict. */
  readonly crawl: string;
  readonly credentials?: NatsCredentials | undefined;
  /** Paths of PEM files: the trusted authority, and the client's certificate and key. */
  readonly tls?:
    | {
        readonly caFile?: string | undefined;
        readonly certFile?: string | undefined;
        readonly keyFile?: string | undefined;
      }
    | undefined;
  /** JetStream domain, if the connected server is a leaf node and another one stores. */
  readonly domain?: string | undefined;
  /** Number of servers that keep a copy; 1 for a single server. */
  readonly replicas?: number | undefined;
  readonly log?: Log | undefined;
  readonly clock?: Clock | undefined;
}

export interface NatsLink {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  /** Prefix of JetStream's request subjects. */
  readonly apiPrefix: string;
  /** False from a detected disconnect until the reconnect. */
  isUp(): boolean;
  /** Called after every reconnect. */
  onUp(callBack: () => void): void;
  close(): Promise<void>;
}

/** Room for any control message, any registry entry with its names, and a piece of a parcel. */
const PAYLOAD_BYTES_MIN = 128 * 1024;
const GREETING_MS_MAX = 3_000;
const CONNECT_MS_MAX = 3_000;
const START_MS_MAX = 4_000;
const REQUEST_MS_MAX = 2_000;
/** Ping interval; a server that does not respond is left after about three. */
const PING_MS = 5_000;
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 5_000;

export async function connectNats(options: NatsOptions): Promise<NatsLink> {
  const where = options.servers.join(", ");
  let greeting: Greeting | undefined;
  try {
    greeting = await firstGreeting(options.servers, GREETING_MS_MAX);
    return await openLink(options, greeting.server);
  } catch (error) {
    const trouble = natsTrouble(error, where);
    // A server that rejects the client's certificate does not respond at all.
    if (trouble.code === "BUS_UNREACHABLE" && greeting?.wantsTls === true)
      throw new CrawlError("BUS_TLS", trouble.message, { cause: error });
    throw trouble;
  }
}

async function openLink(options: NatsOptions, first: string): Promise<NatsLink> {
  const { jetstream, jetstreamManager } = await import("@nats-io/jetstream");
  const { domain, clock = systemClock } = options;
  const backOff = new BackOff(clock);
  // The server that responded first is used first, so the client must not shuffle the list.
  const servers = [first, ...options.servers.filter((server) => server !== first)];
  const connection = await connectInTime(
    await clientOptions({ ...options, servers }, backOff),
    clock,
  );
  try {
    checkPayload(connection);
    const api = { timeout: REQUEST_MS_MAX, ...(domain !== undefined && { domain }) };
    const manager = await jetstreamManager(connection, api);
    const client = jetstream(connection, api);
    const apiPrefix = domain === undefined ? "$JS.API" : `$JS.${domain}.API`;
    const link = new Link(connection, { client, manager, apiPrefix, backOff });
    void link.attend(options.log ?? silentLog);
    return link;
  } catch (error) {
    await connection.close();
    throw error;
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
    timeout: CONNECT_MS_MAX,
    noRandomize: true,
    maxReconnectAttempts: -1,
    // Rejected credentials may be accepted once the server is reconfigured.
    ignoreAuthErrorAbort: true,
    reconnectDelayHandler: () => backOff.delayMs(),
    pingInterval: PING_MS,
    maxPingOut: 2,
    noAsyncTraces: true,
  };
}

function definedOf<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** A delay that grows while the connection is missing, with jitter. */
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

  /** Follows the state of the connection until it is closed. */
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
