/**
 * Encodes the part of Thrift's compact protocol that Parquet's metadata needs: numbers, texts, lists,
 * structs.
 *
 * A field starts with its type and the difference of its number to the previous one; numbers are zigzag
 * varints (see the specification in the repository of Apache Thrift).
 */

export interface Field {
  /** Number of the field in its struct; ignored in a list. */
  readonly number: number;
  readonly type: number;
  readonly bytes: Buffer;
}

const I32 = 5;
const I64 = 6;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;
const STOP = Buffer.from([0]);
/** From this value on, the size of a list or the distance of a field is encoded separately. */
const LONG = 15;

export function i32(number: number, value: number): Field {
  return { number, type: I32, bytes: zigzag(value) };
}

export function i64(number: number, value: number): Field {
  return { number, type: I64, bytes: zigzag(value) };
}

export function text(number: number, value: string): Field {
  const bytes = Buffer.from(value);
  return { number, type: BINARY, bytes: Buffer.concat([unsigned(bytes.length), bytes]) };
}

/** A list of items of one type. */
export function list(number: number, items: readonly Field[]): Field {
  const type = items[0]?.type ?? STRUCT;
  const head =
    items.length < LONG
      ? Buffer.from([(items.length << 4) | type])
      : Buffer.concat([Buffer.from([0xf0 | type]), unsigned(items.length)]);
  return { number, type: LIST, bytes: Buffer.concat([head, ...items.map(({ bytes }) => bytes)]) };
}

export function struct(number: number, fields: readonly Field[]): Field {
  return { number, type: STRUCT, bytes: structBytes(fields) };
}

/** Encodes fields, which must be in the order of their numbers. */
export function structBytes(fields: readonly Field[]): Buffer {
  const pieces: Buffer[] = [];
  let last = 0;
  for (const { number, type, bytes } of fields) {
    const distance = number - last;
    if (distance > 0 && distance <= LONG) pieces.push(Buffer.from([(distance << 4) | type]));
    else pieces.push(Buffer.from([type]), zigzag(number));
    pieces.push(bytes);
    last = number;
  }
  return Buffer.concat([...pieces, STOP]);
}

function zigzag(value: number): Buffer {
  return unsigned(value < 0 ? -2 * value - 1 : 2 * value);
}

/** Encodes a varint up to 2^53. */
function unsigned(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}
