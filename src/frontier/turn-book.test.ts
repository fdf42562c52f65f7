import assert from "node:assert/strict";
import { test } from "node:test";
import { below, randomFrom } from "../base/random.ts";
import { SharedTurns } from "./shared-turns.ts";
import { TurnBook } from "./turn-book.ts";

const turn = { key: "address 192.0.2.1", delayMs: 100 };

test("a turn is kept until another process wants it, and passed on with the time that must pass", () => {
  const book = new TurnBook(-Infinity);
  const [a, b] = [new SharedTurns(), new SharedTurns()];
  assert.equal(a.readyAtMs(turn, 7), Infinity);
  for (const wish of a.wishes(9)) book.wanted(0, "a", wish);
  const [grant] = book.newsFor(0, "a", 9).granted;
  assert.ok(grant);
  assert.deepEqual(a.granted(0, grant), [7]);
  assert.equal(a.readyAtMs(turn, 7), 0);
  a.began(1_000, turn.key);
  b.readyAtMs(turn, 1);
  for (const wish of b.wishes(9)) book.wanted(1_000, "b", wish);
  assert.deepEqual(book.newsFor(1_000, "b", 9).granted, []);
  const [recall] = book.newsFor(1_000, "a", 9).recalled;
  assert.ok(recall);
  assert.deepEqual(a.recalled(1_000, recall), []);
  assert.deepEqual(a.takeGiven(9), [], "not before its request has ended");
  a.ended(1_040, turn.key);
  for (const given of a.takeGiven(9)) book.given(1_040, "a", given);
  assert.deepEqual(book.newsFor(1_040, "b", 9).granted, [{ key: turn.key, wish: 1, afterMs: 60 }]);
});

test("the turn of a lapsed holder is granted as if a request had just been sent", () => {
  const book = new TurnBook(-Infinity);
  book.wanted(0, "a", { ...turn, wish: 1 });
  book.wanted(10, "b", { ...turn, wish: 1 });
  book.lapsed(5_000, "a");
  assert.deepEqual(book.newsFor(5_000, "b", 9).granted, [{ key: turn.key, wish: 1, afterMs: 100 }]);
});

test("a new book grants turns as if requests had been sent everywhere at its start", () => {
  const book = new TurnBook(5_000);
  book.wanted(5_030, "a", { ...turn, wish: 1 });
  assert.deepEqual(book.newsFor(5_030, "a", 9).granted, [{ key: turn.key, wish: 1, afterMs: 70 }]);
});

test("over a bus that loses, repeats and delays, requests keep the delay, and all processes get turns", () => {
  for (let seed = 1; seed <= 150; seed++) {
    const random = randomFrom(seed);
    const book = new TurnBook(-Infinity);
    const nodes = new Map(["a", "b", "c"].map((name) => [name, new SharedTurns()]));
    const turns = [turn, { key: "address 192.0.2.2", delayMs: 40 }];
    const mail: { atMs: number; deliver: (nowMs: number) => void }[] = [];
    const post = (deliver: (nowMs: number) => void, nowMs: number): void => {
      const copies = random.next() < 0.1 ? 2 : random.next() < 0.15 ? 0 : 1;
      for (let copy = 0; copy < copies; copy++)
        mail.push({ atMs: nowMs + random.next() * 80, deliver });
    };
    const lastAtMs = new Map<string, number>();
    const requests = new Map<string, number>();
    for (let nowMs = 0; nowMs < 20_000; nowMs += 5) {
      for (const message of mail.filter(({ atMs }) => atMs <= nowMs)) message.deliver(nowMs);
      mail.splice(0, mail.length, ...mail.filter(({ atMs }) => atMs > nowMs));
      for (const [name, node] of nodes) {
        const { key, delayMs } = turns[below(random, 2)] as typeof turn;
        const isReady = Math.max(node.readyAtMs({ key, delayMs }, 1), lastOf(name + key) + delayMs);
        if (isReady <= nowMs) {
          const before = lastOf(key);
          assert.ok(nowMs - before >= delayMs, `seed ${seed}: ${nowMs - before} ms apart`);
          lastAtMs.set(key, nowMs);
          lastAtMs.set(name + key, nowMs);
          requests.set(name, (requests.get(name) ?? 0) + 1);
          node.began(nowMs, key);
          mail.push({ atMs: nowMs + 30, deliver: (atMs) => node.ended(atMs, key) });
        }
        if (nowMs % 50 !== 0) continue;
        for (const wish of node.wishes(9)) post((atMs) => book.wanted(atMs, name, wish), nowMs);
        for (const given of node.takeGiven(9)) post((atMs) => book.given(atMs, name, given), nowMs);
        const { granted, recalled } = book.newsFor(nowMs, name, 9);
        for (const grant of granted) post((atMs) => node.granted(atMs, grant), nowMs);
        for (const recall of recalled) post((atMs) => node.recalled(atMs, recall), nowMs);
      }
    }
    for (const name of nodes.keys())
      assert.ok(
        (requests.get(name) ?? 0) > 10,
        `seed ${seed}: ${requests.get(name)} requests of ${name}`,
      );

    function lastOf(key: string): number {
      return lastAtMs.get(key) ?? -Infinity;
    }
  }
});
