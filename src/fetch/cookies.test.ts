import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import { CookieJar, type CookiePlace } from "./cookies.ts";

test("a cookie goes back to the host that set it, and to no other", () => {
  const jar = new CookieJar();
  jar.take("id=1", at("https://shop.example.com/a/b"), 0);
  assert.equal(jar.headerFor(at("https://shop.example.com/a/c"), 1), "id=1");
  assert.equal(jar.headerFor(at("https://example.com/a/c"), 1), undefined);
  assert.equal(jar.headerFor(at("https://www.shop.example.com/a/c"), 1), undefined);
  assert.equal(jar.headerFor(at("https://shop.example.org/a/c"), 1), undefined);
});

test("a domain cookie reaches the hosts below its domain", () => {
  const jar = new CookieJar();
  jar.take("id=1; Domain=.Example.com", at("https://www.example.com/"), 0);
  assert.equal(jar.headerFor(at("https://shop.example.com/"), 1), "id=1");
  assert.equal(jar.headerFor(at("https://badexample.com/"), 1), undefined);
});

test("no cookie is set for a public suffix, another domain or a part of an address", () => {
  const jar = new CookieJar();
  jar.take("a=1; Domain=co.uk", at("https://shop.co.uk/"), 0);
  jar.take("a=1; Domain=github.io", at("https://me.github.io/"), 0);
  jar.take("a=1; Domain=com", at("https://shop.com/"), 0);
  jar.take("a=1; Domain=other.com", at("https://shop.com/"), 0);
  jar.take("a=1; Domain=0.1", at("http://127.0.0.1/"), 0);
  assert.equal(jar.size, 0);
});

test("a secure cookie is neither taken from nor sent over plain http", () => {
  const jar = new CookieJar();
  jar.take("a=1; Secure", at("http://example.com/"), 0);
  assert.equal(jar.size, 0);
  jar.take("a=1; Secure", at("https://example.com/"), 0);
  assert.equal(jar.headerFor(at("http://example.com/"), 1), undefined);
  assert.equal(jar.headerFor(at("https://example.com/"), 1), "a=1");
});

test("a path holds what lies below it, and the longest comes first", () => {
  const jar = new CookieJar();
  jar.take("short=1; Path=/", at("https://example.com/"), 0);
  jar.take("long=2; Path=/docs", at("https://example.com/"), 0);
  assert.equal(jar.headerFor(at("https://example.com/docs/x"), 1), "long=2; short=1");
  assert.equal(jar.headerFor(at("https://example.com/docs?x"), 1), "long=2; short=1");
  assert.equal(jar.headerFor(at("https://example.com/docsx"), 1), "short=1");
});

test("dates: the past deletes, rubbish lasts as long as the crawl, Max-Age wins", () => {
  const jar = new CookieJar();
  const place = at("https://example.com/");
  jar.take("a=1", place, 0);
  jar.take("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", place, 1000);
  assert.equal(jar.size, 0);
  jar.take("b=1; Expires=soon", place, 0);
  jar.take("c=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT", place, 0);
  jar.take("d=1; Max-Age=10; Expires=Fri, 31 Dec 9999 23:59:59 GMT", place, 0);
  assert.equal(jar.headerFor(place, 9_999), "b=1; c=1; d=1");
  assert.equal(jar.headerFor(place, 10_000), "b=1; c=1");
});

test("a cookie named __proto__ is a name like any other", () => {
  const jar = new CookieJar();
  const place = at("https://example.com/");
  jar.take("__proto__=polluted", place, 0);
  assert.equal(jar.headerFor(place, 1), "__proto__=polluted");
  assert.equal(Object.hasOwn(Object.prototype, "polluted"), false);
});

test("a cookie cannot smuggle a line or a second cookie into the request", () => {
  const jar = new CookieJar();
  jar.take("a=1\r\nX-Evil: 1", at("https://example.com/"), 0);
  jar.take("a=\u0000", at("https://example.com/"), 0);
  jar.take("=nameless", at("https://example.com/"), 0);
  assert.equal(jar.size, 0);
});

test("large cookies are refused and numbers are capped, oldest out first", () => {
  const jar = new CookieJar();
  const place = at("https://example.com/");
  jar.take(`big=${"x".repeat(1_000_000)}`, place, 0);
  assert.equal(jar.size, 0);
  for (let index = 0; index < 10_000; index++) jar.take(`n${index}=1`, place, 0);
  assert.equal(jar.size, 50);
  assert.match(jar.headerFor(place, 1) ?? "", /^n9950=1; /);
  for (let index = 0; index < 20_000; index++) jar.take("a=1", at(`https://h${index}.com/`), 0);
  assert.equal(jar.size, 10_000);
  assert.equal(jar.headerFor(place, 1), undefined);
  assert.equal(jar.headerFor(at("https://h19999.com/"), 1), "a=1");
});

test("whatever is set, a request sees only cookies of its own registrable domain", () => {
  const hosts = ["a.one.com", "b.one.com", "one.com", "two.co.uk", "x.two.co.uk", "me.github.io"];
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const jar = new CookieJar();
    for (let round = 0; round < 60; round++) {
      const from = pick(random, hosts);
      const labels = from.split(".");
      const domain = labels.slice(below(random, labels.length)).join(".");
      const named = random.next() < 0.5 ? "" : `; Domain=${domain}`;
      jar.take(`from=${registrable(from)}${named}`, at(`https://${from}/`), round);
    }
    for (const host of hosts)
      for (const pair of jar.headerFor(at(`https://${host}/`), 1000)?.split("; ") ?? [])
        assert.equal(pair, `from=${registrable(host)}`, `seed ${seed}, ${host}`);
  }
});

function at(url: string): CookiePlace {
  const { protocol, hostname, pathname, search } = new URL(url);
  return { secure: protocol === "https:", host: hostname, path: pathname + search };
}

function registrable(host: string): string {
  return host.endsWith("github.io")
    ? host
    : host
        .split(".")
        .slice(host.endsWith("uk") ? -3 : -2)
        .join(".");
}
