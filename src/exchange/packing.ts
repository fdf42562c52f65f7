/**
 * Puts letters into parcels and takes them out again.
 *
 * A letter has a number that its sender's store gave it for good, so it takes effect once, in whatever parcel
 * and company it comes. `floor` is the lowest number that the sender still keeps for this addressee: of
 * what is below, nothing needs to be remembered.
 *
 * A parcel may come from a peer that is broken: whatever is wrong with it, the answer is undefined.
 */

export interface NumberedLetter {
  readonly seq: number;
  readonly body: Uint8Array;
}

export interface Packing {
  /** Names the sender's store: one that begins anew counts anew. */
  readonly sender: string;
  readonly floor: number;
  readonly letters: readonly NumberedLetter[];
}

const VERSION = 1;
const HEADER_BYTES = 1 + 1 + 8 + 4;
const LETTER_BYTES = 8 + 4;
/** Of the letters of a parcel, when there is more than one. */
export const PACKED_BYTES_MAX = 256 * 1024;
const SENDER_BYTES_MAX = 64;

export function pack({ sender, floor, letters }: Packing): Uint8Array {
  const name = Buffer.from(sender, "utf8");
  const bytes = letters.reduce((sum, { body }) => sum + LETTER_BYTES + body.length, 0);
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + name.length + bytes);
  let at = buffer.writeUInt8(VERSION, 0);
  at = buffer.writeUInt8(name.length, at);
  at += name.copy(buffer, at);
  at = buffer.writeDoubleBE(floor, at);
  at = buffer.writeUInt32BE(letters.length, at);
  for (const { seq, body } of letters) {
    at = buffer.writeDoubleBE(seq, at);
    at = buffer.writeUInt32BE(body.length, at);
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
  if (count * LETTER_BYTES > buffer.length - at) return undefined;
  const letters: NumberedLetter[] = [];
  for (let index = 0; index < count; index++) {
    const seq = buffer.readDoubleBE(at);
    const bytes = buffer.readUInt32BE(at + 8);
    at += LETTER_BYTES;
    if (!Number.isSafeInteger(seq) || at + bytes > buffer.length) return undefined;
    letters.push({ seq, body: buffer.subarray(at, at + bytes) });
    at += bytes;
  }
  return at === buffer.length && Number.isSafeInteger(floor)
    ? { sender, floor, letters }
    : undefined;
}
