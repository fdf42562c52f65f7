/**
 * Packs messages into parcels and unpacks them.
 *
 * A message has a permanent number from its sender's store, so it takes effect once, in whatever parcel it arrives.
 * `floor` is the lowest number that the sender still keeps for this addressee: the receiver can forget those below.
 *
 * A message that is too long for a parcel is sent in parts, which are joined again.
 *
 * A parcel may come from a broken peer: for any fault in it the result is undefined.
 */

export interface NumberedMessage {
  readonly seq: number;
  readonly body: Uint8Array;
  /** Of a message that does not fit a parcel: the number of this part, from 0, and of all parts. */
  readonly part: number;
  readonly parts: number;
}

export interface Packing {
  /** Names the sender's store: a new store counts from the start. */
  readonly sender: string;
  readonly floor: number;
  readonly messages: readonly NumberedMessage[];
}

const VERSION = 2;
const HEADER_BYTES = 1 + 1 + 8 + 4;
const MESSAGE_HEAD_BYTES = 8 + 4 + 2 + 2;
/** Of the messages of a parcel with more than one; a longer message is sent in parts of this length. */
export const PACKED_BYTES_MAX = 256 * 1024;
const PARTS_MAX = 2 ** 12;
const SENDER_BYTES_MAX = 64;

export function pack({ sender, floor, messages }: Packing): Uint8Array {
  const name = Buffer.from(sender, "utf8");
  const bytes = messages.reduce((sum, { body }) => sum + MESSAGE_HEAD_BYTES + body.length, 0);
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + name.length + bytes);
  let at = buffer.writeUInt8(VERSION, 0);
  at = buffer.writeUInt8(name.length, at);
  at += name.copy(buffer, at);
  at = buffer.writeDoubleBE(floor, at);
  at = buffer.writeUInt32BE(messages.length, at);
  for (const { seq, body, part, parts } of messages) {
    at = buffer.writeDoubleBE(seq, at);
    at = buffer.writeUInt32BE(body.length, at);
    at = buffer.writeUInt16BE(part, at);
    at = buffer.writeUInt16BE(parts, at);
    buffer.set(body, at);
    at += body.length;
  }
  return buffer;
}

export function unpack(body: Uint8Array): Packing | undefined {
  try {
    return unpacked(Buffer.from(body.buffer, body.byteOffset, body.length));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function unpacked(buffer: Buffer): Packing | undefined {
  const nameBytes = buffer.readUInt8(1);
  if (buffer.readUInt8(0) !== VERSION || nameBytes > SENDER_BYTES_MAX) return undefined;
  const sender = buffer.toString("utf8", 2, 2 + nameBytes);
  const floor = buffer.readDoubleBE(2 + nameBytes);
  const count = buffer.readUInt32BE(10 + nameBytes);
  let at = HEADER_BYTES + nameBytes;
  if (count * MESSAGE_HEAD_BYTES > buffer.length - at) return undefined;
  const messages: NumberedMessage[] = [];
  for (let index = 0; index < count; index++) {
    const seq = buffer.readDoubleBE(at);
    const bytes = buffer.readUInt32BE(at + 8);
    const part = buffer.readUInt16BE(at + 12);
    const parts = buffer.readUInt16BE(at + 14);
    at += MESSAGE_HEAD_BYTES;
    if (!Number.isSafeInteger(seq) || at + bytes > buffer.length) return undefined;
    if (part >= parts || parts > PARTS_MAX) return undefined;
    messages.push({ seq, body: buffer.subarray(at, at + bytes), part, parts });
    at += bytes;
  }
  return at === buffer.length && Number.isSafeInteger(floor)
    ? { sender, floor, messages }
    : undefined;
}
