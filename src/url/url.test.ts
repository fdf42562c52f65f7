import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import { conformanceText, hasSharedData, NEEDS_DATA } from "./shared-data.suite.ts";
import {
  canonicalUrl,
  type CanonicalUrl,
  hostOf,
  isRefused,
  isSpellingOf,
  pathOf,
  portOf,
  resolveUrl,
  schemeOf,
} from "./url.ts";

const BASE = ok("https://example.org/docs/guide/index.html?lang=en");

function ok(text: string, base?: CanonicalUrl): CanonicalUrl {
  const url = canonicalUrl(text, base);
  assert.ok(!isRefused(url), `${text} was refused: ${JSON.stringify(url)}`);
  return url;
}

function refusal(text: string, base?: CanonicalUrl): string {
  const url = canonicalUrl(text, base);
  assert.ok(isRefused(url), `${text} became ${String(url)}`);
  return url.refused;
}

test("many spellings of one URL have one canonical form", () => {
  const spellings = [
    "HTTP://EXAMPLE.org/a/~b?q=1",
    "http://example.org:80/a/~b?q=1",
    "http://example.org./a/~b?q=1#part",
    "http://user:secret@example.org/a/%7Eb?q=1",
    "http://example.org/a/%7eb?%71=1",
    "http://example.org/x/../a/./~b?q=1",
    "http://example.org/x/%2e%2E/a/%2e/~b?q=1",
    "  http:\\\\example.org\\a\\~b?q=1\n",
    "ht\ntp://exam\tple.org/a/~b?q=1",
    "http:example.org/a/~b?q=1",
    "http://ｅxample.org/a/~b?q=1",
  ];
  for (const spelling of spellings)
    assert.equal(ok(spelling), "http://example.org/a/~b?q=1", JSON.stringify(spelling));
});

test("links resolve against the URL of their page", () => {
  assert.equal(ok("next.html", BASE), "https://example.org/docs/guide/next.html");
  assert.equal(ok("../../../../etc/passwd", BASE), "https://example.org/etc/passwd");
  assert.equal(ok("//other.net", BASE), "https://other.net/");
  assert.equal(ok("#part", BASE), BASE);
  assert.equal(ok("", BASE), BASE);
  assert.equal(ok("?", BASE), "https://example.org/docs/guide/index.html");
});

test("unusual spellings of an IP address become its usual form", () => {
  for (const host of ["2130706433", "0x7f.1", "0177.0.0.1", "127.0.0.1.", "１２７.0.0.1"])
    assert.equal(ok(`http://${host}/`), "http://127.0.0.1/", host);
  assert.equal(ok("http://[0:0::1]:8080/"), "http://[::1]:8080/");
});

test("URLs that cannot be a page are refused with the reason", () => {
  for (const scheme of [
    "javascript:void(0)",
    "mailto:a@b.c",
    "tel:1",
    "data:,x",
    "ftp://a/",
    "blob:x",
  ])
    assert.equal(refusal(scheme, BASE), "scheme_refused", scheme);
  assert.equal(refusal(`data:image/png;base64,${"A".repeat(1e6)}`, BASE), "scheme_refused");
  assert.equal(refusal(`/${"a".repeat(1e6)}`, BASE), "url_too_long");
  assert.equal(refusal(`https://example.org/${"a".repeat(2029)}`), "url_too_long");
  assert.equal(ok(`https://example.org/${"a".repeat(2028)}`).length, 2048);
  for (const port of [0, 22, 25, 6667])
    assert.equal(refusal(`http://a.b:${port}/`), "port_refused");
  assert.equal(refusal("http://a.b:65536/"), "bad_url");
  assert.equal(refusal("relative"), "bad_url");
  for (const host of ["a..b", "", ".", "xn--a", `${"a".repeat(64)}.org`, `${"a.".repeat(127)}org`])
    assert.equal(refusal(`http://${host}/`), "bad_url", host);
});

test("percent signs outside escapes stay, and form no new escapes", () => {
  assert.equal(ok("http://a.b/%"), "http://a.b/%");
  assert.equal(ok("http://a.b/%4%31%zz%252e%ff"), "http://a.b/%4%31%zz%252e%FF");
  assert.equal(ok("http://a.b/%%34%31"), "http://a.b/%%341");
});

test("session ids are removed on request, and similar parameters stay", () => {
  const rules = { dropQuery: false, stripSessionIds: true };
  const cases: [string, string][] = [
    ["/a;jsessionid=1F?x=1", "/a?x=1"],
    ["/a?PHPSESSID=abc&x=1&utm_source=mail", "/a?x=1"],
    ["/a?sid=12&x=1", "/a?sid=12&x=1"],
    ["/a?sid=0123456789abcdef0", "/a"],
    ["/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "/a.aspx"],
    ["/a/..;jsessionid=1/b", "/a/..;jsessionid=1/b"],
  ];
  for (const [from, to] of cases) {
    assert.equal(canonicalUrl(from, BASE, rules), `https://example.org${to}`);
    assert.equal(canonicalUrl(to, BASE, rules), `https://example.org${to}`);
  }
});

test("a query is removed on request", () => {
  const rules = { dropQuery: true, stripSessionIds: false };
  assert.equal(canonicalUrl("/a?b#c", BASE, rules), "https://example.org/a");
});

test("the parts of a canonical URL equal those of the URL parser", () => {
  for (const text of [
    "http://a.b/",
    "https://a.b:8443/x?y:z",
    "http://[::1]:81/",
    "https://[::1]/:",
  ]) {
    const parsed = new URL(ok(text));
    assert.equal(`${schemeOf(text)}:`, parsed.protocol);
    assert.equal(hostOf(text), parsed.hostname);
    assert.equal(portOf(text), Number(parsed.port || (schemeOf(text) === "http" ? 80 : 443)));
    assert.equal(pathOf(text), parsed.pathname + parsed.search);
  }
});

test("a canonical URL is its own canonical form, for any mixture of odd pieces", () => {
  const pieces = [
    ..."abzAZ019-._~!$&'()*+,;=:@/?#[]|^`{}\\\"<> \t\n\0é💧",
    ..."%2e %2F %41 %7e %ff %C3%A9 % %% %4 ../ ./ .. // http: https:// ;jsessionid= sid=".split(
      " ",
    ),
    ..."utm_a=1 (S(abc)) 0123456789abcdef0 user@ host.net :80 :443 :8080 xn--bcher-kva.ch".split(
      " ",
    ),
  ];
  const choices = [false, true];
  for (let seed = 1; seed <= 20_000; seed++) {
    const random = randomFrom(seed);
    let text = random.next() < 0.5 ? "http://host.net/" : "";
    for (let count = below(random, 12); count >= 0; count--) text += pick(random, pieces);
    const rules = { dropQuery: pick(random, choices), stripSessionIds: pick(random, choices) };
    const once = canonicalUrl(text, BASE, rules);
    if (isRefused(once)) continue;
    const message = `seed ${seed}: ${JSON.stringify(text)} became ${once}`;
    assert.equal(canonicalUrl(once, undefined, rules), once, message);
    assert.match(once, /^https?:\/\/[^/?#@]+\/[^\u0000-\u0020#\u007f-\uffff]*$/, message);
    const parsed = new URL(once);
    assert.equal(hostOf(once), parsed.hostname, message);
    assert.equal(pathOf(once), parsed.pathname + parsed.search, message);
  }
});

interface UrlCase {
  readonly input: string;
  readonly base: string | null;
  readonly href?: string;
  readonly failure?: boolean;
}

test("the WPT URL cases resolve as in the standard, to canonical forms", (t) => {
  if (!hasSharedData()) return t.skip(NEEDS_DATA);
  const cases = JSON.parse(conformanceText("wpt-url/urltestdata.json")) as (UrlCase | string)[];
  let checked = 0;
  for (const row of cases) {
    if (typeof row === "string") continue;
    const base = row.base === null ? undefined : canonicalUrl(row.base);
    if (base !== undefined && isRefused(base)) continue;
    const url = canonicalUrl(row.input, base);
    if (row.failure === true) assert.ok(isRefused(url), JSON.stringify(row));
    else if (!isRefused(url)) {
      assert.equal(canonicalUrl(url), url, JSON.stringify(row));
      assert.equal(url, canonicalUrl(row.href ?? ""), JSON.stringify(row));
    }
    checked += 1;
  }
  assert.ok(checked > 500, `${checked} cases`);
});

test("host names that IDNA refuses are refused", (t) => {
  if (!hasSharedData()) return t.skip(NEEDS_DATA);
  const rows = [
    ...(JSON.parse(conformanceText("wpt-url/toascii.json")) as unknown[]),
    ...(JSON.parse(conformanceText("wpt-url/IdnaTestV2.json")) as unknown[]),
  ] as ({ input: string; output: string | null } | string)[];
  for (const row of rows) {
    if (typeof row === "string" || /^$|[\\/?#@:\u0000-\u0020]/.test(row.input)) continue;
    const url = canonicalUrl(`https://${row.input}/x`);
    if (row.output === null) assert.ok(isRefused(url), JSON.stringify(row));
    else if (!isRefused(url)) assert.equal(hostOf(url), row.output.replace(/\.$/, ""));
  }
});

test("a URL is known as it was written, at its canonical origin", () => {
  const spellings: readonly (readonly [text: string, written: string | undefined])[] = [
    ["http://example.org/%7Euser/", "http://example.org/%7Euser/"],
    ["http://u:p@EXAMPLE.org.:80/x/../caf%c3%a9#y", "http://example.org/caf%c3%a9"],
    ["http://example.org/a?", "http://example.org/a?"],
    ["http://example.org/a?#b?", "http://example.org/a?"],
    ["http://example.org/a#b?", undefined],
    ["http://example.org/a%2Fb?c=%C3%A9", undefined],
    [`http://example.org/${"%41".repeat(1000)}`, undefined],
  ];
  for (const [text, written] of spellings) {
    const resolved = resolveUrl(text);
    assert.ok(!isRefused(resolved), text);
    assert.equal(resolved.written, written, text);
    assert.equal(resolved.url, ok(written ?? text));
    if (written !== undefined) assert.ok(isSpellingOf(written, resolved.url));
  }
  const plain = { dropQuery: true, stripSessionIds: false };
  assert.deepEqual(resolveUrl("http://example.org/a?", undefined, plain), {
    url: "http://example.org/a",
    written: undefined,
  });
  for (const other of ["http://example.org/b", "http://evil.org/%7Ea", "http://example.org/~a"])
    assert.ok(!isSpellingOf(other, "http://example.org/~a"), other);
});
