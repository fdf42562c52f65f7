import assert from "node:assert/strict";
import { test } from "node:test";
import { domainToUnicode } from "node:url";
import type { CanonicalUrl } from "../url/url.ts";
import { countryOf, readPartitionRule, ruleMatches, showPartitionRule } from "./rules.ts";

test("a rule is read in canonical form", () => {
  assert.deepEqual(readPartitionRule("uk=.uk"), {
    match: { kind: "suffix", suffix: "uk" },
    group: "uk",
  });
  assert.deepEqual(readPartitionRule(" ru = .РФ "), {
    match: { kind: "suffix", suffix: "xn--p1ai" },
    group: "ru",
  });
  assert.deepEqual(readPartitionRule("gb=country:GB")?.match, { kind: "country", code: "uk" });
  assert.deepEqual(readPartitionRule("d=path:Docs.Example.org:80/a b")?.match, {
    kind: "path",
    prefix: "docs.example.org/a%20b",
  });
  assert.deepEqual(readPartitionRule("d=path:https://docs.example.org")?.match, {
    kind: "path",
    prefix: "docs.example.org/",
  });
});

test("invalid rules are refused", () => {
  const wrong = [
    "",
    "uk",
    "=.uk",
    "uk=",
    "u k=.uk",
    "uk=.",
    "uk=..uk",
    "uk=.uk/path",
    "uk=10.0.0.1",
    "uk=country:",
    "uk=country:gbr",
    "uk=path:",
    "uk=path:/guide",
    "uk=path:a.org/x?y",
    "uk=path:user@a.org/",
    "uk=a b",
  ];
  for (const text of wrong) assert.equal(readPartitionRule(text), undefined, JSON.stringify(text));
});

test("a rule reads back as it was shown", () => {
  for (const text of ["uk=.uk", "a=.example.org", "de=country:de", "d=path:docs.example.org/a/"]) {
    const rule = readPartitionRule(text) ?? assert.fail(text);
    assert.equal(showPartitionRule(rule), text);
  }
});

test("a suffix matches whole labels", () => {
  const match = { kind: "suffix", suffix: "example.org" } as const;
  const matches = (url: string): boolean => ruleMatches(match, url as CanonicalUrl);
  assert.ok(matches("http://example.org/"));
  assert.ok(matches("https://a.b.example.org:8080/"));
  assert.ok(!matches("http://myexample.org/"));
  assert.ok(!matches("http://example.org.evil.net/"));
});

test("a path matches URLs of its host that begin with it", () => {
  const match = { kind: "path", prefix: "docs.example.org/guide/" } as const;
  const matches = (url: string): boolean => ruleMatches(match, url as CanonicalUrl);
  assert.ok(matches("http://docs.example.org/guide/"));
  assert.ok(matches("https://docs.example.org/guide/1?2"));
  assert.ok(!matches("https://docs.example.org/guide"));
  assert.ok(!matches("https://docs.example.org:8080/guide/"));
  assert.ok(!matches("https://a.org/docs.example.org/guide/"));
});

test("a country is read from the last label, in any script", () => {
  assert.equal(countryOf("www.example.co.uk"), "uk");
  assert.equal(countryOf("example.com"), undefined);
  assert.equal(countryOf("de"), undefined);
  assert.equal(countryOf("10.0.0.12"), undefined);
  assert.equal(countryOf("[2001:db8::de]"), undefined);
  // The country codes of the names, as published by their registries.
  const scripts: Readonly<Record<string, string>> = {
    рф: "ru",
    中国: "cn",
    中國: "cn",
    한국: "kr",
    台湾: "tw",
    台灣: "tw",
    香港: "hk",
    澳門: "mo",
    新加坡: "sg",
    ไทย: "th",
    ລາວ: "la",
    भारत: "in",
    ελ: "gr",
    ευ: "eu",
    ею: "eu",
    бг: "bg",
    бел: "by",
    срб: "rs",
    мкд: "mk",
    укр: "ua",
    қаз: "kz",
    мон: "mn",
    გე: "ge",
    հայ: "am",
    ישראל: "il",
    امارات: "ae",
    السعودية: "sa",
    ایران: "ir",
    مصر: "eg",
    قطر: "qa",
    عمان: "om",
    الاردن: "jo",
    المغرب: "ma",
    تونس: "tn",
    سورية: "sy",
    فلسطين: "ps",
    عراق: "iq",
    پاکستان: "pk",
  };
  for (const [name, code] of Object.entries(scripts)) {
    const host = new URL(`http://example.${name}/`).hostname;
    assert.equal(countryOf(host), code, `${name}: ${host}, ${domainToUnicode(host)}`);
  }
});
