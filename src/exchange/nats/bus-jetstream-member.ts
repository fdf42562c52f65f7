/**
 * A node's place on the JetStream bus: its durable consumer for parcels, its two subjects for receipts and control
 * messages, and the checks on all that arrives.
 *
 * Each delivery runs in its own turn, outside the client library, which would swallow exceptions of our code.
 */

import type { Msg, Subscription } from "@nats-io/transport-node";
import type { Clock } from "../../base/clock.ts";
import type { Inbox, ControlMessage } from "../bus.ts";
import type { NatsLink } from "./connection.ts";
import { subjectToken } from "./names.ts";
import { PieceJoiner } from "./parcel-pieces.ts";
import { Pull } from "./pull.ts";
import { nanosOf } from "./stream.ts";
import { MessageJoiner, textsOf } from "../control-pieces.ts";

interface MemberPlace {
  readonly link: NatsLink;
  readonly clock: Clock;
  readonly root: string;
  readonly stream: string;
  readonly onTrouble: (reason: string) => void;
}

/** A parcel that was fetched but not acknowledged is delivered again after this time. */
const FETCHED_AGAIN_MS = 10_000;
/** A consumer without requests for this long belongs to a dead node. */
const GONE_MS = 3_600_000;

export class JetStreamMember {
  readonly #node: string;
  readonly #token: string;
  readonly #inbox: Inbox;
  readonly #place: MemberPlace;
  readonly #joiner = new PieceJoiner();
  readonly #controls = new MessageJoiner();
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
      this.#listen("note", (message) => this.#onMessage(message)),
    ];
  }

  /** Begins to receive; throws the server's refusal. */
  async begin(): Promise<void> {
    await this.resume();
    await this.#place.link.connection.flush();
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  /** Creates its consumer if it is missing, and requests parcels. */
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

  messagesOf(to: string, control: ControlMessage): string[] {
    const head = JSON.stringify({ from: this.#node, to });
    return textsOf({ from: this.#node, to }, control).map((text) => `${head}\n${text}`);
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

  #onMessage(message: Msg): void {
    const [head = "", text = ""] = message.string().split("\n");
    const { from, to } = fieldsOf(head);
    // A message with an unreadable head has no sender and no fields: its receiver drops and counts it.
    const isOurs = typeof from === "string" && to === this.#node;
    const control = isOurs ? this.#controls.add({ from, to: this.#node }, text) : {};
    if (control !== undefined)
      this.#deliver(() => this.#inbox.onMessage(isOurs ? from : "", control));
  }

  #deliver(handOver: () => void): void {
    setImmediate(() => {
      if (this.#isHere) handOver();
    });
  }
}

/** The fields of a JSON object; none for anything else. */
function fieldsOf(text: string): ControlMessage {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as ControlMessage) : {};
  } catch {
    return {};
  }
}
