/**
 * The registry as a key-value bucket of NATS JetStream, which `nats kv` can show.
 *
 * The server compares and sets: a write names the sequence number that its subject must have. Numbers begin again at 1
 * when the server has lost its store, so a node that slept meanwhile could find its old number on another node's value.
 * Therefore each life of the table has a number, drawn when the bucket is created and kept under one key, and all other
 * keys are below it: a write of an earlier life finds nothing to compare with. A revision combines life and sequence
 * number. A response counts only if the life is read to be the same afterwards, so each request is two; none is sent more
 * than a few times a second.
 *
 * After every connect the life is written, if there is none, before anything is read: a write is answered only once the
 * bucket is complete, and nats-server 2.9.10 crashes when a bucket is read while another node creates it.
 *
 * Reads go to the leader of the stream, never to a copy that may be behind.
 */

import type { MsgHdrs } from "@nats-io/transport-node";
import { assert } from "../../base/assert.ts";
import { type Clock, sleep, systemClock } from "../../base/clock.ts";
import { systemRandom } from "../../base/random.ts";
import { connectNats, type NatsLink, type NatsOptions } from "./connection.ts";
import { subjectToken } from "./names.ts";
import { keepStream } from "./stream.ts";
import { natsTrouble } from "./errors.ts";
import {
  lifeIn,
  newLife,
  partsOf,
  revisionOf,
  storedEntry,
  type StoredEntry,
} from "./registry-life.ts";
import { assertEntry, type Registry, RegistryAway } from "../registry.ts";
import type { RegistryEntry } from "../registry.ts";

const TABLE_BYTES_MAX = 64 * 1024 * 1024;
const ATTEMPTS_MAX = 4;
const SPREADING_MS = 100;
/** The request reached no bucket, and so changed nothing. */
const NO_STORE = "no server stores the registry";
/** JetStream's code: another write came first. */
const WRONG_SEQUENCE = new Set([10071, 10164]);
const STREAM_MISSING = 10059;

export async function openJetStreamRegistry(options: NatsOptions): Promise<Registry> {
  const link = await connectNats(options);
  try {
    const { headers } = await import("@nats-io/transport-node");
    const registry = new JetStreamRegistry(link, options, headers);
    await registry.begin();
    return registry;
  } catch (error) {
    await link.close();
    throw natsTrouble(error, options.servers.join(", "));
  }
}

class JetStreamRegistry implements Registry {
  readonly #link: NatsLink;
  readonly #options: NatsOptions;
  readonly #newHeaders: () => MsgHdrs;
  readonly #clock: Clock;
  readonly #bucket: string;
  #life: number | undefined;
  /** Since the last connect the bucket has been found to be complete. */
  #isComplete = false;

  constructor(link: NatsLink, options: NatsOptions, newHeaders: () => MsgHdrs) {
    const crawl = subjectToken(options.crawl);
    this.#link = link;
    this.#options = options;
    this.#newHeaders = newHeaders;
    this.#bucket = `weir-${crawl}`;
    this.#clock = options.clock ?? systemClock;
    link.onUp(() => {
      this.#isComplete = false;
    });
  }

  /** Creates the bucket; throws the server's refusal. */
  async begin(): Promise<void> {
    await this.#makeBucket();
    await this.#readLife();
  }

  get(key: string): Promise<RegistryEntry | undefined> {
    return this.#inOneLife(async (life) => {
      const stored = await this.#readSubject(this.#subject(life, subjectToken(key)));
      if (stored?.value === undefined) return undefined;
      return { value: stored.value, revision: revisionOf(life, stored.seq) };
    });
  }

  async put(key: string, value: string, expectedRevision: number): Promise<number | undefined> {
    assertEntry(key, value);
    const text = JSON.stringify({ key, value });
    const expected = partsOf(expectedRevision);
    return this.#inOneLife(async (life) => {
      if (expectedRevision > 0 && expected.life !== life) return undefined;
      const subject = this.#subject(life, subjectToken(key));
      const written = await this.#write(subject, text, { seq: expected.seq });
      const seq = written ?? (expectedRevision > 0 ? undefined : await this.#revive(subject, text));
      return seq === undefined ? undefined : revisionOf(life, seq);
    });
  }

  async remove(key: string, expectedRevision: number): Promise<boolean> {
    assert(expectedRevision > 0, "what is removed has a revision");
    const text = JSON.stringify({ key });
    const expected = partsOf(expectedRevision);
    return this.#inOneLife(async (life) => {
      if (expected.life !== life) return false;
      const subject = this.#subject(life, subjectToken(key));
      const marker = { seq: expected.seq, operation: "DEL" } as const;
      return (await this.#write(subject, text, marker)) !== undefined;
    });
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  #subject(life: number, token: string): string {
    return `$KV.${this.#bucket}.${life}.${token}`;
  }

  /** Repeats a request until the table is known to have had the same life throughout. */
  async #inOneLife<T>(ask: (life: number) => Promise<T>): Promise<T> {
    const known = this.#isComplete ? this.#life : undefined;
    let life = known ?? (await this.#readLife());
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const answer = await ask(life).catch(async (error) => {
        // The bucket may be gone: the next request finds a new one.
        if ((error as Error).message === NO_STORE) await this.#readLife();
        throw error;
      });
      const lifeAfter = await this.#readLife();
      if (lifeAfter === life) return answer;
      life = lifeAfter;
    }
    throw new RegistryAway("the table is lost again and again");
  }

  /**
   * The number of the table's life; a table without one is begun. A record that is not ours is replaced by the life
   * known here, of which the entries are still there.
   */
  async #readLife(): Promise<number> {
    const subject = `$KV.${this.#bucket}.life`;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      this.#isComplete ||= await this.#hasBegun(subject);
      const stored = this.#isComplete ? await this.#readSubject(subject) : undefined;
      const known = lifeIn(stored?.value);
      if (known !== undefined) {
        this.#life = known;
        return known;
      }
      if (stored === undefined) {
        this.#isComplete = false;
        await this.#asked(() => this.#makeBucket());
        // Behind a leaf node it takes a moment until the new bucket is known to be there.
        await sleep(this.#clock, attempt * SPREADING_MS);
      } else {
        const text = lifeText(this.#life ?? newLife(systemRandom));
        await this.#write(subject, text, { seq: stored.seq }).catch(ignoreAway);
      }
    }
    throw new RegistryAway("the table cannot be begun");
  }

  /** Writes the number of a new life if there is none. False: there is no bucket. */
  async #hasBegun(subject: string): Promise<boolean> {
    try {
      await this.#write(subject, lifeText(newLife(systemRandom)), { seq: 0 });
      return true;
    } catch (error) {
      if (!(error instanceof RegistryAway) || error.message !== NO_STORE) throw error;
      return false;
    }
  }

  /** The marker of a removed key is replaced by the new value. */
  async #revive(subject: string, text: string): Promise<number | undefined> {
    const stored = await this.#readSubject(subject);
    if (stored === undefined || stored.value !== undefined) return undefined;
    return this.#write(subject, text, { seq: stored.seq });
  }

  /** The value of a subject; undefined for whatever reason there is none. */
  async #readSubject(subject: string): Promise<StoredEntry | undefined> {
    const message = await this.#asked(async () => {
      const { streams } = this.#link.manager;
      return streams.getMessage(`KV_${this.#bucket}`, { last_by_subj: subject }).catch((error) => {
        if ((error as { code?: unknown }).code === STREAM_MISSING) return null;
        throw error;
      });
    });
    return message === null ? undefined : storedEntry(message.string(), message.seq);
  }

  /** The new sequence number, or undefined when the subject has another one than expected. */
  async #write(
    subject: string,
    text: string,
    { seq, operation }: { readonly seq: number; readonly operation?: "DEL" },
  ): Promise<number | undefined> {
    const headers = this.#newHeaders();
    if (operation !== undefined) headers.set("KV-Operation", operation);
    const options = { headers, expect: { lastSubjectSequence: seq } };
    // Through a leaf node a bucket is written to by its domain, which maps such subjects back.
    const { domain } = this.#options;
    const target = domain === undefined ? subject : `${this.#link.apiPrefix}.${subject}`;
    return this.#asked(async () => {
      try {
        return (await this.#link.client.publish(target, text, options)).seq;
      } catch (error) {
        const { code, name } = error as { code?: unknown; name?: unknown };
        if (typeof code === "number" && WRONG_SEQUENCE.has(code)) return undefined;
        if (name === "JetStreamNotEnabled") throw new RegistryAway(NO_STORE, { cause: error });
        throw error;
      }
    });
  }

  async #makeBucket(): Promise<void> {
    await keepStream(this.#link.manager, {
      name: `KV_${this.#bucket}`,
      subjects: [`$KV.${this.#bucket}.>`],
      storage: "file",
      discard: "new",
      max_bytes: TABLE_BYTES_MAX,
      max_msgs_per_subject: 1,
      deny_delete: true,
      allow_rollup_hdrs: true,
      num_replicas: this.#options.replicas ?? 1,
    });
  }

  async #asked<T>(question: () => Promise<T>): Promise<T> {
    if (!this.#link.isUp()) throw new RegistryAway("NATS is away");
    try {
      return await question();
    } catch (cause) {
      if (cause instanceof RegistryAway) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new RegistryAway(reason, { cause });
    }
  }
}

function lifeText(life: number): string {
  return JSON.stringify({ key: "life", value: String(life) });
}

function ignoreAway(error: unknown): undefined {
  if (!(error instanceof RegistryAway)) throw error;
  return undefined;
}
