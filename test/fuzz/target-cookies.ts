/**
 * Response headers that are kept or acted upon. Promises: a Cookie header is printable ASCII of bounded length, goes to no
 * other site, the jar is bounded; a Retry-After is at most an hour; a redirect is canonical.
 */

import assert from "node:assert/strict";
import { CookieJar } from "../../src/fetch/cookies.ts";
import { interpret } from "../../src/fetch/interpret.ts";
import { type CanonicalUrl, canonicalUrl, PLAIN_RULES } from "../../src/url/url.ts";
import type { Target } from "./target.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const PLACES = ["www.h.example", "h.example", "other.example", "example", "127.0.0.1"].flatMap(
  (host) => ["/", "/a/b"].map((path) => ({ host, path, secure: path === "/" })),
);
const URL_ASKED = "http://www.h.example/a/b" as CanonicalUrl;

function check(input: Uint8Array): string {
  const lines = Buffer.from(input).toString("latin1").split("\n");
  const jar = new CookieJar();
  const [own, sibling] = [PLACES[0], PLACES[4]];
  assert.ok(own !== undefined && sibling !== undefined);
  for (const line of lines) jar.take(line, own, NOW_MS);
  const kinds = PLACES.map((place) => {
    const header = jar.headerFor(place, NOW_MS) ?? "";
    assert.match(header, /^[\x21-\x7e ]*$/);
    assert.ok(header.length <= 8_192);
    if (place.host === "other.example" || place.host === "127.0.0.1" || place.host === "example")
      assert.equal(header, "", `a cookie of www.h.example for ${place.host}`);
    return Math.min(3, header.length);
  });
  assert.ok(jar.size <= 50 * 4);
  for (const [index, line] of lines.slice(0, 20).entries()) {
    const status = [200, 301, 302, 304, 429, 503, 206, 999][index % 8] as number;
    const names = ["location", "retry-after", "content-type"];
    const headers = names.map((name): [string, string] => [name, line]);
    const asked = {
      url: URL_ASKED,
      conditional: true,
      urlRules: PLAIN_RULES,
      acceptTypes: ["text/*"],
    };
    const verdict = interpret({ status, headers }, asked, NOW_MS);
    if (verdict.kind === "redirect") assert.equal(canonicalUrl(verdict.to.url), verdict.to.url);
    if (verdict.kind === "busy")
      assert.ok((verdict.retryAfterMs ?? 0) >= 0 && (verdict.retryAfterMs ?? 0) <= 3_600_000);
    kinds.push(verdict.kind.length);
  }
  return kinds.join(" ");
}

export const COOKIES: Target = {
  name: "headers",
  samples: [
    "a=b; Domain=h.example; Path=/a; Secure; HttpOnly; Max-Age=60\n__Host-c=d; Secure; Path=/\n",
    "s=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT\ns=; Max-Age=0\n/there\n120\n",
    "http://h.example/x\nhttps://other.example/\nFri, 31 Dec 2027 23:59:59 GMT\ntext/html; charset=x\n",
  ].map((text) => Buffer.from(text)),
  words: [
    "; Domain=",
    "; Path=",
    "; Max-Age=",
    "; Expires=",
    "; Secure",
    "; SameSite=None",
    "=",
    ";",
    "\n",
    ".h.example",
    "example",
    "h.example",
    "co.uk",
    "127.0.0.1",
    "www.h.example",
    "/a",
    "//x",
    "__Secure-",
    "__Host-",
    " ",
    "\t",
    "\0",
    "é",
    ",",
    "Wed, 09 Jun 2027 10:18:14 GMT",
    "-1",
    "1e3",
    "99999999999999999999",
    "text/html",
    "javascript:",
    "../..",
    "?",
    "x".repeat(5_000),
  ],
  inputBytesMax: 64 * 1024,
  inputsPerTest: 15_000,
  check,
};
