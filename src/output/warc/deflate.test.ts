import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync, inflateRawSync } from "node:zlib";
import { below, pick, type Random, randomFrom } from "../../base/random.ts";
import { deflate, deflateRoom, store } from "./deflate.ts";
import { memberRoom, writeMember } from "./gzip.ts";

const SENTENCE = "<p>The weir holds the water back; the weir lets the water go.</p>\n";

test("a repetitive page is compressed, and zlib decompresses it", () => {
  const page = Buffer.from(SENTENCE.repeat(100));
  const deflated = deflatedOf(page);
  assert.ok(deflated.length < page.length / 20, `${deflated.length} bytes`);
  assert.deepEqual(inflateRawSync(deflated), page);
});

test("empty input, one byte, and lengths around every limit are decompressed correctly", () => {
  const lengths = [0, 1, 5, 6, 11, 12, 13, 258, 259, 32_768, 32_769, 65_535, 65_536, 131_071];
  for (const length of lengths) {
    const same = Buffer.alloc(length, 65);
    assert.deepEqual(inflateRawSync(deflatedOf(same)), same, `${length} equal bytes`);
    assert.deepEqual(inflateRawSync(stored(same)), same, `${length} stored bytes`);
  }
});

test("incompressible input grows by only five bytes per block", () => {
  const noise = bytesOf(randomFrom(7), 200_000, 256);
  const deflated = deflatedOf(noise);
  assert.equal(deflated.length, noise.length + 5 * 4);
  assert.deepEqual(inflateRawSync(deflated), Buffer.from(noise));
});

test("any mixture of text, noise and repeats is decompressed correctly, and the output is deterministic", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed);
    const input = mixture(random);
    const first = deflatedOf(input);
    assert.deepEqual(inflateRawSync(first), Buffer.from(input), `seed ${seed}`);
    deflatedOf(mixture(random));
    assert.deepEqual(deflatedOf(input), first, `seed ${seed}: after another input`);
  }
});

test("a member with a compressed body is one gzip stream at every level", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = randomFrom(seed);
    const bytes = mixture(random);
    const packedFrom = random.next() < 0.5 ? below(random, bytes.length + 1) : undefined;
    for (const level of [0, 1, 2, 6]) {
      const out = new Uint8Array(memberRoom(bytes.length) + 3);
      const end = writeMember({ bytes, packedFrom }, level, out, 3);
      const back = gunzipSync(out.subarray(3, end));
      assert.deepEqual(back, Buffer.from(bytes), `seed ${seed}, level ${level}`);
    }
  }
});

function deflatedOf(input: Uint8Array): Uint8Array {
  const out = new Uint8Array(deflateRoom(input.length) + 7);
  return out.subarray(7, deflate(input, out, 7, "last"));
}

function stored(input: Uint8Array): Uint8Array {
  const out = new Uint8Array(deflateRoom(input.length));
  return out.subarray(0, store(input, out, 0, "last"));
}

function mixture(random: Random): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let left = below(random, 30); left >= 0; left--) {
    const kind = pick(random, ["text", "noise", "letters", "again"]);
    if (kind === "text") pieces.push(Buffer.from(SENTENCE.repeat(1 + below(random, 40))));
    if (kind === "noise") pieces.push(bytesOf(random, below(random, 9_000), 256));
    if (kind === "letters") pieces.push(bytesOf(random, below(random, 9_000), 3));
    if (kind === "again" && pieces.length > 0) pieces.push(pick(random, pieces));
  }
  return Buffer.concat(pieces);
}

function bytesOf(random: Random, count: number, kinds: number): Uint8Array {
  return Uint8Array.from({ length: count }, () => below(random, kinds));
}
