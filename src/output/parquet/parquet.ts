/**
 * Writes rows as a Parquet file with columns compressed by zstd.
 *
 * Follows the format's specification (parquet.apache.org, version 1 data pages): PLAIN values, and
 * run-length encoded definition levels for optional columns. Metadata uses Thrift's compact protocol
 * (`thrift.ts`). Memory is bounded by one row group; the file is returned piece by piece.
 */

import { zstdCompressSync } from "node:zlib";
import { type Field, i32, i64, list, struct, structBytes, text } from "./thrift.ts";

type ColumnType = "text" | "int32" | "int64" | "double" | "milliseconds";

export interface Column<Row> {
  readonly name: string;
  readonly type: ColumnType;
  /** undefined for a missing value; then the column must be optional. */
  readonly valueOf: (row: Row) => string | number | undefined;
  readonly isOptional?: boolean;
}

const MAGIC = Buffer.from("PAR1");
const GROUP_ROWS_MAX = 50_000;
const GROUP_BYTES_MAX = 64 * 2 ** 20;

/** Numbers of the specification. */
const PHYSICAL = { text: 6, int32: 1, int64: 2, double: 5, milliseconds: 2 } as const;
const CONVERTED = { text: 0, milliseconds: 9 } as const;
const REPETITION = { required: 0, optional: 1 } as const;
const ENCODING = { plain: 0, rle: 3 } as const;
const ZSTD = 6;
const DATA_PAGE = 0;

interface Group {
  readonly fields: readonly Field[];
  readonly rows: number;
}

/** Yields the file piece by piece. */
export function* parquetFile<Row>(
  rows: Iterable<Row>,
  columns: readonly Column<Row>[],
): Generator<Uint8Array> {
  yield MAGIC;
  let offset = MAGIC.length;
  const groups: Group[] = [];
  for (const buffered of groupsOf(rows, columns)) {
    const chunks: Field[] = [];
    let groupBytes = 0;
    for (const [index, column] of columns.entries()) {
      const chunk = columnChunk(column, buffered[index] as ColumnValues, offset);
      for (const piece of chunk.pieces) {
        offset += piece.length;
        yield piece;
      }
      groupBytes += chunk.plainBytes;
      chunks.push(chunk.metadata);
    }
    const count = buffered[0]?.length ?? 0;
    groups.push({ rows: count, fields: [list(1, chunks), i64(2, groupBytes), i64(3, count)] });
  }
  const footer = metadata(columns, groups);
  const ending = Buffer.alloc(8);
  ending.writeUInt32LE(footer.length);
  ending.set(MAGIC, 4);
  yield footer;
  yield ending;
}

type ColumnValues = (string | number | undefined)[];

function* groupsOf<Row>(
  rows: Iterable<Row>,
  columns: readonly Column<Row>[],
): Generator<ColumnValues[]> {
  let buffered: ColumnValues[] = columns.map(() => []);
  let [count, bytes] = [0, 0];
  for (const row of rows) {
    for (const [index, { valueOf }] of columns.entries()) {
      const value = valueOf(row);
      buffered[index]?.push(value);
      bytes += typeof value === "string" ? value.length + 4 : 8;
    }
    count += 1;
    if (count < GROUP_ROWS_MAX && bytes < GROUP_BYTES_MAX) continue;
    yield buffered;
    buffered = columns.map(() => []);
    [count, bytes] = [0, 0];
  }
  if (count > 0) yield buffered;
}

function columnChunk<Row>(
  column: Column<Row>,
  values: ColumnValues,
  offset: number,
): { pieces: Uint8Array[]; plainBytes: number; metadata: Field } {
  const present = values.filter((value) => value !== undefined);
  const levels = column.isOptional === true ? levelsOf(values) : Buffer.alloc(0);
  const plain = Buffer.concat([levels, plainValues(column.type, present)]);
  const compressed = zstdCompressSync(plain);
  const pageHead = structBytes([
    i32(1, DATA_PAGE),
    i32(2, plain.length),
    i32(3, compressed.length),
    struct(5, [
      i32(1, values.length),
      i32(2, ENCODING.plain),
      i32(3, ENCODING.rle),
      i32(4, ENCODING.rle),
    ]),
  ]);
  const columnMetadata = struct(3, [
    i32(1, PHYSICAL[column.type]),
    list(2, [i32(0, ENCODING.plain), i32(0, ENCODING.rle)]),
    list(3, [text(0, column.name)]),
    i32(4, ZSTD),
    i64(5, values.length),
    i64(6, pageHead.length + plain.length),
    i64(7, pageHead.length + compressed.length),
    i64(9, offset),
  ]);
  return {
    pieces: [pageHead, compressed],
    plainBytes: pageHead.length + plain.length,
    metadata: struct(0, [i64(2, offset), columnMetadata]),
  };
}

/** Definition levels as runs: twice the run's length, then 1 or 0; preceded by the length in bytes. */
function levelsOf(values: ColumnValues): Buffer {
  const runs: number[] = [];
  for (let at = 0; at < values.length;) {
    const isPresent = values[at] !== undefined;
    let end = at + 1;
    while (end < values.length && (values[end] !== undefined) === isPresent) end += 1;
    for (let rest = (end - at) * 2; ; rest >>>= 7) {
      runs.push(rest > 127 ? (rest & 127) | 128 : rest);
      if (rest < 128) break;
    }
    runs.push(isPresent ? 1 : 0);
    at = end;
  }
  const levels = Buffer.alloc(4 + runs.length);
  levels.writeUInt32LE(runs.length);
  levels.set(runs, 4);
  return levels;
}

function plainValues(type: ColumnType, values: readonly (string | number)[]): Buffer {
  if (type === "text") return plainTexts(values.map(String));
  const bytes = type === "int32" ? 4 : 8;
  const plain = Buffer.alloc(bytes * values.length);
  for (const [index, value] of values.entries()) {
    const at = bytes * index;
    if (type === "double") plain.writeDoubleLE(Number(value), at);
    else if (type === "int32") plain.writeInt32LE(Number(value), at);
    else plain.writeBigInt64LE(BigInt(Math.round(Number(value))), at);
  }
  return plain;
}

function plainTexts(texts: readonly string[]): Buffer {
  const sizes = texts.map((value) => Buffer.byteLength(value));
  const plain = Buffer.alloc(sizes.reduce((sum, size) => sum + 4 + size, 0));
  let at = 0;
  for (const [index, value] of texts.entries()) {
    at = plain.writeUInt32LE(sizes[index] ?? 0, at);
    at += plain.write(value, at);
  }
  return plain;
}

function metadata<Row>(columns: readonly Column<Row>[], groups: readonly Group[]): Buffer {
  const root = struct(0, [text(4, "page"), i32(5, columns.length)]);
  const elements = columns.map(({ name, type, isOptional }) => {
    const repetition = isOptional === true ? REPETITION.optional : REPETITION.required;
    const convertedType =
      type === "text" || type === "milliseconds" ? [i32(6, CONVERTED[type])] : [];
    return struct(0, [i32(1, PHYSICAL[type]), i32(3, repetition), text(4, name), ...convertedType]);
  });
  const rows = groups.reduce((sum, group) => sum + group.rows, 0);
  return structBytes([
    i32(1, 1),
    list(2, [root, ...elements]),
    i64(3, rows),
    list(
      4,
      groups.map(({ fields }) => struct(0, fields)),
    ),
    text(6, "weir"),
  ]);
}
