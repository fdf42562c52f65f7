/**
 * The bus between machines: parcels through a stream of NATS JetStream, receipts and control messages past it.
 *
 * The server never has the only copy: the sender of a parcel keeps it until the receipt. So the stream may be lost, wiped
 * or away for an hour; the first node that notices creates it again, and meanwhile `send` refuses. Each parcel has its own
 * subject, of which the stream keeps one message: a repeat replaces an unfetched copy, and is delivered again if the copy
 * was fetched. (JetStream's window for duplicates would swallow just the repeats that request a lost receipt.) Fetched
 * parcels leave the stream; others expire after ten minutes, or when newer parcels need the space.
 *
 * Bounded are: parcels in transit to the server, receipts and control messages that it has not confirmed (more are lost),
 * parcels fetched ahead, and incomplete parcels.
 */

import { createHash } from "node:crypto";
import { assert } from "../../base/assert.ts";
import { type Clock, sleep, systemClock } from "../../base/clock.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { JetStreamMember } from "./bus-jetstream-member.ts";
import { type Bus, type Inbox, type Membership, type Parcel, PARCEL_BYTES_MAX } from "../bus.ts";
import { connectNats, type NatsLink, type NatsOptions } from "./connection.ts";
import { subjectToken } from "./names.ts";
import { PIECE_BYTES_MIN, piecesOf } from "./parcel-pieces.ts";
import { keepStream, nanosOf } from "./stream.ts";
import { natsTrouble } from "./errors.ts";

export interface JetStreamBusOptions extends NatsOptions {
  /** Bytes of unfetched parcels that the server keeps. */
  readonly streamBytesMax?: number | undefined;
}

const STREAM_BYTES_MAX = 256 * 1024 * 1024;
const PARCEL_AGE_MS_MAX = 10 * 60_000;
const PUBLISH_MS_MAX = 5_000;
const IN_FLIGHT_MAX = 512;
const IN_FLIGHT_BYTES_MAX = 8 * 1024 * 1024;
const UNCONFIRMED_BYTES_MAX = 4 * 1024 * 1024;
const MEND_MS_MIN = 100;
const MEND_MS_MAX = 5_000;
const FAREWELL_MS_MAX = 500;

export async function openJetStreamBus(options: JetStreamBusOptions): Promise<Bus> {
  const link = await connectNats(options);
  try {
    const bus = new JetStreamBus(link, options);
    await bus.makeStream();
    return bus;
  } catch (error) {
    await link.close();
    throw natsTrouble(error, options.servers.join(", "));
  }
}

class JetStreamBus implements Bus {
  readonly #link: NatsLink;
  readonly #options: JetStreamBusOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Common prefix of this crawl's subjects. */
  readonly #root: string;
  readonly #stream: string;
  readonly #members = new Map<string, JetStreamMember>();
  readonly #closing = new AbortController();
  #isMending = false;
  #inFlight = 0;
  #inFlightBytes = 0;
  #unconfirmedBytes = 0;
  #isConfirming = false;

  constructor(link: NatsLink, options: JetStreamBusOptions) {
    const crawl = subjectToken(options.crawl);
    this.#link = link;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? silentLog;
    this.#root = `weir.${crawl}`;
    this.#stream = `weir-${crawl}-parcels`;
    link.onUp(() => void this.#mend("the connection was lost"));
  }

  async makeStream(): Promise<void> {
    await keepStream(this.#link.manager, {
      name: this.#stream,
      subjects: [`${this.#root}.parcel.>`],
      retention: "workqueue",
      discard: "old",
      storage: "file",
      max_msgs_per_subject: 1,
      max_bytes: this.#options.streamBytesMax ?? STREAM_BYTES_MAX,
      max_age: nanosOf(PARCEL_AGE_MS_MAX),
      num_replicas: this.#options.replicas ?? 1,
    });
  }

  async join(node: string, inbox: Inbox): Promise<Membership> {
    assert(!this.#members.has(node), "a node is on the bus once");
    const member = new JetStreamMember(node, inbox, {
      link: this.#link,
      clock: this.#clock,
      root: this.#root,
      stream: this.#stream,
      onTrouble: (reason) => void this.#mend(reason),
    });
    this.#members.set(node, member);
    try {
      await member.begin();
    } catch (error) {
      const trouble = natsTrouble(error, this.#options.servers.join(", "));
      if (trouble.code !== "BUS_UNREACHABLE") {
        this.#leave(node, member);
        throw trouble;
      }
      void this.#mend(trouble.message);
    }
    return {
      send: (unsigned) => this.#send({ ...unsigned, from: node }),
      acknowledge: ({ id, from }) => this.#tell(from, "receipt", member.receiptOf(id, from)),
      tell: (to, control) => {
        for (const text of member.messagesOf(to, control)) this.#tell(to, "note", text);
      },
      leave: async () => this.#leave(node, member),
    };
  }

  async close(): Promise<void> {
    for (const [node, member] of this.#members) this.#leave(node, member);
    this.#closing.abort();
    // The last messages should leave, but a server that is away is not waited for.
    const flushed = this.#link.isUp() ? this.#link.connection.flush() : undefined;
    const farewell = new AbortController();
    await Promise.race([
      flushed?.catch(() => {}),
      sleep(this.#clock, FAREWELL_MS_MAX, farewell.signal),
    ]);
    farewell.abort();
    await this.#link.close();
  }

  #leave(node: string, member: JetStreamMember): void {
    member.end();
    if (this.#members.get(node) === member) this.#members.delete(node);
  }

  #send(parcel: Parcel): boolean {
    assert(parcel.body.length <= PARCEL_BYTES_MAX, "a parcel is within its size");
    if (!this.#canSend) return false;
    const id = createHash("sha256").update(JSON.stringify([parcel.from, parcel.id]));
    const subject = `${this.#root}.parcel.${subjectToken(parcel.to)}.${id.digest("base64url")}`;
    const pieces = piecesOf(parcel, this.#link.connection.info?.max_payload ?? PIECE_BYTES_MIN);
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    this.#inFlight++;
    this.#inFlightBytes += bytes;
    const options = { timeout: PUBLISH_MS_MAX };
    const published = pieces.map((piece, index) =>
      this.#link.client.publish(`${subject}.${index}`, piece, options),
    );
    void Promise.allSettled(published).then((results) => {
      this.#inFlight--;
      this.#inFlightBytes -= bytes;
      const failed = results.find((result) => result.status === "rejected");
      if (failed !== undefined) void this.#mend(String(failed.reason));
    });
    return true;
  }

  get #canSend(): boolean {
    const isWorking = this.#link.isUp() && !this.#isMending && !this.#closing.signal.aborted;
    return isWorking && this.#inFlight < IN_FLIGHT_MAX && this.#inFlightBytes < IN_FLIGHT_BYTES_MAX;
  }

  /** Sends what may be lost; it is dropped while the server is away or behind. */
  #tell(to: string, kind: "receipt" | "note", text: string): void {
    const bytes = Buffer.byteLength(text);
    const isRoom = this.#unconfirmedBytes + bytes <= UNCONFIRMED_BYTES_MAX;
    if (!this.#link.isUp() || !isRoom || this.#closing.signal.aborted) return;
    this.#unconfirmedBytes += bytes;
    this.#link.connection.publish(`${this.#root}.${kind}.${subjectToken(to)}`, text);
    if (!this.#isConfirming) void this.#confirm();
  }

  /** Learns by a ping how much the server has read. */
  async #confirm(): Promise<void> {
    this.#isConfirming = true;
    while (this.#unconfirmedBytes > 0 && !this.#closing.signal.aborted) {
      const bytes = this.#unconfirmedBytes;
      await this.#link.connection.flush().catch(() => {});
      this.#unconfirmedBytes -= bytes;
    }
    this.#isConfirming = false;
  }

  /** Creates stream and consumers, with retries; nothing is sent or requested meanwhile. */
  async #mend(reason: string): Promise<void> {
    if (this.#isMending || this.#closing.signal.aborted) return;
    this.#isMending = true;
    this.#log.write({ level: "warn", message: "mending the NATS stream", values: { reason } });
    const { signal } = this.#closing;
    for (let waitMs = MEND_MS_MIN; !signal.aborted; waitMs = Math.min(MEND_MS_MAX, 2 * waitMs)) {
      // Also before the first attempt, so that an immediate failure does not cause a storm of attempts.
      await sleep(this.#clock, waitMs, signal);
      if (this.#link.isUp() && (await this.#tryToMend())) break;
    }
    this.#isMending = false;
  }

  async #tryToMend(): Promise<boolean> {
    try {
      await this.makeStream();
      for (const member of this.#members.values()) await member.resume();
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#log.write({ level: "debug", message: "not mended yet", values: { reason } });
      return false;
    }
  }
}
