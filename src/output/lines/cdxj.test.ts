import assert from "node:assert/strict";
import { test } from "node:test";
import { getSurt } from "warcio";
import { below, pick, type Random, randomFrom } from "../../base/random.ts";
import { surtKey } from "./cdxj.ts";

test("keys have the host reversed, everything in lower case, and the query sorted", () => {
  const known: readonly (readonly [url: string, key: string])[] = [
    ["http://example.com/", "com,example)/"],
    ["https://www.example.com/", "com,example)/"],
    ["http://www2.example.com/a", "com,example)/a"],
    ["http://Example.ORG:80/Some/Path", "org,example)/some/path"],
    ["https://www.Example.org:8080/A?b=2&a=1", "org,example:8080)/a?a=1&b=2"],
    ["http://a.b.c.example.co.uk/x/?q", "uk,co,example,c,b,a)/x/?q"],
    ["http://user:secret@example.com/#part", "com,example)/"],
    ["http://127.0.0.1:8780/", "1,0,0,127:8780)/"],
    ["http://[2001:db8::1]:81/p", "[2001:db8::1]:81)/p"],
    ["http://example.com/%7Euser?", "com,example)/%7euser"],
    ["mailto:someone@example.com", "mailto:someone@example.com"],
    ["http://", "http://"],
  ];
  for (const [url, key] of known) assert.equal(surtKey(url), key);
});

test("keys equal those of warcio, which replay tools search for", () => {
  for (let seed = 1; seed <= 2_000; seed++) {
    const url = randomUrl(randomFrom(seed));
    assert.equal(surtKey(url), getSurt(url), `seed ${seed}: ${url}`);
  }
});

function randomUrl(random: Random): string {
  const label = (): string => pick(random, ["a", "www", "www3", "example", "xn--bcher-kva", "co"]);
  const labels = Array.from({ length: 1 + below(random, 4) }, label);
  const port = pick(random, ["", ":80", ":443", ":8080"]);
  const path = pick(random, ["", "/", "/A/b", "/a%20b/", "//x", "/~u;v=1"]);
  const query = pick(random, ["", "?", "?b&a", "?Z=1&a=2&a=1", "?x=%C3%A9&&y"]);
  return `${pick(random, ["http", "https"])}://${labels.join(".")}.org${port}${path}${query}`;
}
