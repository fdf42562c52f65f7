/**
 * Asks a SOCKS5 proxy for a connection (RFC 1928), with user and password if they are given (RFC 1929).
 *
 * The proxy gets the name, not an address, and looks it up itself. Exactly the bytes of its replies are read, at most
 * 262 each, and a byte beyond them is an error, so nothing of the proxy is taken for the site's. A refused or
 * unreachable site is that site's failure; everything else is the proxy's.
 */

import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { DialError } from "./failure.ts";

interface SocksTarget {
  /** A name, an IPv4 address or a bracketed IPv6 address. */
  readonly host: string;
  readonly port: number;
}

const VERSION = 5;
const NO_LOGIN = 0;
const WITH_LOGIN = 2;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;

/** Failures of the site, by the proxy's code (RFC 1928, 6). */
const SITE_FAILURES: ReadonlyMap<number, DialError["reason"]> = new Map([
  [3, "connect_error"],
  [4, "connect_error"],
  [5, "connect_refused"],
  [6, "connect_error"],
]);
const MEANINGS: readonly string[] = [
  "granted",
  "general failure",
  "not allowed by its rules",
  "network unreachable",
  "host unreachable",
  "connection refused",
  "expired on its way",
  "unknown command",
  "unknown kind of address",
];

/** Calls back once: without an error when the stream leads to the site. */
export function openSocks(
  stream: Duplex,
  target: SocksTarget,
  login: Uint8Array | undefined,
  opened: (error?: DialError) => void,
): void {
  const replies = repliesOf(stream);
  negotiate(stream, replies, target, login)
    .then(
      () => undefined,
      (error: unknown) => (error instanceof DialError ? error : proxyError("the proxy broke off")),
    )
    .then((error) => {
      replies.stop();
      opened(error);
    });
}

async function negotiate(
  stream: Duplex,
  replies: Replies,
  target: SocksTarget,
  login: Uint8Array | undefined,
): Promise<void> {
  const methods = login === undefined ? [NO_LOGIN] : [NO_LOGIN, WITH_LOGIN];
  stream.write(Buffer.from([VERSION, methods.length, ...methods]));
  const [version, method = -1] = await replies.next(2);
  if (version !== VERSION) throw proxyError("the proxy does not speak SOCKS5");
  if (!methods.includes(method)) throw proxyError("the proxy wants another login");
  if (method === WITH_LOGIN && login !== undefined) {
    stream.write(login);
    const [, status] = await replies.next(2);
    if (status !== 0) throw proxyError("the proxy refused user and password");
  }
  stream.write(requestFor(target));
  const [, code = -1, , kind] = await replies.next(4);
  if (code !== 0) {
    const reason = SITE_FAILURES.get(code) ?? "proxy_error";
    throw new DialError(reason, `the proxy answered: ${MEANINGS[code] ?? `code ${code}`}`);
  }
  const [length = 0] = kind === NAME ? await replies.next(1) : [];
  await replies.next((kind === IPV4 ? 4 : kind === IPV6 ? 16 : length) + 2);
  if (stream.readableLength > 0) throw proxyError("the proxy sent more than its reply");
}

function requestFor({ host, port }: SocksTarget): Buffer {
  const head = Buffer.from([VERSION, CONNECT, 0]);
  const portBytes = Buffer.from([port >> 8, port & 0xff]);
  return Buffer.concat([head, addressOf(host), portBytes]);
}

function addressOf(host: string): Buffer {
  if (isIP(host) === 4) return Buffer.from([IPV4, ...host.split(".").map(Number)]);
  if (host.startsWith("[")) return Buffer.from([IPV6, ...ipv6Bytes(host.slice(1, -1))]);
  // The host of a canonical URL has at most 253 bytes.
  return Buffer.concat([Buffer.from([NAME, host.length]), Buffer.from(host, "latin1")]);
}

/** Of an address as the URL parser writes it: without a dotted part, with at most one gap. */
function ipv6Bytes(address: string): number[] {
  const [left = "", right] = address.split("::");
  const [before, after] = [left, right ?? ""].map((part) => (part === "" ? [] : part.split(":")));
  const gap = Array<string>(8 - (before?.length ?? 0) - (after?.length ?? 0)).fill("0");
  const groups = [...(before ?? []), ...gap, ...(after ?? [])];
  return groups.flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

interface Replies {
  /** Resolves with exactly so many bytes; rejects when the stream ends before. */
  next(bytes: number): Promise<Uint8Array>;
  stop(): void;
}

function repliesOf(stream: Duplex): Replies {
  let look = (): void => undefined;
  let fail: (error: Error) => void = () => undefined;
  let isOver = false;
  const onReadable = (): void => look();
  const onEnd = (): void => {
    isOver = true;
    fail(new Error("ended"));
  };
  stream.on("readable", onReadable).on("error", onEnd).on("close", onEnd).on("end", onEnd);
  return {
    next: (bytes) =>
      new Promise((resolve, reject) => {
        fail = reject;
        look = () => {
          const reply = stream.read(bytes) as Uint8Array | null;
          // At its end a stream gives what is left, be it too little.
          if (reply?.length === bytes) resolve(reply);
          else if (reply !== null || isOver) reject(new Error("ended"));
        };
        look();
      }),
    stop() {
      stream.off("readable", onReadable).off("error", onEnd).off("close", onEnd).off("end", onEnd);
    },
  };
}

function proxyError(detail: string): DialError {
  return new DialError("proxy_error", detail);
}
