import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { readDivision, writeDivision } from "./division-codec.ts";
import { emptyDivision } from "./ownership.ts";

const DIVISION = {
  ...emptyDivision({ bucketCount: 4_096 }),
  epoch: 3,
  owners: Array.from({ length: 4_096 }, (_, bucket) => ["a", "b", ""][bucket % 3] as string),
  members: new Set(["a", "b"]),
};

test("a division comes back as it was, within a few KiB", () => {
  const written = writeDivision(DIVISION);
  assert.deepEqual(readDivision(JSON.parse(JSON.stringify(written))), DIVISION);
  assert.ok(JSON.stringify(written).length < 4_096);
});

test("layers that are damaged, or decompress to more than there are buckets, are refused", () => {
  const written = writeDivision(DIVISION);
  const bomb = deflateRawSync(new Uint8Array(2 ** 24)).toString("base64");
  for (const layer of ["", "AAAA", "no base64", bomb])
    assert.equal(readDivision({ ...written, owners: [layer] }), undefined, layer.slice(0, 10));
});
