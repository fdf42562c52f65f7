import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { divide, LeaseBook } from "./lease-book.ts";

test("what one holder gives back goes to another, and not before it is given back", () => {
  const book = new LeaseBook(100);
  const ends = { endsAtMs: 1_000 };
  assert.equal(book.grant("a", 0, 80, { number: 1, ...ends }), 80);
  assert.equal(book.grant("b", 0, 80, { number: 1, ...ends }), 20);
  assert.equal(book.grant("a", 10, 30, { number: 2, ...ends }), 30);
  assert.equal(book.grant("b", 20, 80, { number: 2, ...ends }), 20);
  book.heard("a", 2);
  assert.equal(book.grant("b", 30, 80, { number: 3, ...ends }), 70);
});

test("a holder that is silent loses what it has when its time is over", () => {
  const book = new LeaseBook(100);
  book.grant("a", 0, 100, { number: 1, endsAtMs: 500 });
  assert.equal(book.grant("b", 499, 100, { number: 1, endsAtMs: 2_000 }), 0);
  assert.equal(book.grant("b", 500, 100, { number: 2, endsAtMs: 2_000 }), 100);
});

test("a division wastes nothing, gives nobody less than it can use while another has more, and adds up", () => {
  const shares = divide(100, [
    { holder: "a", ceiling: 10 },
    { holder: "b", ceiling: Infinity },
    { holder: "c", ceiling: Infinity },
  ]);
  assert.deepEqual(Object.fromEntries(shares), { a: 10, b: 45, c: 45 });
  const idle = divide(90, [
    { holder: "a", ceiling: 10 },
    { holder: "b", ceiling: 20 },
  ]);
  assert.deepEqual(Object.fromEntries(idle), { a: 40, b: 50 });
});

test("promises come before hunger, and share the shortage when there is too little", () => {
  const claims = [
    { holder: "a", ceiling: Infinity, floor: 60 },
    { holder: "b", ceiling: Infinity },
    { holder: "c", ceiling: 5, floor: 20 },
  ];
  assert.deepEqual(Object.fromEntries(divide(100, claims)), { a: 77.5, b: 17.5, c: 5 });
  const tight = divide(50, [
    { holder: "a", ceiling: Infinity, floor: 75 },
    { holder: "b", ceiling: Infinity, floor: 25 },
  ]);
  assert.deepEqual(Object.fromEntries(tight), { a: 37.5, b: 12.5 });
});

test("over a bus that loses and delays, holders never go by more than the total", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed);
    const book = new LeaseBook(1_000);
    const names = ["a", "b", "c", "d"];
    const inForce = new Map<string, { number: number; amount: number; endsAtMs: number }>();
    const onTheWay: { atMs: number; deliver: () => void }[] = [];
    let number = 0;
    for (let nowMs = 0; nowMs < 5_000; nowMs += 10) {
      for (const { deliver } of onTheWay.filter(({ atMs }) => atMs <= nowMs)) deliver();
      onTheWay.splice(0, onTheWay.length, ...onTheWay.filter(({ atMs }) => atMs > nowMs));
      const name = names[below(random, 4)] as string;
      const askedAtMs = nowMs;
      number += 1;
      const terms = { number, endsAtMs: nowMs + 400 };
      const amount = book.grant(name, nowMs, random.next() * 1_500, terms);
      const grant = { number, amount, endsAtMs: askedAtMs + 400 };
      if (random.next() < 0.7)
        onTheWay.push({
          atMs: nowMs + random.next() * 300,
          deliver: () => {
            if ((inForce.get(name)?.number ?? 0) < grant.number) inForce.set(name, grant);
          },
        });
      const heard = inForce.get(name);
      if (heard !== undefined && random.next() < 0.7)
        onTheWay.push({
          atMs: nowMs + random.next() * 300,
          deliver: () => book.heard(name, heard.number),
        });
      let sum = 0;
      for (const held of inForce.values()) if (held.endsAtMs > nowMs) sum += held.amount;
      assert.ok(sum <= 1_000 + 1e-6, `seed ${seed}: ${sum} in force at ${nowMs} ms`);
    }
  }
});
