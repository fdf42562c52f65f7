import assert from "node:assert/strict";
import { test } from "node:test";
import { randomFrom } from "../../base/random.ts";
import { Account } from "./account.ts";

test("what is spent is earned back at the rate, and nothing is there at the start", () => {
  const account = new Account(0, 1000, 20);
  assert.equal(account.balanceBytes(0), 0);
  account.spend(100);
  assert.equal(account.balanceBytes(50), -50);
  assert.equal(account.hasAtMs(0), 100);
  assert.equal(account.balanceBytes(100), 0);
});

test("silence saves up no more than the burst, and a clock that stands still earns nothing", () => {
  const account = new Account(0, 1000, 20);
  assert.equal(account.balanceBytes(3_600_000), 20);
  assert.equal(account.balanceBytes(3_600_000), 20);
  assert.equal(account.balanceBytes(1000), 20, "a clock that runs backwards changes nothing");
});

test("what our own standing still lost is made good a little at a time", () => {
  const account = new Account(0, 1000, 20);
  account.spend(1);
  account.balanceBytes(200);
  account.spend(20);
  // Much was lost and a fiftieth of a second is remembered: 20 bytes, a hundredth more each second.
  assert.equal(account.balanceBytes(300), 20);
  account.spend(2020);
  assert.equal(account.balanceBytes(2300), 20);
});

test("spent without debt is at most burst + rate * time + what is remembered, for any pattern", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed);
    const account = new Account(0, 1000, 30);
    let nowMs = 0;
    let spent = 0;
    for (let step = 0; step < 500; step++) {
      nowMs += random.next() * (random.next() < 0.05 ? 500 : 20);
      const balance = account.balanceBytes(nowMs);
      if (balance <= 0) continue;
      const bytes = balance * random.next();
      account.spend(bytes);
      spent += bytes;
      assert.ok(spent <= 30 + nowMs + 20 + 1e-6, `seed ${seed}: ${spent} by ${nowMs} ms`);
    }
  }
});

test("a lower rate takes over neither savings nor debts in full", () => {
  const account = new Account(0, 1000, 20);
  account.spend(400);
  account.setRate(0, 100, 2);
  assert.equal(account.balanceBytes(0), -40);
});

test("what is given back beyond the burst is made good a little at a time, and only so much of it", () => {
  const account = new Account(0, 1000, 20);
  account.spend(50);
  account.spend(-90);
  assert.equal(account.balanceBytes(0), 20, "no second may spill because of it");
  account.spend(20);
  // A fiftieth more than is earned.
  assert.equal(account.balanceBytes(10), 10.2);
  account.spend(-1000);
  account.spend(3040);
  assert.equal(account.balanceBytes(3000), 20, "a twentieth of a second was remembered");
});

test("what nobody spent is told once", () => {
  const account = new Account(0, 1000, 20);
  account.balanceBytes(100);
  assert.equal(account.takeUnused(), 80);
  assert.equal(account.takeUnused(), 0);
});

test("a rate that is nearly the same unsettles nothing", () => {
  const account = new Account(0, 1000, 20);
  account.spend(100);
  account.setRate(0, 960, 19);
  assert.equal(account.balanceBytes(0), -100);
});

test("who could wait is given nothing once the last second has had its part, whatever the balance is", () => {
  const account = new Account(0, 1000, 100);
  for (let nowMs = 0; nowMs <= 4000; nowMs += 10) account.balanceBytes(nowMs);
  account.spend(90);
  for (let nowMs = 4010; nowMs <= 4940; nowMs += 10) {
    account.balanceBytes(nowMs);
    account.spend(10);
  }
  assert.ok(account.balanceBytes(4960) > 0);
  assert.equal(account.hasSome(4960), false);
  assert.ok(account.hasSomeAtMs(4960) > 4960, "nobody is woken for nothing");
  assert.equal(account.hasSome(5010), true, "what was spent a second ago no longer counts");
});

test("what the line carried beyond what was spent is paid for, what was spent ahead of it is not asked for twice", () => {
  const account = new Account(0, 10_000, 200);
  account.carried(0, 5_000, 0);
  account.spend(300);
  // Of the 300 that were spent 100 have not come; beside the other 200 came 50 that nobody knew of.
  account.carried(0, 5_250, 100);
  assert.equal(account.balanceBytes(0), -350);
  // Now the 100 have come, and nothing else: all is as it was believed.
  account.carried(0, 5_350, 0);
  assert.equal(account.balanceBytes(0), -350);
  account.carried(0, undefined, 0);
  assert.equal(account.balanceBytes(0), -350);
});

test("where the line is read, the last second is what it carried, and not what was spent", () => {
  const account = new Account(0, 1000, 2000);
  for (let nowMs = 0; nowMs <= 4000; nowMs += 10) account.balanceBytes(nowMs);
  account.carried(4000, 0, 0);
  account.spend(1200);
  assert.ok(account.balanceBytes(4000) > 0);
  assert.equal(account.hasSome(4000), true, "nothing of it has come");
  account.carried(4100, 1200, 0);
  assert.equal(account.hasSome(4100), false);
  assert.equal(account.hasSome(5200), true);
});

test("where the line is read, also what nobody could use is made good, and only there", () => {
  const after = (isRead: boolean): number => {
    const account = new Account(0, 1000, 20);
    if (isRead) account.carried(0, 0, 0);
    for (let nowMs = 0; nowMs <= 200; nowMs += 10) account.balanceBytes(nowMs);
    account.spend(1020);
    for (let nowMs = 200; nowMs <= 1200; nowMs += 10) account.balanceBytes(nowMs);
    return Math.round(account.balanceBytes(1200));
  };
  assert.equal(after(false), 0);
  assert.equal(after(true), 20, "a fiftieth more in a second");
});
