import assert from "node:assert/strict";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import { globMatches, Scope, type ScopeKind } from "./scope.ts";
import { canonicalUrl, type CanonicalUrl } from "./url.ts";

const SEED = url("http://www.example.org/docs/");

function url(text: string): CanonicalUrl {
  const result = canonicalUrl(text);
  assert.ok(typeof result === "string");
  return result;
}

function ruleFor(kind: ScopeKind, text: string): string {
  return new Scope({ kind, seeds: [SEED], include: [], exclude: [] }).decide(url(text)).rule;
}

test("each kind of scope accepts the URLs it covers", () => {
  assert.equal(ruleFor("site", "http://www.example.org/x"), "site");
  assert.equal(ruleFor("site", "https://www.example.org/x"), "site");
  assert.equal(ruleFor("site", "http://www.example.org:8080/x"), "outside site");
  assert.equal(ruleFor("site", "http://example.org/x"), "outside site");
  assert.equal(ruleFor("host-list", "https://www.example.org:8080/x"), "host-list");
  assert.equal(ruleFor("host-list", "http://example.org/"), "outside host-list");
  assert.equal(ruleFor("domain", "https://deep.down.example.org/"), "domain");
  assert.equal(ruleFor("domain", "https://example.com/"), "outside domain");
  assert.equal(ruleFor("any", "https://example.com/"), "any");
});

test("excludes win over includes, and if there are includes one must match inside the scope", () => {
  const scope = new Scope({
    kind: "site",
    seeds: [SEED],
    include: ["*/docs/*", "*.html"],
    exclude: ["*/docs/old/*"],
  });
  const decided = (text: string) => scope.decide(url(text));
  assert.deepEqual(decided("http://www.example.org/docs/a"), {
    accepted: true,
    rule: "include */docs/*",
  });
  assert.deepEqual(decided("http://www.example.org/docs/old/a.html"), {
    accepted: false,
    rule: "exclude */docs/old/*",
  });
  assert.deepEqual(decided("http://www.example.org/a"), {
    accepted: false,
    rule: "no include matches",
  });
  assert.deepEqual(decided("http://other.org/docs/"), { accepted: false, rule: "outside site" });
});

test("glob matching agrees with the plain recursive definition", () => {
  for (let seed = 1; seed <= 5_000; seed++) {
    const random = randomFrom(seed);
    const draw = (letters: string, lengthMax: number) =>
      Array.from({ length: below(random, lengthMax + 1) }, () => pick(random, [...letters])).join(
        "",
      );
    const glob = draw("ab**", 7);
    const text = draw("ab", 10);
    assert.equal(
      globMatches(glob, text),
      matchesByDefinition(glob, text),
      `seed ${seed}: ${glob} on ${text}`,
    );
  }
});

function matchesByDefinition(glob: string, text: string): boolean {
  if (glob === "") return text === "";
  if (glob.startsWith("*"))
    return (
      matchesByDefinition(glob.slice(1), text) ||
      (text !== "" && matchesByDefinition(glob, text.slice(1)))
    );
  return text !== "" && text[0] === glob[0] && matchesByDefinition(glob.slice(1), text.slice(1));
}
