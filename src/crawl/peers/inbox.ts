/**
 * Takes in what other processes send: each message once, however often, in whatever order and in how many
 * parts it comes.
 *
 * What a message brings is noted in one go with the fact that it was taken, so a kill forgets both or
 * neither. A page has to be archived before it can be noted, so it takes a while. The receipt goes out
 * after the commit, and again for every repeat.
 */

import type { Membership, Parcel } from "../../exchange/bus.ts";
import { decodePeerMessage, type PeerMessage } from "../../exchange/peer-message.ts";
import { type NumberedMessage, type Packing, unpack } from "../../exchange/packing.ts";
import type { PageMessage } from "../../exchange/page-message.ts";
import type { CrawlContext } from "../context.ts";
import type { Division } from "../ownership.ts";
import type { PageImport } from "./import-page.ts";
import type { UrlMerge } from "./merge-url.ts";

interface InboxParts {
  readonly merge: UrlMerge;
  readonly pageImport: PageImport;
}

/** What was taken from one sender: everything below the floor, and these. */
interface Taken {
  floor: number;
  readonly seqs: Set<number>;
}

/** A parcel, and how many of its messages are not noted yet. */
interface Delivery {
  readonly parcel: Parcel;
  left: number;
}

/** A page that waits for its turn at the archive. */
interface WaitingPage {
  readonly key: string;
  readonly message: PageMessage;
  readonly from: string;
  readonly settle: () => void;
}

/** A message of which some parts are there. */
interface Partial {
  readonly parts: (Uint8Array | undefined)[];
  readonly deliveries: Delivery[];
  missing: number;
  bytes: number;
}

/** Of parts that wait for others, at most. */
const PARTIAL_BYTES_MAX = 64 * 1024 * 1024;
/** Pages on their way to the archive, at most: others wait for their turn. */
const PAGES_UNDER_WAY_MAX = 64;
/** Of pages that wait, at most: more are sent again. */
const WAITING_BYTES_MAX = 32 * 1024 * 1024;

export class Inbox {
  readonly #context: CrawlContext;
  readonly #bus: Pick<Membership, "acknowledge">;
  readonly #parts: InboxParts;
  readonly #taken = new Map<string, Taken>();
  readonly #partial = new Map<string, Partial>();
  /** Pages that wait or are being archived, by sender and number. */
  readonly #underWay = new Set<string>();
  readonly #waiting: WaitingPage[] = [];
  #waitingBytes = 0;
  #archiving = 0;
  #partialBytes = 0;
  /** Noted and not committed yet. */
  #unacknowledged: Parcel[] = [];

  constructor(context: CrawlContext, bus: Pick<Membership, "acknowledge">, parts: InboxParts) {
    this.#context = context;
    this.#bus = bus;
    this.#parts = parts;
  }

  /** Whether nothing that has come is still to be noted. */
  get isQuiet(): boolean {
    return this.#underWay.size === 0;
  }

  take(parcel: Parcel): void {
    this.#context.emit({ kind: "exchanged", bytes: parcel.body.length });
    const packing = unpack(parcel.body);
    if (packing === undefined) return this.#complain(parcel);
    const taken = this.#takenFrom(packing);
    this.#raiseFloor(taken, packing.floor);
    const fresh = packing.messages.filter(({ seq }) => seq >= taken.floor && !taken.seqs.has(seq));
    const delivery = { parcel, left: fresh.length };
    for (const numbered of fresh) this.#takeMessage(delivery, packing.sender, numbered);
    this.#remember(packing.sender, taken);
    if (fresh.length === 0) this.#unacknowledged.push(parcel);
  }

  committed(): void {
    const parcels = this.#unacknowledged;
    this.#unacknowledged = [];
    for (const parcel of parcels) this.#bus.acknowledge(parcel);
  }

  #takeMessage(delivery: Delivery, sender: string, numbered: NumberedMessage): void {
    const key = `${sender} ${numbered.seq}`;
    if (this.#underWay.has(key)) return;
    const deliveries = this.#deliveriesOf(key, delivery, numbered);
    if (deliveries === undefined) return;
    const sent = decodePeerMessage(this.#bodyOf(key, numbered));
    if (sent === undefined) return this.#complain(delivery.parcel);
    const division = this.#context.ownership?.division;
    // Sent by a division that is not known here yet: taken when it is sent again, and then for certain ours.
    if (division === undefined || sent.epoch > division.epoch) return;
    const message = stillTrue(sent, division.losses, (url) => this.#bucketOf(url));
    const taken = this.#takenFrom({ sender });
    const settle = (): void => {
      taken.seqs.add(numbered.seq);
      this.#remember(sender, taken);
      for (const one of deliveries) this.#arrived(one);
    };
    if (message.kind === "page") {
      const { from } = delivery.parcel;
      return this.#takePage({ key, message, from, settle });
    }
    this.#parts.merge.takeIn(message);
    settle();
  }

  #bucketOf(url: string): number {
    return this.#context.ownership?.bucketOf(url) ?? 0;
  }

  #arrived(delivery: Delivery): void {
    delivery.left -= 1;
    if (delivery.left === 0) this.#unacknowledged.push(delivery.parcel);
  }

  #takePage(page: WaitingPage): void {
    if (this.#waitingBytes > WAITING_BYTES_MAX) return;
    this.#underWay.add(page.key);
    this.#waitingBytes += page.message.page.body.length;
    this.#waiting.push(page);
    this.#readOn();
  }

  #readOn(): void {
    while (this.#archiving < PAGES_UNDER_WAY_MAX) {
      const page = this.#waiting.shift();
      if (page === undefined) return;
      const { key, message, from, settle } = page;
      this.#archiving += 1;
      this.#parts.pageImport
        .takeIn(message, from, settle)
        .finally(() => {
          this.#archiving -= 1;
          this.#waitingBytes -= message.page.body.length;
          this.#underWay.delete(key);
          this.#readOn();
        })
        .catch((fault: unknown) => this.#context.emit({ kind: "fault", fault }));
    }
  }

  /** All parcels that the message came in; undefined while parts of it are missing. */
  #deliveriesOf(
    key: string,
    delivery: Delivery,
    { body, part, parts }: NumberedMessage,
  ): readonly Delivery[] | undefined {
    if (parts === 1) return [delivery];
    let partial = this.#partial.get(key);
    if (partial === undefined || partial.parts.length !== parts) {
      partial = {
        parts: Array.from({ length: parts }, () => undefined),
        deliveries: [],
        missing: parts,
        bytes: 0,
      };
      this.#partial.set(key, partial);
    }
    partial.deliveries.push(delivery);
    if (partial.parts[part] === undefined) {
      partial.parts[part] = Uint8Array.from(body);
      partial.missing -= 1;
      partial.bytes += body.length;
      this.#partialBytes += body.length;
    }
    this.#makeRoom(key);
    return partial.missing === 0 ? partial.deliveries : undefined;
  }

  #bodyOf(key: string, { body, parts }: NumberedMessage): Uint8Array {
    const partial = this.#partial.get(key);
    if (parts === 1 || partial === undefined) return body;
    this.#forget(key, partial);
    return Buffer.concat(partial.parts as Uint8Array[]);
  }

  /** What waits longest for its missing parts goes: it will be sent again. */
  #makeRoom(besides: string): void {
    for (const [key, partial] of this.#partial) {
      if (this.#partialBytes <= PARTIAL_BYTES_MAX) return;
      if (key !== besides) this.#forget(key, partial);
    }
  }

  #forget(key: string, { bytes }: Partial): void {
    this.#partial.delete(key);
    this.#partialBytes -= bytes;
  }

  #remember(sender: string, { floor, seqs }: Taken): void {
    this.#context.batch.setFact(factOf(sender), JSON.stringify({ floor, seqs: [...seqs] }));
  }

  #complain({ from, id }: Parcel): void {
    const message = "an unreadable message was rejected";
    this.#context.log.write({ level: "error", message, values: { from, id } });
  }

  #takenFrom({ sender }: Pick<Packing, "sender">): Taken {
    const known = this.#taken.get(sender);
    if (known !== undefined) return known;
    const text = this.#context.batch.recall(factOf(sender));
    const kept = text === undefined ? undefined : (JSON.parse(text) as StoredTaken);
    const taken = { floor: kept?.floor ?? 0, seqs: new Set(kept?.seqs) };
    this.#taken.set(sender, taken);
    return taken;
  }

  /** What the sender no longer keeps it will not send again; a late copy is below the floor. */
  #raiseFloor(taken: Taken, floor: number): void {
    if (floor <= taken.floor) return;
    taken.floor = floor;
    for (const seq of taken.seqs) if (seq < floor) taken.seqs.delete(seq);
  }
}

interface StoredTaken {
  readonly floor: number;
  readonly seqs: readonly number[];
}

function factOf(sender: string): string {
  return `inbox ${sender}`;
}

/**
 * What of a message still holds after processes were lost: the outcomes of URLs in lost buckets may have been stored
 * only by the lost process. A process that has heard of the loss sends them again.
 */
export function stillTrue<T extends PeerMessage>(
  message: T,
  losses: Division["losses"],
  bucketOf: (url: string) => number,
): T {
  if (message.kind !== "frontier") return message;
  const later = losses.filter(({ epoch }) => epoch > message.epoch);
  if (later.length === 0) return message;
  const isLost = (url: string): boolean => {
    const bucket = bucketOf(url);
    return later.some(({ buckets }) => buckets.has(bucket));
  };
  const urls = message.urls.filter(({ url, state }) => state !== "ended" || !isLost(url));
  return { ...message, urls };
}
