import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { below, type Random, randomFrom } from "../../base/random.ts";
import type { Parcel } from "../bus.ts";
import { PIECE_BYTES_MIN, PieceJoiner, piecesOf } from "./parcel-pieces.ts";

test("a small parcel is one message, and comes out as it went in", () => {
  const parcel = { id: "p\n1", from: "a.b", to: "c", body: new Uint8Array([0, 10, 255]) };
  const pieces = piecesOf(parcel, PIECE_BYTES_MIN);
  assert.equal(pieces.length, 1);
  assert.deepEqual(new PieceJoiner().add(pieces[0] as Uint8Array), parcel);
});

test("pieces of several parcels, shuffled and repeated, become those parcels and no other", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    const parcels = Array.from({ length: 5 }, (_, index) => noise(random, `p${index}`));
    const messages = parcels.flatMap((parcel) => piecesOf(parcel, PIECE_BYTES_MIN));
    const repeated = [...messages, ...messages.filter(() => random.next() < 0.3)];
    const joiner = new PieceJoiner();
    const came = new Map<string, Parcel>();
    for (const message of shuffled(random, repeated)) {
      const parcel = joiner.add(message);
      if (parcel !== undefined) came.set(parcel.id, parcel);
    }
    for (const parcel of parcels) assert.deepEqual(came.get(parcel.id), parcel, `seed ${seed}`);
    assert.equal(came.size, 5, `seed ${seed}`);
  }
});

test("a changed byte never becomes another parcel, nor an error", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed);
    const parcel = noise(random, "p", 2_000);
    const message = Uint8Array.from(piecesOf(parcel, PIECE_BYTES_MIN)[0] as Uint8Array);
    const at = below(random, message.length);
    message[at] = below(random, 256);
    const came = new PieceJoiner().add(message.subarray(0, 1 + below(random, 2 * message.length)));
    if (came !== undefined) assert.deepEqual(came, parcel, `seed ${seed}`);
  }
});

test("foreign messages come to nothing", () => {
  const joiner = new PieceJoiner();
  const crc = crc32(JSON.stringify(["p", "a", "b"]));
  const head = { v: 1, id: "p", from: "a", to: "b", piece: 0, pieces: 1, bytes: 0, crc };
  const texts = ["", "\n", "{}\n", "null\n", "[1]\n", "7\n", '{"__proto__":{"v":1}}\n'];
  for (const change of [{ pieces: 1e9 }, { id: 1 }, { bytes: -1 }, { bytes: 1 }, { v: 2 }])
    texts.push(line({ ...head, ...change }));
  texts.push("x".repeat(100_000));
  for (const text of texts) assert.equal(joiner.add(Buffer.from(text)), undefined, text);
  assert.equal(joiner.add(Buffer.from(line({ ...head })))?.id, "p");
});

test("unfinished parcels are forgotten, the oldest first", () => {
  const joiner = new PieceJoiner();
  const random = randomFrom(1);
  const all = Array.from({ length: 17 }, (_, index) =>
    piecesOf(noise(random, `p${index}`, 100_000), PIECE_BYTES_MIN),
  );
  for (const [first] of all) joiner.add(first as Uint8Array);
  const finish = ([, ...rest]: readonly Uint8Array[]) => rest.map((piece) => joiner.add(piece));
  assert.equal(finish(all[0] ?? []).at(-1), undefined);
  assert.equal(finish(all[16] ?? []).at(-1)?.id, "p16");
});

function line(head: object): string {
  return `${JSON.stringify(head)}\n`;
}

/** A parcel of chance. */
function noise(random: Random, id: string, bytes = below(random, 300_000)): Parcel {
  const body = Uint8Array.from({ length: bytes }, () => below(random, 256));
  return { id, from: "a", to: "b", body };
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: random.next() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
