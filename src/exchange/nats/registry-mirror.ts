/**
 * A copy of the JetStream registry for watchers.
 *
 * The server republishes every stored change under another subject, with its number. Such messages may be lost, so the
 * whole table is read again after a reconnect, when a change belongs to an unknown life, and every few seconds if numbers
 * are missing. A watcher is not called twice in a row with the same value, nor with an older value of the same life.
 */

import type { Msg } from "@nats-io/transport-node";
import type { Clock } from "../../base/clock.ts";
import type { NatsLink } from "./connection.ts";
import { revisionOf, storedEntry, type StoredEntry } from "./registry-life.ts";
import { RegistryAway } from "../registry.ts";
import type { RegistryEntry, RegistryWatcher } from "../registry.ts";

interface MirroredTable {
  readonly stream: string;
  /** Prefix of republished changes; it replaces the bucket's. */
  readonly news: string;
  readonly subjectOfLife: (life: number) => string;
  readonly readLife: () => Promise<number>;
  readonly readSubject: (subject: string) => Promise<StoredEntry | undefined>;
}

interface Watching {
  readonly prefix: string;
  readonly onChange: RegistryWatcher;
  isEnded: boolean;
}

const CHECK_MS = 5_000;
const RETRY_MS = 500;
const READS_MAX = 32;

export class RegistryMirror {
  readonly #link: NatsLink;
  readonly #clock: Clock;
  readonly #table: MirroredTable;
  readonly #watchings = new Set<Watching>();
  #entries = new Map<string, StoredEntry>();
  #life = 0;
  /** The sequence number up to which all changes were seen. */
  #seenSeq = 0;
  #isListening = false;
  #isClosed = false;
  #reading: Promise<void> | undefined;
  #cancelCheck = (): void => {};

  constructor(link: NatsLink, clock: Clock, table: MirroredTable) {
    this.#link = link;
    this.#clock = clock;
    this.#table = table;
  }

  async watch(prefix: string, onChange: RegistryWatcher): Promise<() => void> {
    this.#listen();
    await this.#read();
    const watching: Watching = { prefix, onChange, isEnded: false };
    for (const stored of this.#entries.values())
      if (stored.value !== undefined) this.#tell(watching, stored);
    this.#watchings.add(watching);
    return () => {
      watching.isEnded = true;
      this.#watchings.delete(watching);
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelCheck();
    for (const watching of this.#watchings) watching.isEnded = true;
  }

  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    this.#link.connection.subscribe(`${this.#table.news}.>`, {
      callback: (error, message) => {
        if (error === null) this.#onNews(message);
      },
    });
    this.#link.onUp(() => this.#check());
    this.#cancelCheck = this.#clock.after(CHECK_MS, () => this.#check());
  }

  #onNews(message: Msg): void {
    const [life, ...rest] = message.subject.slice(this.#table.news.length + 1).split(".");
    const seq = Number(message.headers?.get("Nats-Sequence"));
    const stored = storedEntry(message.string(), seq);
    if (stored.key === "" || !Number.isSafeInteger(seq) || rest.length === 0) return;
    if (Number(life) !== this.#life) return this.#check();
    if (stored.seq === this.#seenSeq + 1) this.#seenSeq = stored.seq;
    this.#take(stored);
  }

  /** Reads the table now; the next read follows soon after a failure, later otherwise. */
  #check(): void {
    this.#cancelCheck();
    if (this.#isClosed) return;
    const again = (delayMs: number) => (): void => {
      this.#cancelCheck();
      if (!this.#isClosed) this.#cancelCheck = this.#clock.after(delayMs, () => this.#check());
    };
    this.#read().then(again(CHECK_MS), again(RETRY_MS));
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    const life = await this.#table.readLife();
    const { lastSeq, subjects } = await this.#contents(life);
    if (life === this.#life && lastSeq === this.#seenSeq) return;
    const found: StoredEntry[] = [];
    for (let at = 0; at < subjects.length; at += READS_MAX) {
      const part = subjects.slice(at, at + READS_MAX).map(this.#table.readSubject);
      for (const stored of await Promise.all(part))
        if (stored !== undefined && stored.key !== "") found.push(stored);
    }
    // A table that was lost meanwhile would look empty.
    if ((await this.#table.readLife()) !== life) throw new RegistryAway("lost while it was read");
    if (life !== this.#life) this.#beginLife(life, found);
    for (const stored of found) this.#take(stored);
    this.#seenSeq = Math.max(this.#seenSeq, lastSeq);
  }

  async #contents(life: number): Promise<{ lastSeq: number; subjects: string[] }> {
    const filter = { subjects_filter: this.#table.subjectOfLife(life) };
    try {
      const { state } = await this.#link.manager.streams.info(this.#table.stream, filter);
      return { lastSeq: state.last_seq, subjects: Object.keys(state.subjects ?? {}) };
    } catch (cause) {
      throw new RegistryAway("its contents are unknown", { cause });
    }
  }

  /** Keys of an earlier life that this one does not have are absent. */
  #beginLife(life: number, found: readonly StoredEntry[]): void {
    const before = this.#entries;
    this.#life = life;
    this.#seenSeq = 0;
    this.#entries = new Map();
    const keys = new Set(found.map(({ key }) => key));
    for (const stored of before.values()) {
      if (stored.value === undefined || keys.has(stored.key)) continue;
      for (const watching of this.#watchings) this.#tell(watching, { ...stored, value: undefined });
    }
  }

  #take(stored: StoredEntry): void {
    if ((this.#entries.get(stored.key)?.seq ?? 0) >= stored.seq) return;
    this.#entries.set(stored.key, stored);
    for (const watching of this.#watchings) this.#tell(watching, stored);
  }

  /** In its own turn: the client library would swallow exceptions of a watcher. */
  #tell(watching: Watching, { key, value, seq }: StoredEntry): void {
    if (!key.startsWith(watching.prefix)) return;
    const entry: RegistryEntry | undefined =
      value === undefined ? undefined : { value, revision: revisionOf(this.#life, seq) };
    setImmediate(() => {
      if (!watching.isEnded) watching.onChange(key, entry);
    });
  }
}
