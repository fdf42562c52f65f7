import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { below, pick, type Random, randomFrom } from "../base/random.ts";
import { parseRobots, ROBOTS_BYTES_MAX, rulesFor } from "./robots.ts";
import { ROBOTS_CASES } from "./robots.suite.ts";

const REAL_FILES = new URL("../../../shared/data/robots/robots-txt-real.tar.xz", import.meta.url);

for (const { name, source, robots, allowed = [], forbidden = [] } of ROBOTS_CASES)
  test(`${source}: ${name}`, () => {
    const rules = parseRobots(robots, "weir");
    for (const path of allowed) assert.equal(rules.allows(path).allowed, true, path);
    for (const path of forbidden) assert.equal(rules.allows(path).allowed, false, path);
  });

test("a verdict names the rule and the line that decided", () => {
  const rules = parseRobots("User-agent: *\r\n\r\nDisallow: /a\r\nAllow: /a/%7eb\n", "weir");
  assert.deepEqual(rules.allows("/a/x").rule, { allow: false, pattern: "/a", line: 3 });
  assert.deepEqual(rules.allows("/a/~b").rule, { allow: true, pattern: "/a/~b", line: 4 });
  assert.equal(rules.allows("/b").rule, undefined);
});

test("a status decides when there is no file to read", () => {
  const body = "User-agent: *\nDisallow: /a\n";
  const verdicts = (status: number | undefined): (boolean | undefined)[] => {
    const rules = rulesFor(status, body, "weir");
    return [rules.allows("/").allowed, rules.allows("/a").allowed, rules.mustAskAgain];
  };
  for (const status of [200, 204, 206]) assert.deepEqual(verdicts(status), [true, false, false]);
  for (const status of [301, 400, 401, 403, 404, 410, 451])
    assert.deepEqual(verdicts(status), [true, true, false], `${status}`);
  for (const status of [undefined, 100, 429, 500, 503, 599])
    assert.deepEqual(verdicts(status), [false, false, true], `${status}`);
});

function delayMs(text: string): number | undefined {
  return parseRobots(text, "weir").crawlDelayMs;
}

test("Crawl-delay is read from our own group, and only when it is a number", () => {
  assert.equal(delayMs("User-agent: *\nCrawl-delay: 2\nUser-agent: weir\nCrawl-delay: 0.5"), 500);
  assert.equal(delayMs("User-agent: *\nCrawl-delay: 2\nUser-agent: weir\nDisallow:"), undefined);
  assert.equal(delayMs("User-agent: x\nCrawl-delay: 2\nDisallow:\nUser-agent: *"), undefined);
  assert.equal(delayMs("Crawl-delay: 2"), undefined);
  for (const [value, expected] of [
    ["10", 10_000],
    ["0", 0],
    [".25", 250],
    ["0.001", 1],
    ["1e9", 86_400_000],
    ["99999999999999999999", 86_400_000],
    ["-1", undefined],
    ["NaN", undefined],
    ["ten", undefined],
    ["10s", undefined],
    ["Infinity", undefined],
    ["", undefined],
  ] as const)
    assert.equal(delayMs(`User-agent: *\nCrawl-delay: ${value}\n`), expected, value);
});

test("sitemaps are read anywhere: http(s) only, each once, at most a thousand", () => {
  const rules = parseRobots(
    "Sitemap: https://x.test/a.xml\nUser-agent: other\nsite-map: HTTP://y.test/é # here\n" +
      "Sitemap: /relative.xml\nSitemap: file:///etc/passwd\nSitemap: https://x.test/a.xml\n",
    "weir",
  );
  assert.deepEqual(rules.sitemaps, ["https://x.test/a.xml", "HTTP://y.test/é"]);
  const many = Array.from({ length: 100_000 }, (_, index) => `Sitemap: http://x/${index}\n`);
  assert.equal(parseRobots(many.join(""), "weir").sitemaps.length, 1000);
});

test("what is not understood is counted", () => {
  const text = "User-agent: *\n\n# fine\n<html>\nfoo: bar\nDisallow: /\n";
  assert.equal(parseRobots(text, "weir").linesUnread, 2);
});

test("only the first 512 KiB count, and not the line the limit cuts through", () => {
  const head = "User-agent: *\nDisallow: /a\n";
  const tail = "Disallow: /bcd\n";
  const padding = "#".repeat(ROBOTS_BYTES_MAX - head.length - tail.length + 2);
  const rules = parseRobots(`${head}${padding}\n${tail}`, "weir");
  assert.equal(rules.allows("/a").allowed, false);
  assert.equal(rules.allows("/b").allowed, true);
});

test("a longer plain rule is found among a thousand nested ones", () => {
  const nested = Array.from({ length: 500 }, (_, depth) => {
    return `${depth % 2 === 0 ? "Disallow" : "Allow"}: /${"x".repeat(depth)}`;
  });
  const rules = parseRobots(`User-agent: *\n${nested.join("\n")}`, "weir");
  for (let depth = 0; depth < 500; depth++)
    assert.equal(rules.allows(`/${"x".repeat(depth)}y`).allowed, depth % 2 === 1, `${depth}`);
});

test("huge files and hostile patterns are answered, and rightly", () => {
  const many = Array.from({ length: 36_000 }, (_, index) => `Disallow: /${index}/`);
  const plain = parseRobots(`User-agent: *\n${many.join("\n")}`, "weir");
  assert.equal(plain.allows("/17777/x").allowed, false);
  assert.equal(plain.allows("/x").allowed, true);
  const globs = many.map((_, index) => `Disallow: /*${index}*b`);
  const starred = parseRobots(`User-agent: *\n${globs.join("\n")}`, "weir");
  assert.equal(starred.allows(`/${"a".repeat(1_990)}`).allowed, true);
  assert.equal(starred.allows(`/${"a".repeat(1_900)}177xxb`).allowed, false);
  const stars = parseRobots(`User-agent: *\nDisallow: /${"*a".repeat(8_000)}\n`, "weir");
  assert.equal(stars.allows(`/${"a".repeat(2_000)}`).allowed, true);
  assert.equal(stars.allows(`/${"a".repeat(8_000)}`).allowed, false);
});

test("a file that asks for endless searching closes what it may have meant to close", () => {
  const random = randomFrom(7);
  const noise = (length: number): string =>
    Array.from({ length }, () => pick(random, ["a", "b"])).join("");
  const rules = Array.from({ length: 20_000 }, () => `Disallow: /x/*${noise(14)}`);
  const robots = parseRobots(`User-agent: *\n${rules.join("\n")}\nAllow: /*y`, "weir");
  assert.equal(robots.allows(`/x/${noise(2_000)}`).allowed, false);
  assert.equal(robots.allows(`/z/${noise(2_000)}`).allowed, true);
});

/** The definition, tried every way: slow, and plainly right. */
function matchesByDefinition(pattern: string, path: string): boolean {
  if (pattern === "$") return path === "";
  if (pattern === "") return true;
  if (pattern.startsWith("*")) {
    const rest = pattern.slice(1);
    return Array.from({ length: path.length + 1 }, (_, at) => path.slice(at)).some((left) =>
      matchesByDefinition(rest, left),
    );
  }
  return path[0] === pattern[0] && matchesByDefinition(pattern.slice(1), path.slice(1));
}

function word(random: Random, letters: readonly string[], lengthMax: number): string {
  return Array.from({ length: below(random, lengthMax + 1) }, () => pick(random, letters)).join("");
}

test("verdicts over random rules are those of the definition", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed);
    const rules = Array.from({ length: 1 + below(random, 40) }, () => ({
      allow: random.next() < 0.5,
      pattern: `/${word(random, ["a", "b", "/", "*", "*"], 6)}${random.next() < 0.2 ? "$" : ""}`,
    }));
    const lines = rules.map(({ allow, pattern }) => `${allow ? "Allow" : "Disallow"}: ${pattern}`);
    const robots = parseRobots(`User-agent: *\n${lines.join("\n")}`, "weir");
    for (let url = 0; url < 30; url++) {
      const path = `/${word(random, ["a", "b", "/"], 8)}`;
      const matching = rules.filter(({ pattern }) => matchesByDefinition(pattern, path));
      const lengthMax = Math.max(0, ...matching.map(({ pattern }) => pattern.length));
      const deciding = matching.filter(({ pattern }) => pattern.length === lengthMax);
      const expected = deciding.length === 0 || deciding.some(({ allow }) => allow);
      assert.equal(
        robots.allows(path).allowed,
        expected,
        `seed ${seed}: ${path}\n${lines.join("\n")}`,
      );
    }
  }
});

test("no bytes make it throw", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomFrom(seed);
    const parts = [
      "User-agent:",
      "*",
      "Disallow:",
      "Allow:",
      "/",
      "$",
      "%",
      "%e3",
      "\r",
      "\n",
      "\0",
    ];
    const noise = Array.from({ length: below(random, 200) }, () =>
      random.next() < 0.5 ? pick(random, parts) : String.fromCharCode(below(random, 256)),
    ).join("");
    const rules = parseRobots(Buffer.from(`User-agent: *\n${noise}`, "latin1"), "weir");
    const path = `/${word(random, ["%", "%e3", "é", "\ud800", "*", "$", "?", "a"], 20)}`;
    assert.equal(typeof rules.allows(path).allowed, "boolean", `seed ${seed}`);
  }
});

test("five thousand real files are read", (t) => {
  if (!existsSync(REAL_FILES)) return t.skip("needs ../shared/data");
  const folder = mkdtempSync(join(tmpdir(), "weir-robots-"));
  t.after(() => rmSync(folder, { recursive: true }));
  execFileSync("tar", ["-xJf", REAL_FILES.pathname, "-C", folder]);
  let files = 0;
  let open = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, name);
    if (!statSync(path).isFile()) continue;
    const rules = parseRobots(readFileSync(path), "weir");
    files += 1;
    if (rules.allows("/").allowed) open += 1;
    assert.ok(rules.sitemaps.length <= 1000 && (rules.crawlDelayMs ?? 0) <= 86_400_000, name);
  }
  assert.equal(files, 5_196);
  assert.ok(open > 0.9 * files, `${open} of ${files} let us in`);
  return undefined;
});
