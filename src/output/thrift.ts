/**
 * Thrift's compact protocol, as much of it as Parquet's metadata needs: numbers, texts, lists, structs.
 *
 * A field is told by the distance of its number from the one before and by its type; numbers are
 * zigzag, seven bits a byte (the protocol's own specification in the repository of Apache Thrift).
 */

export interface Field {
  /** Its number in its struct; of no meaning in a list. */
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
/** From this many on the size of a list, or the distance of a field, stands by itself. */
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

/** All of one type. */
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

/** In the order of their numbers. */
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

/** Up to 2^53. */
function unsigned(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}
