/**
 * The real resolver: a bounded cache over look-ups that keep off the thread pool.
 *
 * Node's usual look-up (getaddrinfo) blocks one of four threads that the store also needs, so a
 * thousand slow names would stop the program. Here c-ares asks the name servers over sockets of
 * its own (`dns-question.ts`), a bounded number at once, and all who wait for a name share one question.
 * IPv4 is asked first, and IPv6 only for names without it, or when no IPv4 address can be connected to: one
 * question a name instead of two.
 *
 * Promises:
 *   1. an answer is kept for its TTL, but at least a minute and at most an hour, so that neither
 *      a TTL of 0 floods the name server nor one of years outlives the site;
 *   2. every address handed out has passed the address guard, also when the cache held it;
 *   3. what may be better next time (no answer, a broken server) is not kept, so a retry asks;
 *   4. a response counts until the time budget ends, and a garbled one affects its own name only;
 *   5. a question that could not be sent for want of descriptors is `local_resource`.
 */

import { Resolver as CaresResolver } from "node:dns";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type { Clock } from "../base/clock.ts";
import { areDescriptorsUsedUp } from "../base/descriptors.ts";
import { type AddressPolicy, isAllowed } from "./address-guard.ts";
import { askServers, type DnsReply } from "./dns-question.ts";
import type { Resolution, Resolver, ResolverFailure } from "./resolver.ts";

export interface DnsOptions {
  readonly clock: Clock;
  readonly policy: AddressPolicy;
  /** Names answered without asking; see `systemHosts`. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  /** Name servers as `address` or `address:port`; undefined for the system's. */
  readonly servers?: readonly string[];
  /** For one question with all its repetitions; a name without IPv4 takes two. */
  readonly timeoutMs: number;
  readonly lookupsMax: number;
  readonly namesMax: number;
}

export const DNS_DEFAULTS = { timeoutMs: 10_000, lookupsMax: 64, namesMax: 100_000 } as const;

const TTL_MS_MIN = 60_000;
const TTL_MS_MAX = 3_600_000;
/** c-ares does not tell the TTL of a missing name. */
const MISSING_TTL_MS = 600_000;
const ADDRESSES_MAX = 8;
/** Read of an answer before the guard thins it out; a thousand records are not worth judging. */
const RECORDS_MAX = 64;
const HOSTS_BYTES_MAX = 1024 * 1024;

type Records =
  | { readonly kind: "records"; readonly addresses: readonly string[] }
  | { readonly kind: "failed"; readonly reason: ResolverFailure; readonly detail: string };

interface Entry {
  readonly records: Records;
  readonly goodUntilMs: number;
  /** The verdict for the port asked last: nearly every site has only one. */
  judgedPort: number;
  judged: Resolution;
}

export class DnsResolver implements Resolver {
  readonly #options: DnsOptions;
  /** The server that last responded with addresses is asked first: a dead one costs no other name. */
  #proven: string | undefined;
  readonly #known = new Map<string, Entry>();
  readonly #asked = new Map<string, Promise<Entry>>();
  readonly #waiting: (() => void)[] = [];
  #lookups = 0;

  constructor(options: DnsOptions) {
    this.#options = options;
  }

  async resolve(host: string, port: number): Promise<Resolution> {
    let entry = this.#good(host);
    entry ??= this.#answerUnasked(host) ?? (await this.#askOnce(host, () => this.#lookUp(host)));
    return this.#judged(entry, port);
  }

  async resolveIPv6(host: string, port: number): Promise<Resolution> {
    if (this.#answerUnasked(host) !== undefined) return this.resolve(host, port);
    const key = `${host} AAAA`;
    let entry = this.#good(key);
    entry ??= await this.#askOnce(key, () => this.#lookUpIPv6(host));
    return this.#judged(entry, port);
  }

  #good(key: string): Entry | undefined {
    const entry = this.#known.get(key);
    const isGood = entry !== undefined && entry.goodUntilMs > this.#options.clock.nowMs();
    return isGood ? entry : undefined;
  }

  #judged(entry: Entry, port: number): Resolution {
    if (entry.judgedPort !== port) {
      entry.judgedPort = port;
      entry.judged =
        entry.records.kind === "failed"
          ? entry.records
          : this.#judge(entry.records.addresses, port);
    }
    return entry.judged;
  }

  /** Literal addresses and this machine's own names; remembered, because judging is not free. */
  #answerUnasked(host: string): Entry | undefined {
    const literal = host.startsWith("[") ? host.slice(1, -1) : host;
    const addresses =
      isIP(literal) === 0 ? (this.#options.hosts.get(host) ?? localhostAddresses(host)) : [literal];
    if (addresses === undefined) return undefined;
    return this.#remember(host, { kind: "records", addresses }, Number.POSITIVE_INFINITY);
  }

  #judge(addresses: readonly string[], port: number): Resolution {
    const allowed = addresses.filter((one) => isAllowed(one, port, this.#options.policy));
    if (allowed.length > 0)
      return { kind: "addresses", addresses: allowed.slice(0, ADDRESSES_MAX) };
    const detail = `${addresses[0]} port ${port} is not public`;
    return { kind: "failed", reason: "ssrf_blocked", detail };
  }

  #askOnce(key: string, lookUp: () => Promise<Answer>): Promise<Entry> {
    const asked = this.#asked.get(key);
    if (asked !== undefined) return asked;
    const asking = this.#ask(key, lookUp).finally(() => this.#asked.delete(key));
    this.#asked.set(key, asking);
    return asking;
  }

  async #ask(key: string, lookUp: () => Promise<Answer>): Promise<Entry> {
    await this.#enter();
    try {
      const answer = await lookUp();
      return this.#remember(key, answer.records, answer.keepMs);
    } finally {
      this.#leave();
    }
  }

  async #lookUp(host: string): Promise<Answer> {
    const first = await this.#query(host, "A");
    return first.kind === "none" ? this.#lookUpIPv6(host) : answerOf(first);
  }

  async #lookUpIPv6(host: string): Promise<Answer> {
    const reply = await this.#query(host, "AAAA");
    return reply.kind === "none" ? missing("dns_error", "no address") : answerOf(reply);
  }

  async #query(host: string, type: "A" | "AAAA"): Promise<DnsReply> {
    const { timeoutMs, clock } = this.#options;
    // Without one the list of name servers cannot be read either, and c-ares would ask this machine.
    if (areDescriptorsUsedUp()) return { kind: "failed", code: "EMFILE" };
    const reply = await askServers({ host, type, servers: this.#servers(), timeoutMs, clock });
    if (reply.kind === "found") this.#proven = reply.server;
    // c-ares reports a socket that it could not open as a refused connection.
    if (reply.kind === "failed" && reply.code === "ECONNREFUSED" && areDescriptorsUsedUp())
      return { kind: "failed", code: "EMFILE" };
    return reply;
  }

  /** The system's are read again for each question, because they change with the network. */
  #servers(): readonly string[] {
    const servers = this.#options.servers ?? systemServers();
    const proven = this.#proven;
    if (proven === undefined || !servers.includes(proven)) return servers;
    return [proven, ...servers.filter((server) => server !== proven)];
  }

  #remember(host: string, records: Records, keepMs: number): Entry {
    const goodUntilMs = this.#options.clock.nowMs() + keepMs;
    const entry = { records, goodUntilMs, judgedPort: -1, judged: UNJUDGED };
    this.#known.delete(host);
    if (keepMs > 0) this.#known.set(host, entry);
    if (this.#known.size > this.#options.namesMax) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    return entry;
  }

  #enter(): Promise<void> | undefined {
    if (this.#lookups < this.#options.lookupsMax) {
      this.#lookups++;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Hands the place to the next who waits, so the count stays as it is. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#lookups--;
    else next();
  }
}

const UNJUDGED: Resolution = { kind: "failed", reason: "dns_error", detail: "not judged yet" };

interface Answer {
  readonly records: Records;
  /** 0 when the next one must ask again. */
  readonly keepMs: number;
}

function answerOf(reply: Exclude<DnsReply, { kind: "none" }>): Answer {
  if (reply.kind === "failed") return failureOf(reply.code);
  const ttlMs = 1000 * Math.min(...reply.records.slice(0, RECORDS_MAX).map(({ ttl }) => ttl));
  const addresses = reply.records.slice(0, RECORDS_MAX).map(({ address }) => address);
  const keepMs = Math.min(TTL_MS_MAX, Math.max(TTL_MS_MIN, ttlMs));
  return { records: { kind: "records", addresses }, keepMs };
}

function failureOf(code: string): Answer {
  switch (code) {
    case "ENOTFOUND":
    case "EBADNAME":
      return missing("dns_nxdomain", code);
    // A server that fails has mostly waited for another one in vain, so it is the same trouble.
    case "ESERVFAIL":
    case "ETIMEOUT":
    case "ECONNREFUSED":
      return { records: { kind: "failed", reason: "dns_timeout", detail: code }, keepMs: 0 };
    case "EMFILE":
      return { records: { kind: "failed", reason: "local_resource", detail: code }, keepMs: 0 };
    default:
      return { records: { kind: "failed", reason: "dns_error", detail: code }, keepMs: 0 };
  }
}

function missing(reason: ResolverFailure, detail: string): Answer {
  return { records: { kind: "failed", reason, detail }, keepMs: MISSING_TTL_MS };
}

/** Without those of a zone (fe80::1%eth0), which c-ares accepts from the system only, and not from us. */
function systemServers(): readonly string[] {
  return new CaresResolver().getServers().filter((server) => !server.includes("%"));
}

/** RFC 6761: these names never leave the machine. */
function localhostAddresses(host: string): readonly string[] | undefined {
  const bare = host.endsWith(".") ? host.slice(0, -1) : host;
  return bare === "localhost" || bare.endsWith(".localhost") ? ["127.0.0.1", "::1"] : undefined;
}

/** The machine's own table of names, read once; an unreadable one is an empty one. */
export function systemHosts(path = "/etc/hosts"): Map<string, readonly string[]> {
  try {
    return parseHosts(readFileSync(path, "utf8").slice(0, HOSTS_BYTES_MAX));
  } catch {
    return new Map();
  }
}

export function parseHosts(text: string): Map<string, readonly string[]> {
  const hosts = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...names] = (line.split("#", 1)[0] ?? "").trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const addresses = hosts.get(key) ?? [];
      addresses.push(address);
      hosts.set(key, addresses);
    }
  }
  return hosts;
}
