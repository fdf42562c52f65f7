import assert from "node:assert/strict";
import { test } from "node:test";
import { BrokenPromise } from "../../base/assert.ts";
import { below, pick, randomFrom } from "../../base/random.ts";
import { Books, Ledger, PURPOSES, type Purpose } from "./ledger.ts";

test("bytes are open until their request has ended, and then booked for what it was", () => {
  const ledger = new Ledger(new Books());
  const site = new Books();
  ledger.receive(site, 600);
  ledger.receive(site, 400);
  ledger.receive(undefined, 50);
  assert.deepEqual([ledger.bytes, ledger.open], [1050, 1050]);
  ledger.book(site, 1000, "redirect");
  ledger.book(undefined, 50, "exchange");
  assert.deepEqual([ledger.bytes, ledger.open], [1050, 0]);
  assert.deepEqual(site.stored(), { bytes: 1000, ledger: { redirect: 1000 } });
  assert.deepEqual(ledger.stored(), { bytes: 1050, ledger: { redirect: 1000, exchange: 50 } });
  assert.equal(ledger.byPurpose().page, 0);
});

test("nothing is booked that did not come", () => {
  const books = new Books();
  books.receive(10);
  assert.throws(() => books.book(11, "page"), BrokenPromise);
  assert.throws(() => books.book(-1, "page"), BrokenPromise);
  assert.throws(() => books.receive(-1), BrokenPromise);
  assert.throws(() => books.receive(0.5), BrokenPromise);
});

test("what was open when it was stored is taken up as retried", () => {
  const books = new Books();
  books.receive(700);
  books.book(500, "page");
  const again = Books.restore(books.stored());
  assert.deepEqual(again.stored(), { bytes: 700, ledger: { page: 500, retry: 200 } });
  assert.equal(again.open, 0);
});

test("the crawl's books are the sum of its sites' and of what belongs to no site", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const ledger = new Ledger(new Books());
    const sites = Array.from({ length: 5 }, () => new Books());
    // Bytes that belong to no site, which the ledger does not pass on.
    const nowhere = new Books();
    const requests: { site: Books; bytes: number }[] = [];
    for (let step = 0; step < 400; step++) {
      if (requests.length < 3 || random.next() < 0.3)
        requests.push({ site: pick(random, [...sites, nowhere]), bytes: 0 });
      const request = pick(random, requests);
      const bytes = below(random, 65_536);
      const site = request.site === nowhere ? undefined : request.site;
      ledger.receive(site, bytes);
      if (site === undefined) nowhere.receive(bytes);
      request.bytes += bytes;
      if (random.next() < 0.3) {
        const purpose = pick<Purpose>(random, PURPOSES);
        ledger.book(site, request.bytes, purpose);
        if (site === undefined) nowhere.book(request.bytes, purpose);
        requests.splice(requests.indexOf(request), 1);
      }
      check(ledger, [...sites, nowhere], requests, `seed ${seed}, step ${step}`);
    }
  }
});

function check(
  ledger: Ledger,
  sites: readonly Books[],
  requests: readonly { readonly site: Books; readonly bytes: number }[],
  where: string,
): void {
  const openBytes = sum(requests.map((request) => request.bytes));
  assert.equal(ledger.open, openBytes, where);
  assert.equal(ledger.bytes, sum(Object.values(ledger.byPurpose())) + openBytes, where);
  for (const site of sites) {
    const open = sum(requests.filter((request) => request.site === site).map(({ bytes }) => bytes));
    assert.equal(site.open, open, where);
    assert.equal(site.bytes, sum(Object.values(site.byPurpose())) + open, where);
  }
  for (const purpose of PURPOSES)
    assert.equal(
      ledger.byPurpose()[purpose],
      sum(sites.map((site) => site.byPurpose()[purpose])),
      where,
    );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
