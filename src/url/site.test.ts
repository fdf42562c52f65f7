import assert from "node:assert/strict";
import { test } from "node:test";
import { conformanceText, hasSharedData, NEEDS_DATA } from "./shared-data.suite.ts";
import { domainOf, domainOfSite, hostOfSite, registrableDomain, siteOf } from "./site.ts";

test("a site is scheme, host and a port of its own", () => {
  assert.equal(siteOf("https://example.org/a/b?c"), "https://example.org");
  assert.equal(siteOf("http://[::1]:8080/"), "http://[::1]:8080");
  assert.equal(hostOfSite("http://[::1]:8080"), "[::1]");
  assert.equal(hostOfSite("https://example.org:444"), "example.org");
});

test("a domain is registrable; IP addresses and names without dots are their own domain", () => {
  assert.equal(domainOf("https://a.b.example.co.uk/"), "example.co.uk");
  assert.equal(domainOf("https://me.github.io/x"), "me.github.io");
  assert.equal(domainOfSite("http://127.0.0.1:8080"), "127.0.0.1");
  assert.equal(domainOf("http://[2001:db8::1]/"), "[2001:db8::1]");
  assert.equal(domainOf("http://localhost/"), "localhost");
  assert.equal(domainOf("http://__proto__/"), "__proto__");
});

test("the public suffix project's own cases hold", (t) => {
  if (!hasSharedData()) return t.skip(NEEDS_DATA);
  const lines = conformanceText("psl/tests.txt").split("\n");
  let checked = 0;
  for (const line of lines) {
    const [host = "", domain = ""] = line.split(/\s+/);
    if (line.startsWith("//") || host === "null" || host.startsWith(".") || domain === "") continue;
    const ascii = URL.parse(`http://${host}/`)?.hostname;
    if (ascii === undefined) continue;
    const expected = domain === "null" ? ascii : new URL(`http://${domain}/`).hostname;
    assert.equal(registrableDomain(ascii), expected, line);
    checked += 1;
  }
  assert.ok(checked > 50, `${checked} cases`);
});
