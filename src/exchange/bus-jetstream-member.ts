/**
 * A node's place on the JetStream bus: its durable consumer for parcels, its two subjects for
 * receipts and notes, and the checks on everything that comes in by them.
 *
 * What arrives is handed on in a turn of its own, outside the client library, which would swallow
 * what our own code throws.
 */

import type { Msg, Subscription } from "@nats-io/transport-node";
import type { Clock } from "../base/clock.ts";
import type { Inbox, Note } from "./bus.ts";
import type { NatsLink } from "./nats-connection.ts";
import { subjectToken } from "./nats-names.ts";
import { PieceJoiner } from "./nats-pieces.ts";
import { Pull } from "./nats-pull.ts";
import { nanosOf } from "./nats-stream.ts";
import { NoteJoiner, textsOf } from "./note-pieces.ts";

export interface MemberPlace {
  readonly link: NatsLink;
  readonly clock: Clock;
  readonly root: string;
  readonly stream: string;
  readonly onTrouble: (reason: string) => void;
}

/** What was fetched and not acknowledged, as by a node that died in between, comes again then. */
const FETCHED_AGAIN_MS = 10_000;
/** A consumer that nobody asks for so long belongs to a node that is gone. */
const GONE_MS = 3_600_000;

export class JetStreamMember {
  readonly #node: string;
  readonly #token: string;
  readonly #inbox: Inbox;
  readonly #place: MemberPlace;
  readonly #joiner = new PieceJoiner();
  readonly #notes = new NoteJoiner();
  readonly #pull: Pull;
  readonly #subscriptions: Subscription[];
  #refusal: Error | undefined;
  #isHere = true;

  constructor(node: string, inbox: Inbox, place: MemberPlace) {
    this.#node = node;
    this.#token = subjectToken(node);
    this.#inbox = inbox;
    this.#place = place;
    this.#pull = new Pull(place.link, place.clock, {
      stream: place.stream,
      consumer: this.#token,
      onMessage: (data) => this.#onPiece(data),
      onTrouble: place.onTrouble,
    });
    this.#subscriptions = [
      this.#listen("receipt", (message) => this.#onReceipt(message)),
      this.#listen("note", (message) => this.#onNote(message)),
    ];
  }

  /** Begins to receive; throws what the server has against it. */
  async begin(): Promise<void> {
    await this.resume();
    await this.#place.link.connection.flush();
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  /** Makes its consumer where it is missing, and asks for parcels. */
  async resume(): Promise<void> {
    const { link, root, stream } = this.#place;
    await link.manager.consumers.add(stream, {
      durable_name: this.#token,
      filter_subject: `${root}.parcel.${this.#token}.>`,
      ack_policy: "explicit",
      ack_wait: nanosOf(FETCHED_AGAIN_MS),
      inactive_threshold: nanosOf(GONE_MS),
    });
    if (this.#isHere) this.#pull.resume();
  }

  receiptOf(parcelId: string, to: string): string {
    return JSON.stringify({ parcelId, from: this.#node, to });
  }

  notesOf(to: string, note: Note): string[] {
    const head = JSON.stringify({ from: this.#node, to });
    return textsOf({ from: this.#node, to }, note).map((text) => `${head}\n${text}`);
  }

  end(): void {
    if (!this.#isHere) return;
    this.#isHere = false;
    this.#pull.end();
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
  }

  #listen(kind: "receipt" | "note", take: (message: Msg) => void): Subscription {
    const { link, root } = this.#place;
    return link.connection.subscribe(`${root}.${kind}.${this.#token}`, {
      callback: (error, message) => {
        if (error === null) take(message);
        else this.#refusal = error;
      },
    });
  }

  #onPiece(data: Uint8Array): void {
    const parcel = this.#joiner.add(data);
    if (parcel?.to === this.#node) this.#deliver(() => this.#inbox.onParcel(parcel));
  }

  #onReceipt(message: Msg): void {
    const { parcelId, from, to } = fieldsOf(message.string());
    if (typeof parcelId !== "string" || typeof from !== "string" || to !== this.#node) return;
    this.#deliver(() => this.#inbox.onReceipt({ parcelId, from, to }));
  }

  #onNote(message: Msg): void {
    const [head = "", text = ""] = message.string().split("\n");
    const { from, to } = fieldsOf(head);
    // A head that cannot be read is a note of nobody: its reader drops and counts it.
    const isOurs = typeof from === "string" && to === this.#node;
    const note = isOurs ? this.#notes.add({ from, to: this.#node }, text) : {};
    if (note !== undefined) this.#deliver(() => this.#inbox.onNote(isOurs ? from : "", note));
  }

  #deliver(handOver: () => void): void {
    setImmediate(() => {
      if (this.#isHere) handOver();
    });
  }
}

/** Of an object in JSON; anything else has none. */
function fieldsOf(text: string): Note {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Note) : {};
  } catch {
    return {};
  }
}
