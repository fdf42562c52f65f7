import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { below, pick, randomFrom } from "../base/random.ts";
import { shapeOf } from "./traps-shape.ts";
import { TRAP_DEFAULTS, type Worth, Traps, type NewUrl, type TrapLimits } from "./traps.ts";

const GRAPHS = new URL("../../../shared/data/webgraphs/", import.meta.url);

function trapsWith(limits: Partial<TrapLimits> = {}): Traps {
  const traps = new Traps({ ...TRAP_DEFAULTS, ...limits });
  traps.trust("example.org");
  return traps;
}

function newUrl(pathAndQuery: string, rest: Partial<NewUrl> = {}): NewUrl {
  const [path = "/", query = ""] = pathAndQuery.split("?");
  const base = { siteId: 1, domain: "example.org", depth: 1, fromDomain: "example.org" };
  return { ...base, path, query, ...rest };
}

function same(a: string, b: string): boolean {
  const [one, two] = [newUrl(a), newUrl(b)];
  return shapeOf(one.path, one.query).whole === shapeOf(two.path, two.query).whole;
}

function session(visit: number): string {
  return `s=${String(visit).padStart(20, "a1b2c3d4")}`;
}

test("numbers, ids, values, case and slashes do not change the shape; words do", () => {
  assert.ok(same("/news/2019/17", "/news/2020/4"));
  assert.ok(same("/News//2019/", "/news/2019"));
  assert.ok(same("/item?b=1&a=2", "/item?a=9&b=x"));
  assert.ok(same("/f?x[0]=1", "/f?x[17]=2"));
  assert.ok(
    same("/d/550e8400-e29b-41d4-a716-446655440000", "/d/9a1f0b2c-77d3-4e5f-8abc-0123456789ab"),
  );
  assert.ok(!same("/news/a", "/news/b"));
  assert.ok(!same("/item?a=1", "/item?b=1"));
  assert.ok(!same("/item?a=1", "/item"));
  assert.ok(
    !same("/wiki/%E4%B8%AD%E6%96%87", "/wiki/%E6%97%A5%E6%9C%AC"),
    "percent escapes are words",
  );
});

test("the third repetition of segments is a trap, the second is not", () => {
  const traps = trapsWith();
  for (const path of ["/a/a/a", "/x/a/b/a/b/a/b/y", "/a/b/c/a/b/c/a/b/c", "/1/a/1/a/1/a"])
    assert.equal(traps.admit(newUrl(path)), "trap_repeat", path);
  for (const path of [
    "/a/a/b",
    "/a/b/a/b/c",
    "/1/1/1",
    "/2024/2024/2024/",
    "/v1/v2/v3",
    "/50%/50%/x",
  ])
    assert.equal(traps.admit(newUrl(path)), undefined, path);
});

test("a path grows to the limit of segments and no further", () => {
  const traps = trapsWith();
  const words = Array.from({ length: 21 }, (_, index) => `w${"abcdefghijklmnopqrstu"[index]}`);
  assert.equal(traps.admit(newUrl(`/${words.slice(0, 20).join("/")}`)), undefined);
  assert.equal(traps.admit(newUrl(`/${words.join("/")}`)), "trap_depth");
  assert.equal(traps.admit(newUrl("/".repeat(1_000))), undefined);
  assert.equal(traps.admit(newUrl(`${"/x".repeat(500)}`)), "trap_depth");
});

test("a URL too many hops from a seed is refused", () => {
  const traps = trapsWith({ hopsMax: 3 });
  assert.equal(traps.admit(newUrl("/a", { depth: 3 })), undefined);
  assert.equal(traps.admit(newUrl("/b", { depth: 4 })), "depth_limit");
});

test("a calendar ends at the budget of its shape, while the rest of its site is admitted", () => {
  const traps = trapsWith({ queryShapeUrlsMax: 100 });
  for (let month = 0; month < 100; month++)
    assert.equal(traps.admit(newUrl(`/cal?m=${month}&y=${2000 + month}`)), undefined);
  assert.equal(traps.admit(newUrl("/cal?y=9999&m=1")), "trap_pattern");
  assert.equal(traps.admit(newUrl("/about?y=1")), undefined);
  assert.equal(traps.admit(newUrl("/cal")), undefined);
});

test("combinations of parameters end at the budget of their path", () => {
  const traps = trapsWith({ queriesPerPathShapeMax: 500 });
  let admitted = 0;
  for (let chosen = 1; chosen < 4_096; chosen++) {
    const names = "abcdefghijkl".split("").filter((_, bit) => ((chosen >> bit) & 1) === 1);
    const query = names.map((name) => `${name}=x`).join("&");
    if (traps.admit(newUrl(`/shop?${query}`)) === undefined) admitted += 1;
  }
  assert.equal(admitted, 500);
});

test("sites and domains have budgets; links from other domains raise a domain's", () => {
  const site = trapsWith({ siteUrlsMax: 10 });
  const admitted = Array.from({ length: 12 }, (_, page) => site.admit(newUrl(`/p${page}`)));
  assert.deepEqual(admitted.slice(9), [undefined, "trap_budget", "trap_budget"]);

  const budgets = { domainUrlsMin: 10, domainUrlsPerLinkingDomain: 5, domainShareMax: 0 };
  const traps = trapsWith(budgets);
  const admit = (page: number, fromDomain: string): string | undefined =>
    traps.admit({ ...newUrl(`/w${page}`), siteId: page, domain: "wild.net", fromDomain });
  for (let page = 0; page < 10; page++) assert.equal(admit(page, "wild.net"), undefined);
  assert.equal(admit(10, "wild.net"), "trap_domain", "endless subdomains are one domain");
  for (let page = 10; page < 15; page++) assert.equal(admit(page, "friend.org"), undefined);
  assert.equal(admit(15, "friend.org"), "trap_domain", "the same linking domain counts once");
  assert.equal(admit(15, "another.org"), undefined);
});

test("a domain may have its maximum share of a large crawl", () => {
  const traps = trapsWith({ domainUrlsMin: 1, domainUrlsPerLinkingDomain: 0 });
  for (let page = 0; page < 1_000; page++) traps.admit(newUrl(`/seed/${page}`));
  let admitted = 0;
  const wild = { siteId: 2, domain: "wild.net", fromDomain: "wild.net" };
  for (let page = 0; page < 1_000; page++)
    if (traps.admit(newUrl(`/${page}`, wild)) === undefined) admitted += 1;
  assert.equal(admitted, 53, "5 % of all URLs, including its own");
});

test("a shape whose pages repeat each other is closed within 50 pages", () => {
  const traps = trapsWith();
  const original = { path: "/p", query: "sid=0", likeness: "exact" } as const;
  let fetched = 0;
  for (let visit = 0; visit < 1_000; visit++) {
    const page = newUrl(`/p?sid=${visit}`);
    if (traps.admit(page) !== undefined) continue;
    fetched += 1;
    traps.recordPage(page, visit === 0 ? undefined : original);
  }
  assert.ok(fetched <= 50, `${fetched} fetched`);
  assert.equal(traps.admit(newUrl("/p?sid=x")), "trap_duplicates");
  assert.equal(traps.admit(newUrl("/q?sid=1")), undefined, "another path is another shape");
});

test("session ids on every page of a site are closed after copies of known pages", () => {
  const traps = trapsWith();
  const words = ["about", "contact", "news", "jobs", "press", "team", "blog", "help"];
  for (let visit = 0; visit < 80; visit++) {
    const path = `/${pick(randomFrom(visit), words)}`;
    traps.recordPage(newUrl(`${path}?${session(visit)}`), { path, query: "", likeness: "exact" });
  }
  assert.equal(traps.admit(newUrl(`/new?${session(99)}`)), "trap_duplicates");
  assert.equal(traps.admit(newUrl("/new?s=1")), undefined);
});

test("spellings of one path are closed; a mirror of another path is not", () => {
  const traps = trapsWith();
  const exact = { query: "", likeness: "exact" } as const;
  for (let copy = 0; copy < 60; copy++) {
    traps.recordPage(newUrl("/FOO"), { path: "/foo", ...exact });
    traps.recordPage(newUrl(`/mirror/${copy}`), { path: `/main/${copy}`, ...exact });
  }
  assert.equal(traps.admit(newUrl("/fOo/")), "trap_duplicates");
  assert.equal(traps.admit(newUrl("/mirror/99")), undefined);
  assert.equal(traps.isSuspect(1), true, "nearly all its pages were copies");
});

test("a shape with originals among its copies stays open, and a closed one can open again", () => {
  const traps = trapsWith();
  const original = { path: "/a", query: "n=1", likeness: "exact" } as const;
  for (let page = 0; page < 500; page++)
    traps.recordPage(newUrl(`/a?n=${page}`), page % 2 === 0 ? original : undefined);
  assert.equal(traps.admit(newUrl("/a?n=1000")), undefined);
  for (let page = 0; page < 60; page++) traps.recordPage(newUrl(`/a?n=${page}`), original);
  assert.equal(traps.admit(newUrl("/a?n=1001")), "trap_duplicates");
  traps.recordPage(newUrl("/a?n=17"), undefined);
  assert.equal(traps.admit(newUrl("/a?n=1001")), undefined);
});

test("the saved counts of a site keep its heavy shapes closed after a restart", () => {
  const traps = trapsWith({ queryShapeUrlsMax: 500 });
  const original = { path: "/b", query: "s=1", likeness: "exact" } as const;
  for (let page = 0; page < 600; page++) traps.admit(newUrl(`/a?n=${page}`));
  for (let page = 0; page < 60; page++) traps.recordPage(newUrl(`/b?s=${page}`), original);
  for (let page = 0; page < 5_000; page++) traps.admit(newUrl(`/w${page % 300}/x?k${page}=1`));
  const saved = traps.save(1);
  assert.ok(saved.length <= 700, `${saved.length} characters`);

  const again = trapsWith({ queryShapeUrlsMax: 500 });
  again.restore(1, "example.org", saved);
  assert.equal(again.save(1), saved);
  assert.equal(again.admit(newUrl("/a?n=601")), "trap_pattern");
  assert.equal(again.admit(newUrl("/b?s=61")), "trap_duplicates");
  assert.equal(again.admit(newUrl("/c?s=61")), undefined);
});

test("a forgotten and restored site has its old counts, and its domain counts it once", () => {
  const traps = trapsWith({
    domainUrlsMin: 3_000,
    domainUrlsPerLinkingDomain: 0,
    domainShareMax: 0,
  });
  const wild = { domain: "wild.net", fromDomain: "wild.net" };
  for (let siteId = 1; siteId < 3_000; siteId++) {
    assert.equal(traps.admit(newUrl("/a", { ...wild, siteId })), undefined);
    const saved = traps.save(siteId);
    traps.forget(siteId);
    assert.equal(traps.save(siteId), "");
    if (siteId % 2 === 0) traps.restore(siteId, "wild.net", saved);
    if (siteId % 2 === 0) assert.equal(traps.save(siteId), saved);
  }
  assert.equal(traps.admit(newUrl("/a", { ...wild, siteId: 3_000 })), undefined);
  assert.equal(traps.admit(newUrl("/a", { ...wild, siteId: 3_001 })), "trap_domain");
});

test("invalid saved counts are ignored", () => {
  for (const saved of ["", "2 what", "1 x", "1 zz 0 .. a.b.c.d !", "1"]) {
    const traps = trapsWith();
    traps.restore(1, "example.org", saved);
    assert.equal(traps.admit(newUrl("/a?n=1")), undefined, saved);
  }
});

test("a site of endless shapes stays within its table, and a heavy shape is kept", () => {
  for (let seed = 1; seed <= 5; seed++) {
    const random = randomFrom(seed);
    const traps = trapsWith({ shapesPerSiteMax: 64, queryShapeUrlsMax: 400 });
    let heavy = 0;
    for (let url = 0; url < 20_000; url++) {
      const word = below(random, 2 ** 30)
        .toString(36)
        .replaceAll(/\d/g, "z");
      traps.admit(newUrl(`/${word}?q=1`));
      if (url % 8 === 0 && traps.admit(newUrl(`/heavy?n=${url}`)) === undefined) heavy += 1;
    }
    assert.equal(heavy, 400, `seed ${seed}`);
  }
});

test("no path, query or saved text throws", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed);
    const traps = trapsWith();
    const text = (): string =>
      Array.from({ length: below(random, 80) }, () =>
        pick(random, ["/", "%", "%4", "a", "Z", "7", "&", "=", ";", "é", "\ud800", ".", "?"]),
      ).join("");
    for (let url = 0; url < 50; url++) {
      const place = { siteId: below(random, 3), path: text(), query: text() };
      traps.admit({ ...newUrl("/"), ...place });
      traps.recordPage(place, random.next() < 0.5 ? undefined : { ...place, likeness: "near" });
    }
    trapsWith().restore(1, "example.org", text());
    assert.ok(traps.save(1).startsWith("1 ") || traps.save(1) === "", `seed ${seed}`);
  }
});

for (const [graph, domain] of [
  ["uic-2018", "uic.edu"],
  ["uci-ics", "uci.edu"],
] as const) {
  test(`the defaults refuse no page of the real crawl ${graph}`, (t) => {
    const file = new URL(`${graph}.urls.tsv.xz`, GRAPHS);
    if (!existsSync(file)) return t.skip("needs ../shared/data");
    const text = execFileSync("xz", ["-dc", file.pathname], { maxBuffer: 1e9 }).toString();
    const traps = new Traps(TRAP_DEFAULTS);
    traps.trust(domain);
    const sites = new Map<string, number>();
    const originals = new Map<string, URL>();
    const refused: string[] = [];
    for (const line of text.split("\n").slice(1)) {
      const [, crawled, , digest, urlText = ""] = line.split("\t");
      if (crawled !== "1" || !URL.canParse(urlText)) continue;
      const url = new URL(urlText);
      const siteId = sites.get(url.origin) ?? sites.size + 1;
      sites.set(url.origin, siteId);
      const place = { siteId, path: url.pathname, query: url.search.slice(1) };
      const known = url.hostname.endsWith(domain) ? domain : url.hostname;
      const rule = traps.admit({ ...place, domain: known, depth: 1, fromDomain: domain });
      if (rule !== undefined) refused.push(`${rule} ${urlText}`);
      const first = originals.get(`${siteId} ${digest}`);
      if (first === undefined) originals.set(`${siteId} ${digest}`, url);
      const { pathname = "", search = "" } = first ?? {};
      const original = { path: pathname, query: search.slice(1), likeness: "exact" } as const;
      traps.recordPage(place, first === undefined ? undefined : original);
    }
    assert.deepEqual(refused, []);
    return undefined;
  });
}

/** Pages of a site, recorded one after the other. */
function recorded(traps: Traps, path: string, queries: readonly string[], worth: Worth): void {
  for (const query of queries) traps.recordWorth({ siteId: 1, path, query }, worth);
}

const HOME = { siteId: 1, path: "/", query: "" };

function learning(): Traps {
  const traps = new Traps(TRAP_DEFAULTS);
  recorded(traps, "/", [""], "content");
  return traps;
}

test("a shape of six worthless pages goes last, and then the 1st, 4th and 16th URL of it is requested", () => {
  const traps = learning();
  const url = (id: number): typeof HOME => ({ siteId: 1, path: "/view", query: `variant=${id}` });
  for (let id = 0; id < 5; id++) assert.equal(traps.recordWorth(url(id), "worthless"), false);
  assert.equal(traps.whenToRequest(url(9), false), "now");
  assert.equal(traps.recordWorth(url(5), "worthless"), true, "it has just become worthless");
  assert.equal(traps.whenToRequest(url(9), false), "last");
  const sampled = Array.from({ length: 70 }, (_, at) => traps.whenToRequest(url(10 + at), true));
  const fetched = sampled.flatMap((when, at) => (when === "now" ? [at + 1] : []));
  assert.deepEqual(fetched, [1, 4, 16, 64]);
  assert.equal(traps.whenToRequest(HOME, false), "now");
});

test("two pages are enough for what known software makes, on any path", () => {
  const traps = learning();
  recorded(traps, "/a/", ["C=N;O=D"], "near copy");
  recorded(traps, "/b/", ["C=M;O=A"], "near copy");
  assert.equal(traps.whenToRequest({ siteId: 1, path: "/c/", query: "C=S;O=D" }, false), "last");
  assert.equal(traps.whenToRequest({ siteId: 1, path: "/c/", query: "" }, false), "now");
  assert.equal(traps.whenToRequest({ siteId: 2, path: "/c/", query: "C=S;O=D" }, false), "now");
});

test("24 near copies, or a mixture with one page of content in three, are needed and not enough", () => {
  const ids = (count: number): string[] => Array.from({ length: count }, (_, id) => `id=${id}`);
  const traps = learning();
  recorded(traps, "/near", ids(23), "near copy");
  assert.equal(traps.whenToRequest({ siteId: 1, path: "/near", query: "id=99" }, false), "now");
  recorded(traps, "/near", ["id=23"], "near copy");
  assert.equal(traps.whenToRequest({ siteId: 1, path: "/near", query: "id=99" }, false), "last");
  const mixed = learning();
  for (let round = 0; round < 100; round++) {
    recorded(mixed, "/mixed", ["a=1", "a=2"], "worthless");
    recorded(mixed, "/mixed", ["a=3"], "content");
    assert.equal(mixed.whenToRequest({ siteId: 1, path: "/mixed", query: "a=4" }, true), "now");
  }
});

test("content in a sample opens its shape again, and content is credited for ten pages", () => {
  const traps = learning();
  recorded(traps, "/x", ["v=1", "v=2", "v=3", "v=4", "v=5", "v=6"], "worthless");
  assert.equal(traps.whenToRequest({ siteId: 1, path: "/x", query: "v=7" }, false), "last");
  recorded(traps, "/x", ["v=8"], "content");
  assert.equal(traps.whenToRequest({ siteId: 1, path: "/x", query: "v=7" }, true), "now");
  const rich = learning();
  const many = Array.from({ length: 99 }, (_, id) => `v=${id}`);
  recorded(rich, "/x", many, "content");
  recorded(rich, "/x", many.slice(0, 25), "worthless");
  assert.equal(rich.whenToRequest({ siteId: 1, path: "/x", query: "v=7" }, false), "now");
  recorded(rich, "/x", many.slice(0, 1), "worthless");
  assert.equal(rich.whenToRequest({ siteId: 1, path: "/x", query: "v=7" }, false), "last");
});

test("a site whose pages all ask not to be indexed is not worthless", () => {
  const traps = new Traps(TRAP_DEFAULTS);
  const queries = Array.from({ length: 50 }, (_, id) => `id=${id}`);
  recorded(traps, "/page", queries, "worthless");
  assert.equal(traps.whenToRequest({ siteId: 1, path: "/page", query: "id=99" }, false), "now");
});

test("worthless shapes are saved and restored; --traps off learns nothing", () => {
  const traps = learning();
  recorded(traps, "/a/", ["C=N;O=D", "C=M;O=A"], "worthless");
  const again = new Traps(TRAP_DEFAULTS);
  again.restore(1, "a.test", traps.save(1));
  const sorted = { siteId: 1, path: "/a/", query: "C=S;O=D" };
  assert.equal(again.whenToRequest(sorted, false), "last");
  const off = new Traps({ ...TRAP_DEFAULTS, learns: false });
  recorded(off, "/a/", ["C=N;O=D", "C=M;O=A"], "worthless");
  assert.equal(off.whenToRequest(sorted, false), "now");
});
