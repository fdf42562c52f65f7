import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import { type CanonicalUrl, canonicalUrl, isRefused, PLAIN_RULES } from "../url/url.ts";
import { contentTypeOf, interpret, isWanted, readRetryAfter, validatorOf } from "./interpret.ts";

const URL_ASKED = canonical("https://example.org/a/page");
const ASKED = { url: URL_ASKED, conditional: true, urlRules: PLAIN_RULES, acceptTypes: [] };
const NOW_MS = Date.parse("2026-06-01T00:00:00Z");

test("each status has its verdict", () => {
  assert.equal(kindOf(200), "page");
  assert.equal(kindOf(204), "page");
  assert.equal(kindOf(206), "bad_partial");
  assert.equal(kindOf(304), "not_modified");
  assert.equal(kindOf(401), "auth_required");
  assert.equal(kindOf(407), "auth_required");
  assert.equal(kindOf(404), "http_404");
  assert.equal(kindOf(300), "http_300");
  assert.equal(kindOf(429), "busy");
  assert.equal(kindOf(503), "busy");
  assert.equal(kindOf(500), "http_500");
  assert.equal(kindOf(999), "bad_status");
});

test("not modified is no answer to a request that named no version", () => {
  const verdict = interpret({ status: 304, headers: [] }, { ...ASKED, conditional: false }, NOW_MS);
  assert.equal(verdict.kind === "failed" && verdict.reason, "http_304");
});

test("a redirect is resolved against the page, and told from what leads nowhere", () => {
  assert.equal(redirect("../b?c#d"), "https://example.org/b?c");
  assert.equal(redirect("//other.org"), "https://other.org/");
  assert.equal(redirect("/a/page#there"), "redirect_loop");
  assert.equal(redirect(""), "bad_redirect");
  assert.equal(redirect("http://"), "bad_redirect");
  assert.equal(redirect(`/${"x".repeat(1_000_000)}`), "bad_redirect");
  for (const scheme of ["file:///etc/passwd", "data:,x", "javascript:1", "ftp://h/", "gopher://h/"])
    assert.equal(redirect(scheme), "scheme_refused", scheme);
  assert.equal(redirect("http://example.org:25/"), "port_refused");
  const missing = interpret({ status: 302, headers: [] }, ASKED, NOW_MS);
  assert.equal(missing.kind === "failed" && missing.reason, "bad_redirect");
});

test("letters, blanks, backslashes and line ends in a Location cannot reach the wire", () => {
  const utf8 = Buffer.from("/straße").toString("latin1");
  assert.equal(redirect(utf8), "https://example.org/stra%C3%9Fe");
  assert.equal(redirect("/a b"), "https://example.org/a%20b");
  assert.equal(redirect("\\\\other.org\\x"), "https://other.org/x");
  assert.equal(redirect("/a\r\nX: y"), "https://example.org/aX:%20y");
});

test("Retry-After is seconds or a date ahead, at most an hour", () => {
  assert.equal(readRetryAfter("10", NOW_MS), 10_000);
  assert.equal(readRetryAfter("0", NOW_MS), 0);
  assert.equal(readRetryAfter("315360000", NOW_MS), 3_600_000);
  assert.equal(readRetryAfter("Mon, 01 Jun 2026 00:02:00 GMT", NOW_MS), 120_000);
  assert.equal(readRetryAfter("Mon, 01 Jun 2036 00:02:00 GMT", NOW_MS), 3_600_000);
  assert.equal(readRetryAfter("Fri, 01 Jun 2001 00:02:00 GMT", NOW_MS), undefined);
  for (const rubbish of ["soon", "-5", "1.5", "1e9", "", "10 years", "NaN"])
    assert.equal(readRetryAfter(rubbish, NOW_MS), undefined, rubbish);
});

test("only wanted types are wanted, and what has no type is", () => {
  const html = ["text/html", "application/*"];
  assert.equal(wants("text/html; charset=utf-8", html), true);
  assert.equal(wants("TEXT/HTML", html), true);
  assert.equal(wants("application/pdf", html), true);
  assert.equal(wants("image/png", html), false);
  assert.equal(wants("rubbish", html), true);
  assert.equal(wants("image/png", []), true);
  assert.equal(isWanted({ status: 404, headers: [["content-type", "image/png"]] }, html), true);
});

test("the first Content-Type that is one is used", () => {
  const headers = [
    ["content-type", "\u00ff;;"],
    ["content-type", "text/html; charset=x"],
    ["content-type", "text/plain"],
  ] as const;
  assert.equal(contentTypeOf({ headers }), "text/html; charset=x");
});

test("a validator is cut to a kilobyte", () => {
  const headers = [["etag", "e".repeat(1_000_000)]] as const;
  assert.equal(validatorOf({ headers }, "etag").length, 1024);
  assert.equal(validatorOf({ headers }, "last-modified"), "");
});

test("any status and any Location end as one verdict, and what is followed is canonical", () => {
  const pieces = [
    "http",
    ":",
    "/",
    "//",
    "..",
    "?",
    "#",
    "%",
    "\\",
    "@",
    "ü",
    "\u0000",
    " ",
    "a",
    "[",
  ];
  for (let seed = 1; seed <= 2_000; seed++) {
    const random = randomFrom(seed);
    const location = Array.from({ length: below(random, 12) }, () => pick(random, pieces)).join("");
    const status = random.next() < 0.7 ? 301 : below(random, 1000);
    const verdict = interpret({ status, headers: [["location", location]] }, ASKED, NOW_MS);
    if (verdict.kind === "redirect")
      assert.equal(canonicalUrl(verdict.to.url), verdict.to.url, `seed ${seed}: ${location}`);
  }
});

function kindOf(status: number): string {
  const verdict = interpret({ status, headers: [] }, ASKED, NOW_MS);
  return verdict.kind === "failed" ? verdict.reason : verdict.kind;
}

function redirect(location: string): string {
  const verdict = interpret({ status: 301, headers: [["location", location]] }, ASKED, NOW_MS);
  if (verdict.kind === "redirect") return verdict.to.url;
  return verdict.kind === "failed" ? verdict.reason : verdict.kind;
}

function wants(type: string, accepted: readonly string[]): boolean {
  return isWanted({ status: 200, headers: [["content-type", type]] }, accepted);
}

function canonical(text: string): CanonicalUrl {
  const url = canonicalUrl(text);
  assert.ok(!isRefused(url));
  return url;
}
