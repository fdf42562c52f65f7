import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdDecompressSync } from "node:zlib";
import { parquetReadObjects } from "hyparquet";
import { below, randomFrom } from "../../base/random.ts";
import { type Column, parquetFile } from "./parquet.ts";

interface Row {
  readonly name: string;
  readonly count: number;
  readonly size: number | undefined;
  readonly share: number | undefined;
  readonly note: string | undefined;
  readonly atMs: number;
}

const COLUMNS: readonly Column<Row>[] = [
  { name: "name", type: "text", valueOf: ({ name }) => name },
  { name: "count", type: "int32", valueOf: ({ count }) => count },
  { name: "size", type: "int64", isOptional: true, valueOf: ({ size }) => size },
  { name: "share", type: "double", isOptional: true, valueOf: ({ share }) => share },
  { name: "note", type: "text", isOptional: true, valueOf: ({ note }) => note },
  { name: "at", type: "milliseconds", valueOf: ({ atMs }) => atMs },
];

/** Reads the file with an independent library. */
async function readBack(rows: Iterable<Row>): Promise<Record<string, unknown>[]> {
  const bytes = Uint8Array.from(Buffer.concat([...parquetFile(rows, COLUMNS)]));
  return parquetReadObjects({ file: bytes.buffer, compressors: { ZSTD: decompressed } });
}

function decompressed(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(zstdDecompressSync(bytes));
}

function expected(row: Row): Record<string, unknown> {
  const { name, count, size, share, note, atMs } = row;
  return {
    name,
    count,
    size: size === undefined ? null : BigInt(size),
    share: share ?? null,
    note: note ?? null,
    at: new Date(atMs),
  };
}

test("a table is read back unchanged, including missing values", async () => {
  const rows: Row[] = [
    {
      name: "weir \u6c34",
      count: -7,
      size: 2 ** 40,
      share: 0.5,
      note: "",
      atMs: 1_700_000_000_123,
    },
    { name: "", count: 2 ** 31 - 1, size: undefined, share: undefined, note: undefined, atMs: 0 },
  ];
  assert.deepEqual(await readBack(rows), rows.map(expected));
  assert.deepEqual(await readBack([]), []);
});

test("tables of any length with random missing values are read back, across several row groups", async () => {
  for (const [seed, length] of [1, 2, 3, 17, 200, 60_000].entries()) {
    const random = randomFrom(seed);
    const maybe = <T>(value: T): T | undefined => (random.next() < 0.4 ? undefined : value);
    const rows = Array.from({ length }, (_, index) => ({
      name: "x".repeat(below(random, 40)),
      count: below(random, 1000) - 500,
      size: maybe(below(random, 2 ** 50)),
      share: maybe(random.next()),
      note: maybe(`note ${index}`),
      atMs: below(random, 2 ** 41),
    }));
    const read = await readBack(rows);
    assert.equal(read.length, length, `seed ${seed}`);
    for (const [index, row] of rows.entries())
      assert.deepEqual(read[index], expected(row), `seed ${seed}, row ${index}`);
  }
});
