/**
 * Opens one connection to one checked address: TCP, the way through a proxy if there is one, then TLS.
 *
 * The name in the URL is used for TLS and HTTP only; the packets go to the address that the guard
 * has allowed, and nothing looks the name up a second time. The TCP socket is made before the TLS
 * one, so that its counters hold every byte and each phase can be timed by itself.
 *
 * Through a proxy the address is the proxy's, which the operator chose; the proxy looks names up,
 * so where it connects to is for the proxy to guard. A fetch never goes around a failing proxy.
 */

import { connect as connectTcp, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls, type SecureContext, type TLSSocket } from "node:tls";
import { DialError, dialFailure } from "./failure.ts";
import type { Proxy } from "./proxy.ts";
import { openSocks } from "./socks5.ts";
import { Valve } from "./valve.ts";

export interface DialTarget {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
  readonly address: string;
}

export interface DialOptions {
  readonly proxy: Proxy | undefined;
  /** Accept any certificate; the answer then says that it was not verified. */
  readonly insecureTls: boolean;
  /** The certificates to accept and to present. */
  readonly trust: () => SecureContext;
  readonly http2: boolean;
  /** How much the system may take in unread; undefined: as it likes, and no valve is put in. */
  readonly windowBytes: number | undefined;
}

/** Notified of each step, so that its owner can time it and abort it. */
export interface DialWatch {
  onSocket(socket: Socket, valve: Valve | undefined): void;
  onTls(): void;
  /** Every read of a connection with a valve, as it comes. */
  onRead(): void;
}

/** What an open connection is read from: the socket itself, its valve's stream, or TLS on either. */
type DialDone = (error: DialError | null, stream: Duplex | TLSSocket | null) => void;

const PROXY_HEAD_BYTES_MAX = 16 * 1024;

export function dial(
  target: DialTarget,
  options: DialOptions,
  watch: DialWatch,
  done: DialDone,
): void {
  const { proxy } = options;
  const { socket, stream } = connect(target, options, watch);
  const finish = once(done, socket);
  const refuse = (error: Error): void => {
    const failure = dialFailure(error, "connect");
    const local = failure.reason === "local_resource";
    finish(proxy === undefined || local ? failure : proxyError(failure.message), null);
  };
  socket.once("error", refuse);
  socket.once("close", () => refuse(new Error("closed while connecting")));
  socket.once("connect", () => {
    socket.off("error", refuse);
    if (proxy?.kind === "socks5")
      openSocks(stream, target, proxy.login, (error) => {
        if (error !== undefined) finish(error, null);
        else if (target.scheme === "http") finish(null, stream);
        else secure(stream, { target, options, watch }, finish);
      });
    else if (target.scheme === "http") finish(null, stream);
    else if (proxy === undefined) secure(stream, { target, options, watch }, finish);
    else
      openTunnel(stream, target, proxy, (error) => {
        if (error === undefined) secure(stream, { target, options, watch }, finish);
        else finish(error, null);
      });
  });
}

/** The socket that connects and counts, and the stream to read from: the same one without a valve. */
function connect(
  target: DialTarget,
  { proxy, windowBytes }: DialOptions,
  watch: DialWatch,
): { readonly socket: Socket; readonly stream: Duplex } {
  const where = {
    host: proxy?.host ?? target.address,
    port: proxy?.port ?? target.port,
    noDelay: true,
    // Only a proxy may have a name; it is the operator's, so its addresses may be tried in turn.
    autoSelectFamily: proxy !== undefined && isIP(proxy.host) === 0,
  };
  if (windowBytes === undefined) {
    const socket = connectTcp(where);
    watch.onSocket(socket, undefined);
    return { socket, stream: socket };
  }
  // Which address a name will lead to is not known yet, and a window is opened for one.
  const address = isIP(where.host) === 0 ? undefined : where.host;
  const valve = new Valve({ address, windowBytes, onRead: () => watch.onRead() });
  watch.onSocket(valve.socket, valve);
  valve.socket.connect(where);
  return valve;
}

/** Calls back once; a failed connection is closed, and its later errors are ignored. */
function once(done: DialDone, socket: Socket): DialDone {
  let called = false;
  return (error, opened) => {
    if (called) return;
    called = true;
    if (error !== null) socket.on("error", ignore).destroy();
    done(error, opened);
  };
}

function ignore(): void {}

interface Securing {
  readonly target: DialTarget;
  readonly options: DialOptions;
  readonly watch: DialWatch;
}

function secure(stream: Duplex, { target, options, watch }: Securing, finish: DialDone): void {
  watch.onTls();
  const name = target.host.startsWith("[") ? target.host.slice(1, -1) : target.host;
  const tls = connectTls({
    socket: stream,
    host: name,
    // RFC 6066: an address is no server name.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ALPNProtocols: options.http2 ? ["h2", "http/1.1"] : ["http/1.1"],
    rejectUnauthorized: !options.insecureTls,
    secureContext: options.trust(),
  });
  const fail = (error: Error): void => {
    tls.destroy();
    finish(dialFailure(error, "tls"), null);
  };
  // The stream below reports what TLS then reports again, so it needs a listener of its own.
  stream.on("error", ignore);
  tls.once("error", fail);
  tls.once("secureConnect", () => {
    tls.off("error", fail);
    finish(null, tls);
  });
}

/** RFC 9110, 9.3.6. Any answer but 2xx, and any byte behind it, is the proxy's failure. */
function openTunnel(
  stream: Duplex,
  target: DialTarget,
  proxy: Proxy,
  opened: (error?: DialError) => void,
): void {
  const authority = `${target.host}:${target.port}`;
  // To import it is to load all of Node's own fetch with it: 50 ms that only proxies are worth.
  const request = process.getBuiltinModule("node:http").request({
    method: "CONNECT",
    path: authority,
    headers: {
      host: authority,
      ...(proxy.authorization === undefined ? {} : { "proxy-authorization": proxy.authorization }),
    },
    maxHeaderSize: PROXY_HEAD_BYTES_MAX,
    createConnection: () => stream,
  });
  request.once("error", () => opened(proxyError("the proxy broke off")));
  request.once("response", (response) => {
    response.destroy();
    opened(proxyError(`the proxy answered ${response.statusCode}`));
  });
  request.once("connect", (response, _, rest) => {
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) opened(proxyError(`the proxy answered ${status}`));
    else if (rest.length > 0) opened(proxyError("the proxy sent a body"));
    else opened();
  });
  request.end();
}

function proxyError(detail: string): DialError {
  return new DialError("proxy_error", detail);
}
