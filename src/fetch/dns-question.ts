/**
 * One DNS question: repeated to each name server in turn, the first conclusive response counts.
 *
 * Each attempt has a c-ares channel of its own, with one server and the whole time budget. So a
 * repetition does not discard the response to an earlier attempt, and a garbled response ends one
 * attempt of one question. A shared channel would fail all questions in progress, and it would learn
 * from fast (cached) responses to wait only 250 ms for slow ones. A channel costs about 0.1 ms of CPU
 * time, and one descriptor until its attempt ends.
 */

import { Resolver as CaresResolver } from "node:dns";
import type { Clock } from "../base/clock.ts";

export interface Found {
  readonly address: string;
  readonly ttl: number;
}

export type DnsReply =
  | {
      readonly kind: "found";
      readonly records: readonly Found[];
      readonly server: string | undefined;
    }
  | { readonly kind: "none" }
  | { readonly kind: "failed"; readonly code: string };

interface DnsQuestion {
  readonly host: string;
  readonly type: "A" | "AAAA";
  /** In the order in which they are tried; none leaves the choice to c-ares. */
  readonly servers: readonly string[];
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/**
 * The question is repeated while no response has arrived, at these shares of the time budget. unbound drops
 * its response to a question older than 1.9 s; a later repetition is answered from its cache.
 */
const REPEAT_SHARES = [0.15, 0.45, 0.8];
/** Descriptors that one question can hold at the same time. */
export const DESCRIPTORS_PER_QUESTION = 1 + REPEAT_SHARES.length;

/** Asks; ends within the time budget, whatever the servers and c-ares do. */
export function askServers(question: DnsQuestion): Promise<DnsReply> {
  return new Promise((resolve) => new Asking(question, resolve).begin());
}

class Asking {
  readonly #question: DnsQuestion;
  readonly #resolve: (reply: DnsReply) => void;
  readonly #channels = new Set<CaresResolver>();
  readonly #cancels: (() => void)[] = [];
  #attempts = 0;
  #isOver = false;

  constructor(question: DnsQuestion, resolve: (reply: DnsReply) => void) {
    this.#question = question;
    this.#resolve = resolve;
  }

  begin(): void {
    const { clock, timeoutMs } = this.#question;
    for (const share of REPEAT_SHARES)
      this.#cancels.push(clock.after(share * timeoutMs, () => this.#attempt()));
    const giveUp = (): void => this.#end({ kind: "failed", code: "ETIMEOUT" });
    this.#cancels.push(clock.after(timeoutMs, giveUp));
    this.#attempt();
  }

  #attempt(): void {
    const { host, type, servers, timeoutMs } = this.#question;
    const server = servers[this.#attempts % servers.length];
    this.#attempts++;
    const channel = new CaresResolver({ timeout: timeoutMs, tries: 1, maxTimeout: timeoutMs });
    if (server !== undefined) channel.setServers([server]);
    this.#channels.add(channel);
    const done = (error: NodeJS.ErrnoException | null, records: readonly Found[]): void => {
      this.#channels.delete(channel);
      this.#came(replyOf(error, records, server));
    };
    if (type === "A") channel.resolve4(host, { ttl: true }, done);
    else channel.resolve6(host, { ttl: true }, done);
  }

  /** After a failure the next server is asked at once; the same one again only while there is none. */
  #came(reply: DnsReply): void {
    if (this.#isOver) return;
    if (reply.kind !== "failed") this.#end(reply);
    else if (this.#attempts < this.#question.servers.length) this.#attempt();
    else if (this.#channels.size === 0) this.#end(reply);
  }

  #end(reply: DnsReply): void {
    this.#isOver = true;
    for (const cancel of this.#cancels) cancel();
    for (const channel of this.#channels) channel.cancel();
    this.#resolve(reply);
  }
}

function replyOf(
  error: NodeJS.ErrnoException | null,
  records: readonly Found[],
  server: string | undefined,
): DnsReply {
  if (error === null)
    return records.length > 0 ? { kind: "found", records, server } : { kind: "none" };
  return error.code === "ENODATA" ? { kind: "none" } : { kind: "failed", code: error.code ?? "" };
}
