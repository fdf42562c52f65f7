/**
 * URLs and links. Promises: a canonical URL is ASCII, at most 2,048 bytes, its own canonical form, and its parts are
 * those that the URL parser names; the written form leads back to it; the resolver for bytes gives the same as the one
 * for text.
 */

import assert from "node:assert/strict";
import { pick, type Random } from "../../src/base/random.ts";
import { attributeText } from "../../src/page/html-scanner.ts";
import { LinkResolver } from "../../src/page/link-resolver.ts";
import { withoutCredentials } from "../../src/url/credentials.ts";
import { fingerprintOf } from "../../src/url/fingerprint.ts";
import { siteOf } from "../../src/url/site.ts";
import {
  type CanonicalUrl,
  hostOf,
  isRefused,
  isSpellingOf,
  pathOf,
  portOf,
  type ResolvedUrl,
  resolveUrl,
  schemeOf,
  writtenOf,
} from "../../src/url/url.ts";
import type { Target } from "./target.ts";

const RULES = [
  { dropQuery: false, stripSessionIds: false },
  { dropQuery: true, stripSessionIds: false },
  { dropQuery: false, stripSessionIds: true },
] as const;
const BASES: readonly ResolvedUrl[] = [
  { url: "http://a.example/b/c/d?e=f" as CanonicalUrl, written: undefined },
  { url: "https://xn--nxasmq6b.example:8443/" as CanonicalUrl, written: undefined },
  { url: "http://[2001:db8::1]/a~/" as CanonicalUrl, written: "http://[2001:db8::1]/%61%7e/?" },
];
const BLANK = 0x20;
const resolvers = RULES.map((rules) => new LinkResolver(rules));

function check(input: Uint8Array, random: Random): string {
  const anyBase = pick(random, BASES);
  const text = withoutBlanks(attributeText(input, 0, input.length));
  const kinds: string[] = [];
  for (const [index, rules] of RULES.entries()) {
    const base = resolveUrl(writtenOf(anyBase), undefined, rules);
    assert.ok(!isRefused(base));
    const resolved = resolveUrl(text, writtenOf(base), rules);
    const resolver = resolvers[index] as LinkResolver;
    resolver.setBase(base);
    const refusal = resolver.resolve(input, 0, input.length);
    if (isRefused(resolved)) {
      assert.equal(
        refusal,
        resolved.refused,
        "the resolver for bytes takes what the other refuses",
      );
      kinds.push(resolved.refused);
      continue;
    }
    assert.equal(refusal, undefined, "the resolver for bytes refuses what the other takes");
    assert.equal(resolver.url(), resolved.url);
    assert.equal(resolver.written, resolved.written);
    const own = fingerprintOf(resolved.url);
    assert.deepEqual([resolver.high >>> 0, resolver.low >>> 0], [own.high, own.low]);
    checkCanonical(resolved, rules);
    const { length } = resolved.url;
    kinds.push(
      `${schemeOf(resolved.url)}${Math.min(6, length >> 3)}${resolved.written ? "w" : ""}`,
    );
  }
  const isOnlyPassword =
    URL.parse(text)?.password === "canary" && text.split("canary").length === 2;
  if (isOnlyPassword)
    assert.ok(!withoutCredentials(text).includes("canary"), "a password is shown");
  return kinds.join(" ");
}

/** A search for blanks at the end would take quadratic time. */
function withoutBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && text.charCodeAt(start) <= BLANK) start += 1;
  while (end > start && text.charCodeAt(end - 1) <= BLANK) end -= 1;
  return text.slice(start, end);
}

function checkCanonical({ url, written }: ResolvedUrl, rules: (typeof RULES)[number]): void {
  assert.match(url, /^https?:\/\/[!-~]+$/);
  assert.ok(url.length <= 2_048);
  const again = resolveUrl(url, undefined, rules);
  assert.deepEqual(again, { url, written: undefined }, "it is not its own canonical form");
  const parsed = new URL(url);
  assert.equal(hostOf(url), parsed.hostname);
  assert.equal(portOf(url), Number(parsed.port || (parsed.protocol === "http:" ? 80 : 443)));
  assert.equal(pathOf(url), parsed.pathname + parsed.search);
  siteOf(url);
  if (written === undefined) return;
  assert.ok(written.length <= 2_048);
  if (!rules.stripSessionIds && !rules.dropQuery) assert.ok(isSpellingOf(written, url));
}

export const URLS: Target = {
  name: "url",
  samples: [
    "http://user:canary@Ä.Example.:80/a/../%7eb/%c3%a9?x=%41&y#z",
    "../x//y/./?q",
    "//h.example/a b",
    "https:c",
    "?a=1&amp;b=2",
    "/a;jsessionid=0123456789abcdef0123456789abcdef?PHPSESSID=1",
    "http://0x7f.1/",
    "http://[::ffff:1.2.3.4]:65535/%",
    "/%4%31%%34",
    "\thttp:\n//h\r.example",
    "#",
    "",
  ].map((text) => Buffer.from(text)),
  words: [
    "http:",
    "https:",
    "//",
    "/",
    "\\",
    "?",
    "#",
    "@",
    ":",
    "..",
    ".",
    "%2e",
    "%2E%2e",
    "%",
    "%7E",
    "%c3%a9",
    "%00",
    "é",
    "h.example",
    "H.EXAMPLE.",
    "xn--",
    "xn--a",
    "[::1]",
    "1.2.3",
    "0x7f",
    "00",
    "80",
    "443",
    "65536",
    "22",
    "user:canary@",
    " ",
    "\t",
    "\n",
    "\r",
    "\0",
    "&amp;",
    "&#x2f;",
    "&colon;",
    "&lt",
    "javascript:",
    "ß",
    "\u{1f600}",
    "。",
    "\u00ad",
    ";jsessionid=ABCDEF0123456789ABCDEF0123456789",
    "PHPSESSID=abc",
    "sid=",
    "&",
    "=",
    "a".repeat(300),
    "//a/".repeat(30),
    Buffer.from([0xff]),
    Buffer.from([0xed, 0xa0, 0x80]),
  ],
  inputBytesMax: 40 * 1024,
  inputsPerTest: 25_000,
  check,
};
