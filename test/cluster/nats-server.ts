/**
 * A real nats-server for a test, on a free loopback port with its store in a temporary folder.
 *
 * It can be killed as by a power cut, started again on the same port, and have its store wiped in
 * between. One that crashes is started again, as by a service manager: version 2.9.10, Debian's, crashes
 * when a stream is read while another client creates it, as after the loss of the store (`jsMsgGetRequest`
 * in its stack). `await using` ends it and removes the folder. Debian's package puts the program where
 * ordinary users do not look, and `npm test` beside the packages, so both places are looked into too.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const START_MS_MAX = 15_000;

const PROGRAM = [
  ...(process.env["PATH"] ?? "").split(":").map((folder) => join(folder, "nats-server")),
  "/usr/sbin/nats-server",
  join(import.meta.dirname, "../../node_modules/.cache/nats-server/usr/sbin/nats-server"),
].find((path) => existsSync(path));

/** For `test`'s `skip`: why there is no server here, or false. */
export const NATS_MISSING: string | false =
  PROGRAM === undefined && "nats-server is not installed (Debian: apt-get install nats-server)";

export interface NatsServerOptions {
  /** On unless this is false. */
  readonly jetstream?: boolean;
  /** Lines for the configuration file: authorization, tls, max_payload, leafnodes … */
  readonly config?: string;
}

export class NatsServer implements AsyncDisposable {
  readonly port: number;
  readonly folder: string;
  #child: ChildProcess | undefined;

  constructor(port: number, folder: string) {
    this.port = port;
    this.folder = folder;
  }

  static async start(options: NatsServerOptions = {}): Promise<NatsServer> {
    const folder = await mkdtemp(join(tmpdir(), "weir-nats-"));
    const server = new NatsServer(await freePort(), folder);
    const store = options.jetstream === false ? "" : `jetstream { store_dir: "${folder}/store" }`;
    const lines = [`listen: "127.0.0.1:${server.port}"`, store, options.config ?? ""];
    await writeFile(join(folder, "nats.conf"), `${lines.join("\n")}\n`);
    try {
      await server.restart();
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Ends it without a warning, as a power cut would. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** Starts it (after killing it) on its port, and waits until it listens. */
  async restart(): Promise<void> {
    await this.kill();
    if (PROGRAM === undefined) throw new Error(String(NATS_MISSING));
    const [config, log] = [join(this.folder, "nats.conf"), join(this.folder, "nats.log")];
    const child = spawn(PROGRAM, ["-c", config, "-l", log], { stdio: "ignore" });
    this.#child = child;
    let wasUp = false;
    child.once("exit", () => {
      if (wasUp && this.#child === child) this.restart().catch(() => undefined);
    });
    for (
      const endMs = performance.now() + START_MS_MAX;
      performance.now() < endMs;
      await wait(20)
    ) {
      if (child.exitCode !== null) break;
      wasUp = await isListening(this.port);
      if (wasUp) return;
    }
    throw new Error(`nats-server does not start:\n${await readFile(log, "utf8").catch(String)}`);
  }

  /** Loses everything it had stored, and starts again. */
  async wipe(): Promise<void> {
    await this.kill();
    await rm(join(this.folder, "store"), { recursive: true, force: true });
    await this.restart();
  }

  /** Replaces the lines given at the start; takes effect with the next restart. */
  async configure(change: (text: string) => string): Promise<void> {
    const file = join(this.folder, "nats.conf");
    await writeFile(file, change(await readFile(file, "utf8")));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** A server sends INFO when it is ready; an open port alone could belong to another program. */
function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const end = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("data", end(true)).once("error", end(false)).once("close", end(false));
    socket.setTimeout(1_000, end(false));
  });
}
